/* error.h: what becomes of what a handler returned, and the responses that are errors. */
#ifndef EDDYI_ERROR_H
#define EDDYI_ERROR_H

#include "exchange_state.h"

/* Make a response of what a handler or a filter returned.
 * Return: 0, -errno when it is too late for that: a part has been sent. */
int eddyi_finish(struct eddy_req *req, int r);

/* Answer with an error as the app wants it rendered; `detail` may be NULL. May suspend.
 * Return: 0, -errno. */
int eddyi_render_error(struct eddy_req *req, int status, const char *detail);

#endif
