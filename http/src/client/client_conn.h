/* client_conn.h: the connections of a client: made, kept and taken again. */
#ifndef EDDYI_CLIENT_CONN_H
#define EDDYI_CLIENT_CONN_H

#include "client_state.h"

/* Take a connection to the origin of the response's URL that was kept. Never suspends.
 * Return: NULL when there is none. */
struct eddyi_client_conn *eddyi_client_conn_take(struct eddy_response *response,
						 struct eddy_str origin);

/* Make a connection. Suspends. Return: 0, -errno as eddy_client_send(). */
int eddyi_client_conn_open(struct eddy_response *response, struct eddy_str origin,
			   struct eddyi_client_conn **ret_conn);

/* Wrap a socket that is connected, to be used or kept; takes over `fd`, unless it fails.
 * Return: NULL when memory is out. */
struct eddyi_client_conn *eddyi_client_conn_new(struct eddy_client *client, int fd,
						struct eddy_str origin);

/* Keep a connection for later, or close it. Never suspend. */
void eddyi_client_conn_keep(struct eddyi_client_conn *conn);
void eddyi_client_conn_close(struct eddyi_client_conn *conn);

#endif
