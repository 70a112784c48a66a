/* client_exchange.h: one request, with the observers' fields, and the head of its response. */
#ifndef EDDYI_CLIENT_EXCHANGE_H
#define EDDYI_CLIENT_EXCHANGE_H

#include "client_state.h"

/* Call the observers before a hop to the response's URL, and with its status or -errno. */
void eddyi_client_observe_begin(struct eddyi_call *call);
void eddyi_client_observe_end(struct eddyi_call *call, int result);

/* Write the head of the current hop to the response's arena.
 * Return: .ptr NULL on allocation failure. */
struct eddy_str eddyi_client_make_head(const struct eddyi_call *call);

/* Send the request, and read the head of the response. Suspends.
 * Return: 0; -errno, and the connection is unusable. */
int eddyi_client_exchange(struct eddyi_call *call, struct eddyi_client_conn *conn);

#endif
