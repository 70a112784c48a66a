/* client_tls.h: the client's connections over TLS; only there where eddy is built with it. */
#ifndef EDDYI_CLIENT_TLS_H
#define EDDYI_CLIENT_TLS_H

#include "client_state.h"

/* Shake hands, and see that it is the host of the response's URL who answers. Suspends.
 * Return: 0, -errno as eddy_client_send(). */
int eddyi_client_conn_secure(struct eddyi_client_conn *conn);

/* Keep what the next connection to the origin can resume; this one is about to be closed. Never suspends. */
void eddyi_client_conn_remember(struct eddyi_client_conn *conn);

/* NULL is fine. */
void eddyi_client_trust_free(struct eddyi_client_trust *trust);

#endif
