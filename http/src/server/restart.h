/* restart.h: starts this program again, with the listening sockets of this process. */
#ifndef EDDYI_RESTART_H
#define EDDYI_RESTART_H

#include "run_state.h"

/* As eddy_app_restart(), with `eddyi_run_lock` held. */
void eddyi_app_restart(struct eddy_app *app);

/* Handle the message that eddy_app_restart() posts. */
void eddyi_run_deliver_restart(struct eddy_message *message);

#endif
