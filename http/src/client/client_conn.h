/* client_conn.h: a client's connections and their pool. */
#ifndef EDDYI_CLIENT_CONN_H
#define EDDYI_CLIENT_CONN_H

#include "client_state.h"

/* Take a kept connection to the origin of the response's URL. Never suspends.
 * Return: NULL if there is none. */
struct eddyi_client_conn *eddyi_client_conn_take(struct eddy_response *response,
						 struct eddy_str origin);

/* Open a connection. Suspends. Return: 0, -errno as eddy_client_send(). */
int eddyi_client_conn_open(struct eddy_response *response, struct eddy_str origin,
			   struct eddyi_client_conn **ret_conn);

/* Make a connection from a connected socket. Takes ownership of `fd`, but not on failure.
 * Return: NULL on allocation failure. */
struct eddyi_client_conn *eddyi_client_conn_new(struct eddy_client *client, int fd,
						struct eddy_str origin);

/* Keep a connection for later requests, or close it. Never suspend. */
void eddyi_client_conn_keep(struct eddyi_client_conn *conn);
void eddyi_client_conn_close(struct eddyi_client_conn *conn);

#endif
