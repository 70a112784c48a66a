/* Connections with TLS: their handshake, and what they take in. */
#include "conn.h"

#include "tls_wire.h"

#include <errno.h>

int eddyi_conn_take_in_decrypted(struct eddyi_conn *conn)
{
	char bytes[EDDYI_INBOX_SIZE];
	int status = 0;

	while (status == 0) {
		ssize_t r = eddyi_tls_read(conn->wire.tls, bytes, sizeof(bytes));

		/* What the protocol had to answer. */
		if (r <= 0)
			eddyi_tls_wire_push(&conn->wire, NULL, 0);
		if (r <= 0)
			return r == -EAGAIN ? 0 : r < 0 ? (int)r : -ECONNRESET;
		status = eddyi_conn_take_in(conn, bytes, (size_t)r);
	}
	return status;
}

int eddyi_conn_take_in_sealed(struct eddyi_conn *conn, const char *bytes, size_t len)
{
	struct eddyi_tls *tls = conn->wire.tls;
	int r = eddyi_tls_feed(tls, bytes, len);

	if (r < 0)
		return r;
	return tls->state < EDDYI_TLS_OPEN ? eddyi_tls_is_due(tls) :
					     eddyi_conn_take_in_decrypted(conn);
}

int eddyi_conn_shake(void *arg)
{
	struct eddyi_conn *conn = arg;
	struct eddyi_wire *wire = &conn->wire;
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, NULL);
	conn->beside = &scope;
	r = eddyi_tls_wire_shake(wire);
	conn->beside = NULL;
	eddy_scope_end(&scope);
	if (r != -EAGAIN)
		eddyi_wire_unguard(wire);
	if (r == 0) {
		r = eddyi_conn_take_in_decrypted(conn);
		if (r > 0)
			return eddyi_conn_serve(conn);
		if (r == 0)
			r = -EAGAIN;
	} else if (r == -EPROTO || r == -EBADMSG) {
		/* It is to get the alert that says why. */
		eddyi_wire_linger(wire);
	}
	/* A step that was done in spite of it: who evicts has passed by already. */
	if (r == -EAGAIN && !eddy_is_cancelled())
		eddyi_conn_park(conn);
	else
		eddyi_conn_close(conn);
	return 0;
}
