/* restart.h: start this program again, with the listening sockets of this process. */
#ifndef EDDYI_RESTART_H
#define EDDYI_RESTART_H

#include "run_state.h"

/* Start the program again; what eddy_app_restart() posts. */
void eddyi_run_deliver_restart(struct eddy_message *message);

#endif
