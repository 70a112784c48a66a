/* client_run.h: a part of a call, within its time, and what it fails with. */
#ifndef EDDYI_CLIENT_RUN_H
#define EDDYI_CLIENT_RUN_H

#include "client_state.h"

/* Note what a call fails with. Return: `error`. */
EDDY_PRINTF(3, 4)
int eddyi_client_fail(struct eddy_client *client, int error, const char *format, ...);

/* Run a part of a call, within its time and so that a stall can end it. Suspends.
 * Return: what it returned; -ETIMEDOUT, -ECANCELED. */
ssize_t eddyi_client_run(struct eddy_response *response, ssize_t (*part)(void *arg), void *arg);

#endif
