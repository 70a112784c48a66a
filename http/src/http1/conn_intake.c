#include "conn_intake.h"

#include "conn_proxy.h"

#include <errno.h>

/* Begin the next request. Return: false on allocation failure. */
static bool begin(struct eddyi_conn *conn)
{
	const struct eddy_app *app = conn->conns->app;
	struct eddy_req *req = eddyi_req_new(app, &conn->stream, sizeof(struct eddyi_http1));

	if (!req)
		return false;
	conn->req = eddyi_http1_of(req);
	eddyi_request_head_init(&conn->req->head, &req->head, &app->head_limits);
	conn->req->head.is_first = conn->fresh;
	return true;
}

/* Feed the next head, and count the bytes it used. Return: as eddyi_conn_take_in(). */
static int feed(struct eddyi_conn *conn, struct eddy_str bytes, size_t *ret_used)
{
	int status;

	if (!conn->req && !begin(conn))
		return -ENOMEM;
	status = eddyi_request_head_feed(&conn->req->head, bytes.ptr, bytes.len, ret_used);
	conn->req->req.refused = status >= 400 ? status : 0;
	/* Blank lines before a head don't begin a request. */
	if (!status && !conn->req->head.len) {
		eddyi_req_free(&conn->req->req);
		conn->req = NULL;
	}
	return status;
}

/* Take in plain bytes; those after the head are kept. Return: as eddyi_conn_take_in(). */
static int take_in_plain(void *arg, const char *bytes, size_t len)
{
	struct eddyi_conn *conn = arg;
	size_t used = 0;
	int status = feed(conn, eddy_str(bytes, len), &used);

	if (status >= 0 && !eddyi_wire_keep(&conn->wire, eddy_str(bytes + used, len - used)))
		return -ENOMEM;
	return status;
}

int eddyi_conn_take_in_pending(struct eddyi_conn *conn)
{
	struct eddy_str pending = eddyi_wire_pending(&conn->wire);
	size_t used = 0;
	int status;

	if (!pending.len)
		return 0;
	status = feed(conn, pending, &used);
	eddyi_wire_consume(&conn->wire, used);
	return status;
}

int eddyi_conn_take_in_decrypted(struct eddyi_conn *conn)
{
	return EDDYI_TLS ? eddyi_tls_wire_drain(&conn->wire, take_in_plain, conn) : 0;
}

static int take_in_sealed(struct eddyi_conn *conn, const char *bytes, size_t len)
{
	int r = EDDYI_TLS ? eddyi_tls_feed(conn->wire.tls, bytes, len) : 0;

	if (r < 0)
		return r;
	return EDDYI_TLS && eddyi_conn_is_shaking(conn) ? eddyi_tls_is_due(conn->wire.tls) :
							  eddyi_conn_take_in_decrypted(conn);
}

int eddyi_conn_take_in(struct eddyi_conn *conn, const char *bytes, size_t len)
{
	if (EDDYI_TLS && conn->wire.tls)
		return take_in_sealed(conn, bytes, len);
	return take_in_plain(conn, bytes, len);
}

int eddyi_conn_take_in_first(struct eddyi_conn *conn, const char *bytes, size_t len)
{
	ssize_t used;

	if (!conn->proxy_due)
		return eddyi_conn_take_in(conn, bytes, len);
	used = eddyi_conn_take_in_proxy_header(conn, bytes, len);
	if (used <= 0 || (size_t)used == len)
		return used < 0 ? (int)used : 0;
	return eddyi_conn_take_in(conn, bytes + used, len - (size_t)used);
}
