/* reply.h: a response goes out. */
#ifndef EDDYI_REPLY_H
#define EDDYI_REPLY_H

#include "exchange_state.h"

/* Send the response, all that a handler has not sent itself. Suspends.
 * Return: 0, -errno: the connection must be cut. */
int eddyi_reply(struct eddy_req *req);

#endif
