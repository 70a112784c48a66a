/* conn_intake.h: what a connection has received becomes the head of a request. Never suspends. */
#ifndef EDDYI_CONN_INTAKE_H
#define EDDYI_CONN_INTAKE_H

#include "conns.h"
#include "wire/tls_wire.h"

/* Take in what the socket received: a head, or a part of one; what is behind it is kept.
 * Return: 0 when more is needed; else the head's status, or 1 when a step of the handshake is due; -errno. */
int eddyi_conn_take_in(struct eddyi_conn *conn, const char *bytes, size_t len);

/* The same from a connection that may have to begin with a PROXY header. */
int eddyi_conn_take_in_first(struct eddyi_conn *conn, const char *bytes, size_t len);

/* The same from what is pending. */
int eddyi_conn_take_in_pending(struct eddyi_conn *conn);

/* The same from what is encrypted, and here already. */
int eddyi_conn_take_in_decrypted(struct eddyi_conn *conn);

/* Whether its TLS handshake is not over. */
static inline bool eddyi_conn_is_shaking(const struct eddyi_conn *conn)
{
	return EDDYI_TLS && conn->wire.tls && conn->wire.tls->state < EDDYI_TLS_OPEN;
}

#endif
