/* log_stand_in.h: log records of a program without a subscriber. */
#ifndef EDDYI_LOG_STAND_IN_H
#define EDDYI_LOG_STAND_IN_H

#include <eddy/log.h>

/* From now on, whenever there is no subscriber, write WARN and ERROR records to stderr, or those that
 * EDDY_LOG selects. */
void eddyi_log_stand_in(void);

/* Get the subscriber of eddy_log_text_subscribe(). */
eddy_log_fn *eddyi_log_text(void **ret_arg);

#endif
