/* client_run.h: runs a part of a call with its timeouts, and records its error. */
#ifndef EDDYI_CLIENT_RUN_H
#define EDDYI_CLIENT_RUN_H

#include "client_state.h"

/* Record a call's error and its description. Return: `error`. */
EDDY_PRINTF(3, 4)
int eddyi_client_fail(struct eddy_client *client, int error, const char *format, ...);

/* Run a part of a call until its deadline, or until a stall. Suspends.
 * Return: its result; -ETIMEDOUT, -ECANCELED. */
ssize_t eddyi_client_run(struct eddy_response *response, ssize_t (*part)(void *arg), void *arg);

#endif
