#include "client.h"
#include "wire/tls_wire.h"

#include <eddy/internal/debug.h>
#include <eddy/internal/outside.h>
#include <eddy/net.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_kept(const struct eddyi_client_conn *conn)
{
	return conn->node.next != NULL;
}

static void leave_kept(struct eddyi_client_conn *conn)
{
	eddy_list_remove(&conn->node);
	conn->client->kept_count--;
	eddyi_wire_unguard(&conn->wire);
}

void eddyi_client_conn_close(struct eddyi_client_conn *conn)
{
	if (is_kept(conn))
		leave_kept(conn);
	eddyi_wire_unguard(&conn->wire);
	if (EDDYI_TLS && conn->wire.tls)
		eddyi_client_conn_remember(conn);
	eddyi_wire_give_up(&conn->wire);
	eddyi_close_now(conn->wire.fd);
	if (EDDYI_TLS)
		eddyi_tls_free(conn->wire.tls);
	free(conn->wire.inbox);
	free(conn);
}

static void time_is_up(struct eddy_timeout *timeout)
{
	struct eddyi_client_conn *conn = eddy_of(timeout, struct eddyi_client_conn, wire.timeout);

	if (is_kept(conn)) {
		eddyi_client_conn_close(conn);
		return;
	}
	if (timeout->queue == &conn->wire.clocks->write && !eddyi_wire_has_stalled(&conn->wire))
		return;
	conn->response->stalled = true;
	if (conn->response->scope)
		eddy_scope_cancel(conn->response->scope);
}

struct eddyi_client_conn *eddyi_client_conn_new(struct eddy_client *client, int fd,
						struct eddy_str origin)
{
	struct eddyi_client_conn *conn = calloc(1, sizeof(*conn) + origin.len);

	if (!conn)
		return NULL;
	conn->client = client;
	conn->origin = eddy_str((char *)(conn + 1), origin.len);
	memcpy(conn + 1, origin.ptr, origin.len);
	conn->wire.fd = fd;
	conn->wire.clocks = &client->clocks;
	conn->wire.timeout.expire = time_is_up;
	return conn;
}

/* Whether a kept connection can be used for a request. Nothing may have arrived: neither an end,
 * nor a reset, nor bytes after the last response. */
static bool is_alive(struct eddyi_client_conn *conn)
{
	char byte;

	if (EDDYI_TLS && conn->wire.tls)
		return eddyi_tls_wire_is_quiet(&conn->wire);
	return eddyi_recv_now(conn->wire.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
	       (errno == EAGAIN || errno == EINTR);
}

struct eddyi_client_conn *eddyi_client_conn_take(struct eddy_response *response,
						 struct eddy_str origin)
{
	struct eddy_client *client = response->client;
	struct eddy_node *node, *before;

	/* The newest first, which is the most likely to be open. */
	for (node = client->kept.prev; node != &client->kept; node = before) {
		struct eddyi_client_conn *conn = eddy_of(node, struct eddyi_client_conn, node);

		before = node->prev;
		if (!eddy_str_eq(conn->origin, origin))
			continue;
		if (is_alive(conn)) {
			leave_kept(conn);
			conn->response = response;
			conn->answered = false;
			return conn;
		}
		eddyi_client_conn_close(conn);
	}
	return NULL;
}

void eddyi_client_conn_keep(struct eddyi_client_conn *conn)
{
	struct eddy_client *client = conn->client;
	struct eddyi_client_conn *oldest = NULL;
	unsigned of_origin = 0;
	struct eddy_node *node;

	if (conn->spoiled || eddyi_wire_pending(&conn->wire).len) {
		eddyi_client_conn_close(conn);
		return;
	}
	for (node = client->kept.prev; node != &client->kept; node = node->prev) {
		struct eddyi_client_conn *other = eddy_of(node, struct eddyi_client_conn, node);

		if (!eddy_str_eq(other->origin, conn->origin))
			continue;
		of_origin++;
		oldest = other;
	}
	if (of_origin >= client->options.idle_per_origin_max)
		eddyi_client_conn_close(oldest);
	else if (client->kept_count >= client->options.idle_max)
		eddyi_client_conn_close(eddy_of(client->kept.next, struct eddyi_client_conn, node));
	conn->response = NULL;
	eddy_list_append(&client->kept, &conn->node);
	client->kept_count++;
	eddyi_wire_guard(&conn->wire, &client->clocks.idle);
}

int eddyi_client_conn_open(struct eddy_response *response, struct eddy_str origin,
			   struct eddyi_client_conn **ret_conn)
{
	struct eddy_client *client = response->client;
	const char *address = client->options.connect;
	struct eddyi_client_conn *conn;
	int fd, r;

	if (!EDDYI_TLS && response->url.https)
		return eddyi_client_fail(client, -EPROTONOSUPPORT, "eddy was built without TLS");
	/* After the scheme an origin has the form that eddy_dial() expects. */
	if (!address)
		address = strstr(origin.ptr, "://") + 3;
	fd = eddy_dial(address, &(struct eddy_dial_options){
					.timeout_ns = client->options.connect_timeout_ns,
				});
	if (fd == -ECANCELED)
		return fd;
	/* Kept for later requests. */
	eddyi_opened_forget(fd);
	if (fd < 0)
		return eddyi_client_fail(client, fd, "can't connect to %s: %s", address,
					 eddy_net_strerror(fd));
	conn = eddyi_client_conn_new(client, fd, origin);
	if (!conn) {
		eddyi_close_now(fd);
		return -ENOMEM;
	}
	conn->response = response;
	r = EDDYI_TLS && response->url.https ? eddyi_client_conn_secure(conn) : 0;
	if (r < 0) {
		eddyi_client_conn_close(conn);
		return r;
	}
	*ret_conn = conn;
	return 0;
}
