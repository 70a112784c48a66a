#include "conn.h"

#include "exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* A close while the client still sends would reset the connection and take the answer with it: we
 * stop sending, and read on for a while (RFC 9112 section 9.6). */
#define LINGER_NS (5 * EDDY_SECOND)
#define LINGER_MAX (16 * EDDY_MIB)

/* ---- bytes ---- */

struct eddy_str eddyi_conn_pending(const struct eddyi_conn *conn)
{
	if (!conn->inbox)
		return eddy_str("", 0);
	return eddy_str(conn->inbox + conn->inbox_at, conn->inbox_len - conn->inbox_at);
}

void eddyi_conn_consume(struct eddyi_conn *conn, size_t len)
{
	conn->inbox_at += (uint32_t)len;
	if (conn->inbox_at == conn->inbox_len) {
		free(conn->inbox);
		conn->inbox = NULL;
	}
}

/* Keep bytes that nobody wants yet. One receive buffer never overflows an empty inbox, and nothing is
 * received while it is not empty. */
static bool keep_pending(struct eddyi_conn *conn, const char *bytes, size_t len)
{
	if (!len)
		return true;
	conn->inbox = malloc(EDDYI_INBOX_SIZE);
	if (!conn->inbox)
		return false;
	memcpy(conn->inbox, bytes, len);
	conn->inbox_at = 0;
	conn->inbox_len = (uint32_t)len;
	return true;
}

void eddyi_conn_guard(struct eddyi_conn *conn, struct eddy_timeout_queue *queue)
{
	eddy_timeout_arm(&conn->timeout, queue);
}

void eddyi_conn_unguard(struct eddyi_conn *conn)
{
	eddy_timeout_disarm(&conn->timeout);
}

ssize_t eddyi_conn_recv(struct eddyi_conn *conn, void *buf, size_t len)
{
	ssize_t r;

	eddyi_conn_guard(conn, &conn->server->body_timeouts);
	r = eddy_recv(conn->fd, buf, len, 0);
	eddyi_conn_unguard(conn);
	return r == 0 ? -ECONNRESET : r;
}

ssize_t eddyi_conn_fill(struct eddyi_conn *conn)
{
	char *inbox = malloc(EDDYI_INBOX_SIZE);
	ssize_t r;

	if (!inbox)
		return -ENOMEM;
	r = eddyi_conn_recv(conn, inbox, EDDYI_INBOX_SIZE);
	if (r < 0) {
		free(inbox);
		return r;
	}
	conn->inbox = inbox;
	conn->inbox_at = 0;
	conn->inbox_len = (uint32_t)r;
	return r;
}

int eddyi_conn_send(struct eddyi_conn *conn, const void *buf, size_t len, int flags)
{
	const char *at = buf;
	int r = 0;

	eddyi_conn_guard(conn, &conn->server->write_timeouts);
	while (len) {
		ssize_t sent = eddy_send(conn->fd, at, len, flags);

		if (sent < 0) {
			r = (int)sent;
			break;
		}
		at += sent;
		len -= (size_t)sent;
		eddy_timeout_touch(&conn->timeout);
	}
	eddyi_conn_unguard(conn);
	return r;
}

int eddyi_conn_sendv(struct eddyi_conn *conn, struct iovec *pieces, size_t count)
{
	int r = 0;

	eddyi_conn_guard(conn, &conn->server->write_timeouts);
	while (count) {
		struct msghdr msg = { .msg_iov = pieces, .msg_iovlen = count };
		ssize_t sent = eddy_sendmsg(conn->fd, &msg, 0);

		if (sent < 0) {
			r = (int)sent;
			break;
		}
		eddy_timeout_touch(&conn->timeout);
		while (count && (size_t)sent >= pieces->iov_len) {
			sent -= (ssize_t)pieces->iov_len;
			pieces++;
			count--;
		}
		if (count) {
			pieces->iov_base = (char *)pieces->iov_base + sent;
			pieces->iov_len -= (size_t)sent;
		}
	}
	eddyi_conn_unguard(conn);
	return r;
}

/* ---- the end ---- */

static void closed(struct eddy_op *op, int result, unsigned flags)
{
	struct eddyi_conn *conn = eddy_of(op, struct eddyi_conn, op);
	struct eddyi_server *server = conn->server;

	(void)result;
	(void)flags;
	eddy_list_remove(&conn->node);
	free(conn->inbox);
	free(conn);
	eddyi_server_conn_gone(server);
}

/* Nothing of the connection is in use any more. */
static void close_now(struct eddyi_conn *conn)
{
	struct io_uring_sqe *sqe;

	conn->state = EDDYI_CONN_CLOSING;
	eddy_timeout_disarm(&conn->timeout);
	if (conn->req) {
		eddyi_req_free(conn->req);
		conn->req = NULL;
	}
	sqe = eddy_op_begin(&conn->op, closed);
	io_uring_prep_close(sqe, conn->fd);
	eddy_op_start(&conn->op, sqe);
}

static void linger(struct eddyi_conn *conn)
{
	struct eddy_scope scope;
	uint64_t thrown_away = 0;
	ssize_t r;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = LINGER_NS });
	if (eddy_shutdown(conn->fd, SHUT_WR) == 0) {
		do {
			/* TCP takes MSG_TRUNC for "count, don't copy". */
			r = eddy_recv(conn->fd, NULL, EDDY_MIB, MSG_TRUNC);
			if (r > 0)
				thrown_away += (uint64_t)r;
		} while (r > 0 && thrown_away < LINGER_MAX);
	}
	eddy_scope_end(&scope);
}

/* ---- requests ---- */

/* Take in bytes of the head; what is behind it is kept.
 * Return: 0 when more are needed, else the head's status; -ENOMEM. */
static int take_in(struct eddyi_conn *conn, const char *bytes, size_t len)
{
	size_t used;
	int status;

	if (!conn->req)
		conn->req = eddyi_req_new(conn);
	if (!conn->req)
		return -ENOMEM;
	status = eddyi_head_feed(&conn->req->head, bytes, len, &used);
	conn->req->refused = status >= 400 ? status : 0;
	if (!keep_pending(conn, bytes + used, len - used))
		return -ENOMEM;
	return status;
}

/* Read the next head from what is pending. Return: as take_in(). */
static int take_in_pending(struct eddyi_conn *conn)
{
	char *inbox = conn->inbox;
	uint32_t at = conn->inbox_at, len = conn->inbox_len;
	int status;

	if (!inbox)
		return 0;
	conn->inbox = NULL;
	status = take_in(conn, inbox + at, len - at);
	free(inbox);
	return status;
}

static void park(struct eddyi_conn *conn);

static int serve(void *arg)
{
	struct eddyi_conn *conn = arg;
	int status;

	do {
		eddyi_exchange(conn);
		eddyi_req_free(conn->req);
		conn->req = NULL;
		conn->fresh = false;
		status = conn->keep ? take_in_pending(conn) : -ECONNABORTED;
	} while (status > 0);
	if (status == 0) {
		park(conn);
		return 0;
	}
	if (conn->linger)
		linger(conn);
	close_now(conn);
	return 0;
}

static void move_to(struct eddyi_conn *conn, struct eddy_node *list)
{
	if (conn->node.next)
		eddy_list_remove(&conn->node);
	eddy_list_append(list, &conn->node);
}

/* The head is complete, or refused: a task answers it. */
static void start_task(struct eddyi_conn *conn)
{
	eddy_timeout_disarm(&conn->timeout);
	conn->state = EDDYI_CONN_BUSY;
	move_to(conn, &conn->server->active);
	if (eddy_scope_spawn(&conn->server->tasks, "request", serve, conn) < 0)
		close_now(conn);
}

/* The time for a head is over: 408 when a part of it had come. */
static void give_up_head(struct eddyi_conn *conn)
{
	if (!conn->req || conn->evicted) {
		close_now(conn);
		return;
	}
	conn->req->refused =
		eddyi_head_refuse(&conn->req->head, 408, "the request head did not arrive in time");
	start_task(conn);
}

static void received(struct eddy_op *op, int result, unsigned flags)
{
	struct eddyi_conn *conn = eddy_of(op, struct eddyi_conn, op);
	int status = 0;

	if (result > 0)
		status = take_in(conn, eddy_buffers_of(flags), (size_t)result);
	eddy_buffers_give_back(flags);
	if (status > 0)
		start_task(conn);
	else if (conn->expired || conn->evicted)
		give_up_head(conn);
	else if (status < 0 || (result <= 0 && result != -ENOBUFS && result != -EINTR))
		close_now(conn);
	else
		park(conn);
}

/* Wait for bytes: of a new request, or of one whose head has begun to arrive. */
static void park(struct eddyi_conn *conn)
{
	struct eddyi_server *server = conn->server;
	bool idle = !conn->req;
	struct io_uring_sqe *sqe;

	move_to(conn, !idle ? &server->active : conn->fresh ? &server->fresh : &server->idle);
	/* One that was accepted at the very end may have asked already. */
	if (idle && server->stopping && !conn->fresh) {
		close_now(conn);
		return;
	}
	if (idle && !conn->fresh)
		eddy_timeout_arm(&conn->timeout, &server->idle_timeouts);
	else if (conn->timeout.queue != &server->head_timeouts || !conn->timeout.node.next)
		eddy_timeout_arm(&conn->timeout, &server->head_timeouts);
	conn->state = EDDYI_CONN_PARKED;
	sqe = eddy_op_begin(&conn->op, received);
	eddy_buffers_prep_recv(sqe, conn->fd);
	eddy_op_start(&conn->op, sqe);
	if (idle && !conn->fresh)
		eddyi_server_conn_idle(server);
}

static void time_is_up(struct eddy_timeout *timeout)
{
	struct eddyi_conn *conn = eddy_of(timeout, struct eddyi_conn, timeout);

	conn->expired = true;
	if (conn->state == EDDYI_CONN_PARKED)
		eddy_op_cancel(&conn->op);
	else if (conn->scope)
		eddy_scope_cancel(conn->scope);
}

void eddyi_conn_evict(struct eddyi_conn *conn)
{
	conn->evicted = true;
	eddy_op_cancel(&conn->op);
}

void eddyi_conn_new(struct eddyi_server *server, int fd)
{
	struct eddyi_conn *conn = calloc(1, sizeof(*conn));

	if (!conn) {
		close(fd);
		return;
	}
	conn->server = server;
	conn->fd = fd;
	conn->fresh = true;
	conn->timeout.expire = time_is_up;
	server->connections++;
	park(conn);
}
