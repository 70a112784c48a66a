/* client_exchange.h: one request and the head of its response on a connection. */
#ifndef EDDYI_CLIENT_EXCHANGE_H
#define EDDYI_CLIENT_EXCHANGE_H

#include "client_state.h"

/* Send the request, and read the head of the response. Suspends.
 * Return: 0; -errno, and the connection is unusable. */
int eddyi_client_exchange(struct eddyi_call *call, struct eddyi_client_conn *conn);

#endif
