/* reply.h: sends responses. */
#ifndef EDDYI_REPLY_H
#define EDDYI_REPLY_H

#include "exchange_state.h"

/* Send what the handler has not sent itself. Suspends.
 * Return: 0; -errno if the connection must be cut. */
int eddyi_reply(struct eddy_req *req);

#endif
