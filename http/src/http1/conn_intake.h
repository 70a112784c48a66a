/* conn_intake.h: turns received bytes into the head of a request. Never suspends. */
#ifndef EDDYI_CONN_INTAKE_H
#define EDDYI_CONN_INTAKE_H

#include "conns.h"
#include "wire/tls_wire.h"

/* Take in bytes from the socket. Bytes after the head are kept.
 * Return: 0 if more are needed; the head's status; 1 if a step of the handshake is due; -errno. */
int eddyi_conn_take_in(struct eddyi_conn *conn, const char *bytes, size_t len);

/* Like eddyi_conn_take_in(), for a connection that may have to begin with a PROXY header. */
int eddyi_conn_take_in_first(struct eddyi_conn *conn, const char *bytes, size_t len);

/* Like eddyi_conn_take_in(), with the pending bytes. */
int eddyi_conn_take_in_pending(struct eddyi_conn *conn);

/* Like eddyi_conn_take_in(), with encrypted bytes that have already arrived. */
int eddyi_conn_take_in_decrypted(struct eddyi_conn *conn);

/* Whether the TLS handshake is in progress. */
static inline bool eddyi_conn_is_shaking(const struct eddyi_conn *conn)
{
	return EDDYI_TLS && conn->wire.tls && conn->wire.tls->state < EDDYI_TLS_OPEN;
}

#endif
