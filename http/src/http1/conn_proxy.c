#include "conn_proxy.h"

#include "app/app.h"
#include "exchange/peer.h"
#include "stream.h"

#include <eddy/log.h>
#include <errno.h>

static void refuse(struct eddyi_conn *conn, const char *why)
{
	eddyi_conn_count(conn->conns, proxy_failures);
	eddy_debug("eddy::http", "a connection to %s from %.*s is closed: %s", conn->stream.bound,
		   EDDY_FMT(conn->end->peer.text), why);
}

bool eddyi_conn_await_proxy_header(struct eddyi_conn *conn)
{
	const struct eddyi_end *end = eddyi_conn_end(conn);

	conn->proxy_due = true;
	if (end && !end->is_trusted)
		refuse(conn, "the peer is not a trusted proxy");
	return end && end->is_trusted;
}

static const char *reason_of(ssize_t error)
{
	return error == -EMSGSIZE ? "its PROXY header is too long" :
				    "it does not begin with a valid PROXY header";
}

ssize_t eddyi_conn_take_in_proxy_header(struct eddyi_conn *conn, const char *bytes, size_t len)
{
	const struct eddy_app *app = conn->conns->app;
	struct eddy_str pending = eddyi_wire_pending(&conn->wire), text = eddy_str(bytes, len);
	struct eddyi_proxied proxied;
	char joined[EDDYI_INBOX_SIZE];
	struct eddyi_ip ip;
	uint16_t port;
	ssize_t r;

	if (pending.len) {
		memcpy(joined, pending.ptr, pending.len);
		memcpy(joined + pending.len, bytes, len);
		text = eddy_str(joined, pending.len + len);
	}
	r = eddyi_proxy_header_parse(text, app->options.proxy_header_max, &proxied);
	if (r == 0)
		return eddyi_wire_keep(&conn->wire, eddy_str(bytes, len)) ? 0 : -ENOMEM;
	if (r < 0) {
		refuse(conn, reason_of(r));
		return r;
	}
	if (pending.len)
		eddyi_wire_consume(&conn->wire, pending.len);
	eddyi_end_introduce(conn->end, &app->trust, &proxied);
	conn->proxy_due = false;
	if (!conn->end->is_trusted && eddyi_ip_from_sockaddr(&conn->end->peer.addr, &ip, &port) &&
	    eddyi_conn_reseat(conn, &ip) < 0)
		return -EDQUOT;
	/* The header ends within these bytes, or it would have been complete before. */
	return r - (ssize_t)pending.len;
}
