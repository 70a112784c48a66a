#include "server.h"

#include "conn.h"

#include <eddy/log.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Accepting again at once after EMFILE failed two hundred thousand times in 100 ms. */
#define ACCEPT_RETRY_NS (100 * EDDY_MS)
/* A multishot accept takes all that waits at once; near the limit one is taken at a time. */
#define ONE_BY_ONE_FROM 256

static void arm_accept(struct eddyi_listener *listener);
static void arm_knock(struct eddyi_listener *listener);

const char *eddyi_server_date(struct eddyi_server *server)
{
	time_t now = time(NULL);

	if (now != server->date_at) {
		server->date_at = now;
		eddyi_date_format(now, server->date);
	}
	return server->date;
}

/* ---- accepting ---- */

static bool evict_first(struct eddyi_server *server, struct eddy_node *list)
{
	struct eddy_node *node = eddy_list_shift(list);

	if (!node)
		return false;
	eddy_list_append(&server->active, node);
	eddyi_conn_evict(eddy_of(node, struct eddyi_conn, node));
	return true;
}

/* Make room by closing who has been idle for longest. Who has just come and not asked yet is not idle.
 * Return: false when nobody is. */
static bool evict_idle(struct eddyi_server *server)
{
	return evict_first(server, &server->idle);
}

static bool is_full(const struct eddyi_server *server)
{
	return server->connections >= server->connections_max;
}

static void retry_accept(struct eddy_timer *timer)
{
	arm_accept(eddy_of(timer, struct eddyi_listener, retry));
}

/* Accept again: now, when there is room, or a little later. */
static void go_on_accepting(struct eddyi_listener *listener, int error)
{
	struct eddyi_server *server = listener->server;

	if (eddy_op_is_started(&listener->op) || eddy_timer_is_armed(&listener->retry))
		return;
	if (error == -EMFILE || error == -ENFILE || error == -ENOBUFS || error == -ENOMEM) {
		eddy_warn("eddy::http", "accepting pauses: %s", strerror(-error));
		evict_idle(server);
		eddy_timer_arm(&listener->retry, eddy_loop_now() + ACCEPT_RETRY_NS);
	} else if (is_full(server)) {
		arm_knock(listener);
	} else {
		arm_accept(listener);
	}
}

/* A socket that is closed with connections in its queue resets them: serve them first. */
static void close_listener(struct eddyi_listener *listener)
{
	int fd;

	while ((fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		eddyi_conn_new(listener->server, fd);
	close(listener->fd);
	listener->fd = -1;
	eddy_event_set(&listener->server->deaf);
}

static void accepted(struct eddy_op *op, int result, unsigned flags)
{
	struct eddyi_listener *listener = eddy_of(op, struct eddyi_listener, op);
	struct eddyi_server *server = listener->server;

	if (result >= 0)
		eddyi_conn_new(server, result);
	if (flags & IORING_CQE_F_MORE) {
		if (server->connections + ONE_BY_ONE_FROM > server->connections_max)
			eddy_op_cancel(op);
		return;
	}
	if (listener->stopping)
		close_listener(listener);
	else
		go_on_accepting(listener, result);
}

static void arm_accept(struct eddyi_listener *listener)
{
	const struct eddyi_server *server = listener->server;
	struct io_uring_sqe *sqe = eddy_op_begin(&listener->op, accepted);
	int flags = SOCK_NONBLOCK | SOCK_CLOEXEC;

	if (server->connections + ONE_BY_ONE_FROM > server->connections_max)
		io_uring_prep_accept(sqe, listener->fd, NULL, NULL, flags);
	else
		io_uring_prep_multishot_accept(sqe, listener->fd, NULL, NULL, flags);
	eddy_op_start(&listener->op, sqe);
}

/* Somebody waits to be accepted by a server that was full. */
static void knocked(struct eddy_op *op, int result, unsigned flags)
{
	struct eddyi_listener *listener = eddy_of(op, struct eddyi_listener, op);
	struct eddyi_server *server = listener->server;

	(void)flags;
	if (listener->stopping)
		close_listener(listener);
	else if (result < 0)
		eddy_timer_arm(&listener->retry, eddy_loop_now() + ACCEPT_RETRY_NS);
	else if (!is_full(server))
		arm_accept(listener);
	else if (!evict_idle(server))
		server->crowded = true;
	/* When one has made room eddyi_server_conn_gone() goes on. */
}

static void arm_knock(struct eddyi_listener *listener)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&listener->op, knocked);

	io_uring_prep_poll_add(sqe, listener->fd, POLLIN);
	eddy_op_start(&listener->op, sqe);
}

void eddyi_server_conn_idle(struct eddyi_server *server)
{
	if (server->crowded && evict_idle(server))
		server->crowded = false;
}

static void stop_accepting(struct eddyi_server *server)
{
	for (size_t i = 0; i < server->listener_count; i++) {
		struct eddyi_listener *listener = &server->listeners[i];

		listener->stopping = true;
		eddy_timer_disarm(&listener->retry);
		if (eddy_op_is_started(&listener->op))
			eddy_op_cancel(&listener->op);
		else
			close_listener(listener);
	}
}

static bool is_deaf(const struct eddyi_server *server)
{
	for (size_t i = 0; i < server->listener_count; i++)
		if (server->listeners[i].fd >= 0)
			return false;
	return true;
}

void eddyi_server_conn_gone(struct eddyi_server *server)
{
	server->connections--;
	if (server->stopping) {
		if (!server->connections)
			eddy_event_set(&server->empty);
		return;
	}
	server->crowded = false;
	for (size_t i = 0; i < server->listener_count; i++)
		go_on_accepting(&server->listeners[i], 0);
}

/* ---- running ---- */

static int open_server(struct eddyi_server *server, struct eddy_app *app, const int *fds,
		       size_t count)
{
	const struct eddy_server_options *options = &app->options;
	int r = eddy_buffers_prepare();

	if (r < 0)
		return r;
	server->app = app;
	server->listeners = calloc(count, sizeof(*server->listeners));
	if (!server->listeners)
		return -ENOMEM;
	server->listener_count = count;
	eddy_list_init(&server->fresh);
	eddy_list_init(&server->idle);
	eddy_list_init(&server->active);
	eddy_event_init(&server->deaf);
	eddy_event_init(&server->empty);
	eddy_timeout_queue_init(&server->idle_timeouts, options->idle_timeout_ns);
	eddy_timeout_queue_init(&server->head_timeouts, options->head_timeout_ns);
	eddy_timeout_queue_init(&server->body_timeouts, options->body_timeout_ns);
	eddy_timeout_queue_init(&server->write_timeouts, options->write_timeout_ns);
	for (size_t i = 0; i < count; i++) {
		struct eddyi_listener *listener = &server->listeners[i];

		listener->server = server;
		listener->fd = fds[i];
		listener->retry.fire = retry_accept;
	}
	return 0;
}

static void close_server(struct eddyi_server *server)
{
	eddy_timeout_queue_deinit(&server->idle_timeouts);
	eddy_timeout_queue_deinit(&server->head_timeouts);
	eddy_timeout_queue_deinit(&server->body_timeouts);
	eddy_timeout_queue_deinit(&server->write_timeouts);
	free(server->listeners);
	eddyi_arena_trim();
}

static void evict_all(struct eddyi_server *server)
{
	while (evict_first(server, &server->idle) || evict_first(server, &server->fresh))
		;
}

/* Wait for the last connection, `timeout_ns` at most; 0 is forever. */
static void wait_until_empty(struct eddyi_server *server, uint64_t timeout_ns)
{
	struct eddy_scope scope;

	if (!server->connections)
		return;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){
					 .timeout_ns = timeout_ns,
					 .shielded = timeout_ns == 0,
				 });
	server->draining = &scope;
	eddy_event_wait(&server->empty);
	server->draining = NULL;
	eddy_scope_end(&scope);
}

static void evict_active(struct eddyi_server *server)
{
	struct eddy_node *node;

	for (node = server->active.next; node != &server->active; node = node->next) {
		struct eddyi_conn *conn = eddy_of(node, struct eddyi_conn, node);

		if (conn->state == EDDYI_CONN_PARKED)
			eddyi_conn_evict(conn);
	}
}

static void stop(struct eddyi_server *server)
{
	struct eddy_scope shield;

	server->stopping = true;
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	stop_accepting(server);
	while (!is_deaf(server)) {
		eddy_event_clear(&server->deaf);
		eddy_event_wait(&server->deaf);
	}
	evict_all(server);
	if (!server->hurry)
		wait_until_empty(server, server->app->options.drain_timeout_ns);
	/* What is left has had its time: every call in it fails now. */
	eddy_scope_cancel(&server->tasks);
	evict_active(server);
	wait_until_empty(server, 0);
	eddy_scope_end(&shield);
}

void eddyi_server_stop(struct eddyi_server *server, bool hurry)
{
	server->hurry |= hurry;
	eddy_event_set(&server->stop);
	if (server->hurry && server->draining)
		eddy_scope_cancel(server->draining);
}

void eddyi_server_init(struct eddyi_server *server)
{
	*server = (struct eddyi_server){ 0 };
	eddy_event_init(&server->stop);
}

int eddyi_server_run(struct eddyi_server *server, struct eddy_app *app, const int *fds,
		     size_t count)
{
	int r = open_server(server, app, fds, count);

	if (r < 0) {
		for (size_t i = 0; i < count; i++)
			close(fds[i]);
		return r;
	}
	server->connections_max = app->options.connections_max / app->options.workers;
	if (!server->connections_max)
		server->connections_max = 1;
	eddy_scope_begin(&server->tasks, NULL);
	for (size_t i = 0; i < count; i++)
		arm_accept(&server->listeners[i]);
	r = eddy_event_wait(&server->stop);
	stop(server);
	eddy_scope_end(&server->tasks);
	close_server(server);
	return r;
}
