/* client_tls.h: the client's TLS connections; only in builds with TLS. */
#ifndef EDDYI_CLIENT_TLS_H
#define EDDYI_CLIENT_TLS_H

#include "client_state.h"

/* Do the handshake, and verify that the server is the host of the response's URL. Suspends.
 * Return: 0, -errno as eddy_client_send(). */
int eddyi_client_conn_secure(struct eddyi_client_conn *conn);

/* Keep the session of a connection to be closed for the next one to its origin. Never suspends. */
void eddyi_client_conn_remember(struct eddyi_client_conn *conn);

void eddyi_client_trust_free(struct eddyi_client_trust *trust);

#endif
