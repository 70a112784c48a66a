#include "server.h"

#include "exchange/exchange.h"
#include "files/descriptors.h"
#include "files/open_files.h"
#include "tls/tls_setup.h"

#include <eddy/internal/loop.h>
#include <eddy/internal/outside.h>
#include <eddy/dump.h>
#include <eddy/log.h>
#include <eddy/tls.h>
#include <errno.h>
#include <limits.h>
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Accepting again at once after EMFILE failed 200 000 times in 100 ms. */
#define ACCEPT_RETRY_NS (100 * EDDY_MS)
/* Interval between searches for an evictable connection. */
#define LOOK_NS (100 * EDDY_MS)
/* Pauses of accepting closer together than this are reported once. */
#define ACCEPT_FAILING_NS (10 * EDDY_SECOND)
/* A multishot accept takes the whole backlog at once. Closer to the limit, accept one at a time. */
#define ONE_BY_ONE_FROM 4096
/* Time for cancelled tasks to unwind, after which the process exits without them. */
#define UNWIND_NS (5 * EDDY_SECOND)

static void arm_accept(struct eddyi_listener *listener);
static void arm_knock(struct eddyi_listener *listener);
static void go_on(struct eddyi_server *server);

/* ---- accepting ---- */

static bool lacks_descriptors(const struct eddyi_server *server)
{
	return server->conns.count + eddyi_descriptors_taken() >= server->descriptors_max;
}

static unsigned needed_descriptors(const struct eddyi_server *server)
{
	unsigned taken = server->conns.count + eddyi_descriptors_taken();

	return taken > server->descriptors_max ? taken - server->descriptors_max : 0;
}

static bool is_full(const struct eddyi_server *server)
{
	return server->conns.count >= server->conns_max || lacks_descriptors(server);
}

static bool is_nearly_full(const struct eddyi_server *server)
{
	unsigned max = server->conns_max < server->descriptors_max ? server->conns_max :
								     server->descriptors_max;

	return server->conns.count + eddyi_descriptors_taken() + ONE_BY_ONE_FROM > max;
}

static void retry_accept(struct eddy_timer *timer)
{
	arm_accept(eddy_of(timer, struct eddyi_listener, retry));
}

/* Whether a failed accept concerns only the lost connection, or was interrupted or cancelled. */
static bool is_of_one_connection(int error)
{
	return error == -ECONNABORTED || error == -EPROTO || error == -EINTR || error == -ECANCELED;
}

static const char *remedy_of(int error)
{
	return error == -EMFILE ?
		       "; raise the limit of open files (ulimit -n, or LimitNOFILE= in a unit)" :
		       "";
}

/* Evict a connection, or else a slow one in a crowd. Return: as eddyi_conns_evict(). */
static int evict(struct eddyi_server *server, uint64_t *ret_until_ns)
{
	int r = eddyi_conns_evict(&server->conns, ret_until_ns);

	if (r < 0 && eddyi_conns_find_slow(&server->conns))
		r = eddyi_conns_evict(&server->conns, ret_until_ns);
	return r;
}

/* Evict a connection for one that waits to be accepted, now or when one becomes evictable. */
static void make_room(struct eddyi_server *server)
{
	uint64_t until;
	int r = evict(server, &until);

	server->conns.crowded = r < 0;
	eddy_timer_disarm(&server->look);
	/* Search again soon in any case: an evicted connection may take long to unwind. */
	if (r != -EAGAIN || until > eddy_loop_now() + LOOK_NS)
		until = eddy_loop_now() + LOOK_NS;
	eddy_timer_arm(&server->look, until);
}

static void look_for_room(struct eddy_timer *timer)
{
	struct eddyi_server *server = eddy_of(timer, struct eddyi_server, look);

	/* A file may have been closed meanwhile. */
	if (!is_full(server)) {
		go_on(server);
		return;
	}
	make_room(server);
}

/* Allow an address one upload file for each connection, and as many more as are free. */
static bool may_hold(void *arg, struct eddyi_party *party)
{
	const struct eddyi_server *server = arg;
	const struct eddyi_holder *holder =
		eddy_of(party->holding, const struct eddyi_holder, holding);
	unsigned taken = server->conns.count + eddyi_descriptors_taken();
	unsigned left = taken < server->descriptors_max ? server->descriptors_max - taken : 0;

	return party->holding->files < holder->count ||
	       party->holding->files - holder->count < left;
}

static void move_party(struct eddyi_server *server, struct eddyi_party *party,
		       enum eddyi_standing standing)
{
	struct eddyi_seat *seat = eddy_of(party, struct eddyi_seat, party);

	if (!eddy_of(seat, struct eddyi_parked, seat)->evicted)
		eddyi_holders_move(&server->conns.holders, seat, standing);
}

static void settle(void *arg, struct eddyi_party *party)
{
	move_party(arg, party, EDDYI_STANDING_BUSY);
}

static bool make_room_for_file(void *arg, struct eddyi_party *party, bool is_late)
{
	struct eddyi_server *server = arg;
	uint64_t until;

	if (!needed_descriptors(server) || (eddyi_open_files_drop() && !needed_descriptors(server)))
		return true;
	/* Don't evict the connection that needs the file. */
	if (party && is_late)
		move_party(server, party, EDDYI_STANDING_BUSY);
	/* Each leaving connection frees one descriptor at least, most of them two. */
	if (2 * server->conns.leaving < needed_descriptors(server))
		evict(server, &until);
	/* If all wait for a descriptor, some must be evicted for the others. */
	if (party && is_late)
		move_party(server, party, EDDYI_STANDING_SLOW);
	return false;
}

static const struct eddyi_descriptor_hooks descriptor_hooks = { may_hold, make_room_for_file,
								settle };

/* Continue to accept: now, when there is room, or after a pause. */
static void go_on_accepting(struct eddyi_listener *listener, int error)
{
	struct eddyi_server *server = listener->server;

	if (eddy_op_is_started(&listener->op) || eddy_timer_is_armed(&listener->retry))
		return;
	if (error < 0 && !is_of_one_connection(error)) {
		uint64_t now = eddy_loop_now();

		/* Report a series of pauses once: one client may be accepted between them. */
		if (!listener->failed_ns || now - listener->failed_ns > ACCEPT_FAILING_NS)
			eddy_warn("eddy::http", "accepting pauses: %s%s", strerror(-error),
				  remedy_of(error));
		listener->failed_ns = now;
		listener->lacks_descriptor = error == -EMFILE;
		eddyi_conn_count(&server->conns, accept_failures);
		eddyi_open_files_drop();
		make_room(server);
		eddy_timer_arm(&listener->retry, now + ACCEPT_RETRY_NS);
	} else if (is_full(server)) {
		arm_knock(listener);
	} else {
		arm_accept(listener);
	}
}

/* Continue to accept on all listeners, since there may be room. */
static void go_on(struct eddyi_server *server)
{
	server->conns.crowded = false;
	eddy_timer_disarm(&server->look);
	for (size_t i = 0; i < server->listener_count; i++) {
		struct eddyi_listener *listener = &server->listeners[i];

		/* The missing descriptor may have just been closed. */
		if (listener->lacks_descriptor)
			eddy_timer_disarm(&listener->retry);
		go_on_accepting(listener, 0);
	}
}

/* Serve the connections in the queue of a socket before closing it, which would reset them. */
static void close_listener(struct eddyi_listener *listener)
{
	int fd;

	do {
		fd = eddyi_accept4_now(listener->door.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			eddyi_conn_new(&listener->server->conns, fd, listener->door.address);
	} while (fd >= 0 || is_of_one_connection(-errno));
	eddyi_close_now(listener->door.fd);
	listener->door.fd = -1;
	eddy_event_set(&listener->server->deaf);
}

static void accepted(struct eddy_op *op, int result, unsigned flags)
{
	struct eddyi_listener *listener = eddy_of(op, struct eddyi_listener, op);
	struct eddyi_server *server = listener->server;

	if (result >= 0 && !eddyi_balance_hand_over(server->balance, server->share, result,
						    listener->door.address))
		eddyi_conn_new(&server->conns, result, listener->door.address);
	if (flags & IORING_CQE_F_MORE) {
		if (is_nearly_full(server))
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

	if (is_nearly_full(server))
		io_uring_prep_accept(sqe, listener->door.fd, NULL, NULL, flags);
	else
		io_uring_prep_multishot_accept(sqe, listener->door.fd, NULL, NULL, flags);
	eddy_op_start(&listener->op, sqe);
}

/* A client waits to be accepted by a full server. */
static void knocked(struct eddy_op *op, int result, unsigned flags)
{
	struct eddyi_listener *listener = eddy_of(op, struct eddyi_listener, op);
	struct eddyi_server *server = listener->server;

	(void)flags;
	if (listener->stopping)
		close_listener(listener);
	else if (result < 0)
		eddy_timer_arm(&listener->retry, eddy_loop_now() + ACCEPT_RETRY_NS);
	else if (!is_full(server) || (eddyi_open_files_drop() && !is_full(server)))
		arm_accept(listener);
	else
		make_room(server);
	/* conn_gone() continues when a connection has made room. */
}

static void arm_knock(struct eddyi_listener *listener)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&listener->op, knocked);

	io_uring_prep_poll_add(sqe, listener->door.fd, POLLIN);
	eddy_op_start(&listener->op, sqe);
}

static void conn_evictable(struct eddyi_conns *conns)
{
	struct eddyi_server *server = eddy_of(conns, struct eddyi_server, conns);

	/* At the end of the turn: others that should go first may become evictable in it. */
	eddy_timer_disarm(&server->look);
	eddy_timer_arm(&server->look, eddy_loop_now());
}

static void stop_accepting(struct eddyi_server *server)
{
	server->conns.crowded = false;
	eddy_timer_disarm(&server->look);
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
		if (server->listeners[i].door.fd >= 0)
			return false;
	return true;
}

static void conn_gone(struct eddyi_conns *conns)
{
	struct eddyi_server *server = eddy_of(conns, struct eddyi_server, conns);

	if (server->stopping) {
		if (!conns->count)
			eddy_event_set(&server->empty);
		return;
	}
	go_on(server);
}

/* ---- running ---- */

/* Return: 0 for the timeout of a head. */
static uint64_t handshake_timeout(const struct eddy_app *app)
{
	return EDDYI_TLS && app->tls ? eddyi_tls_setup_options(app->tls)->handshake_timeout_ns : 0;
}

static int open_server(struct eddyi_server *server, struct eddy_app *app,
		       const struct eddyi_doors *doors)
{
	int r = eddy_buffers_prepare();

	if (r < 0)
		return r;
	server->app = app;
	server->listeners = calloc(doors->count, sizeof(*server->listeners));
	if (!server->listeners)
		return -ENOMEM;
	server->conns_max = app->options.connections_max / app->options.workers;
	if (!server->conns_max)
		server->conns_max = 1;
	r = eddyi_holders_open(&server->conns.holders, server->conns_max);
	if (r < 0) {
		free(server->listeners);
		return r;
	}
	server->look.fire = look_for_room;
	server->listener_count = doors->count;
	eddyi_clocks_init(&server->clocks, &app->options, handshake_timeout(app));
	/* Assign one by one: other threads may already read the counters. */
	server->conns.app = app;
	server->conns.tally = server->balance->tally;
	server->conns.clocks = &server->clocks;
	server->conns.tasks = &server->tasks;
	server->conns.evictable = conn_evictable;
	server->conns.gone = conn_gone;
	eddy_event_init(&server->deaf);
	eddy_event_init(&server->empty);
	for (size_t i = 0; i < doors->count; i++) {
		struct eddyi_listener *listener = &server->listeners[i];

		listener->server = server;
		listener->door = doors->all[i];
		listener->retry.fire = retry_accept;
	}
	eddyi_descriptors_begin(&descriptor_hooks, server);
	return 0;
}

static void close_server(struct eddyi_server *server)
{
	eddyi_conns_deinit(&server->conns);
	eddyi_clocks_deinit(&server->clocks);
	free(server->listeners);
	eddyi_open_files_drop();
	eddyi_descriptors_begin(NULL, NULL);
	eddyi_arena_trim();
}

/* Wait for the last connection, `timeout_ns` at most (0: no limit), or, with `may_hurry`, until
 * EDDYI_STOP_HURRY. */
static void wait_until_empty(struct eddyi_server *server, uint64_t timeout_ns, bool may_hurry)
{
	struct eddy_scope scope;

	if (!server->conns.count)
		return;
	/* It may have been set before the last connections were accepted. */
	eddy_event_clear(&server->empty);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){
					 .timeout_ns = timeout_ns,
					 .shielded = true,
				 });
	if (may_hurry)
		server->draining = &scope;
	eddy_event_wait(&server->empty);
	server->draining = NULL;
	eddy_scope_end(&scope);
}

/* Name the requests that shutdown cancels, by their routes. */
static void tell_cancelled(struct eddyi_server *server)
{
	const struct eddy_node *all = &server->conns.http1;
	char routes[256] = "";
	size_t len = 0;
	unsigned count = 0;
	bool is_full = false;

	for (const struct eddy_node *node = all->next; node != all; node = node->next, count++) {
		struct eddy_req *req = eddy_of(node, struct eddy_req, in_progress);
		const char *label = eddyi_answer_label(req);

		req->stopped = true;
		if (is_full)
			continue;
		is_full = len + strlen(", ") + strlen(label) + sizeof(", …") > sizeof(routes);
		len += (size_t)snprintf(routes + len, sizeof(routes) - len, "%s%s", len ? ", " : "",
					is_full ? "…" : label);
	}
	if (count)
		eddy_warn("eddy::app",
			  "requests cancelled after the drain timeout or a second signal: %u (%s)",
			  count, routes);
}

/* A handler that continues although every call fails can't be ended: its memory is in use. */
static _Noreturn void give_up(const struct eddyi_server *server)
{
	eddy_error("eddy::http",
		   "%u connections did not end within %u s: their handlers ignore cancellation",
		   server->conns.count, (unsigned)(UNWIND_NS / EDDY_SECOND));
	eddy_dump_all(STDERR_FILENO);
	_exit(1);
}

/* Another process accepts now. Open connections may send one more request; the idle ones are closed
 * after `drain_timeout_ns`, and the rest are waited for. */
static void hand_over(struct eddyi_server *server)
{
	wait_until_empty(server, server->app->options.drain_timeout_ns, true);
	eddyi_conns_stop(&server->conns, false);
	if (server->how == EDDYI_STOP_HAND_OVER)
		wait_until_empty(server, 0, true);
}

/* Serve on, so that load balancers see the failing health check before the server stops. Not if
 * another process accepts on the same sockets. EDDYI_STOP_HURRY ends it. */
static void be_lame_duck(struct eddyi_server *server)
{
	struct eddy_scope scope;

	if (!server->stop.is_set || server->how != EDDYI_STOP_DRAIN)
		return;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .shielded = true });
	server->draining = &scope;
	eddy_sleep(server->app->options.lame_duck_ns);
	server->draining = NULL;
	eddy_scope_end(&scope);
}

static void stop(struct eddyi_server *server)
{
	struct eddy_scope shield;
	bool patient;

	if (server->app->options.lame_duck_ns)
		be_lame_duck(server);
	patient = server->how == EDDYI_STOP_HAND_OVER;
	server->stopping = true;
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	eddyi_conns_stop(&server->conns, patient);
	stop_accepting(server);
	server->conns.crowded = false;
	eddy_timer_disarm(&server->look);
	while (!is_deaf(server)) {
		eddy_event_clear(&server->deaf);
		eddy_event_wait(&server->deaf);
	}
	eddyi_share_close(server->share);
	/* Also for the connections accepted last. `how` may have changed meanwhile. */
	if (server->how == EDDYI_STOP_HAND_OVER)
		hand_over(server);
	else
		eddyi_conns_stop(&server->conns, false);
	if (server->how == EDDYI_STOP_DRAIN)
		wait_until_empty(server, server->app->options.drain_timeout_ns, true);
	/* The time of the remaining requests is up: every call in them fails now. */
	tell_cancelled(server);
	eddy_scope_cancel(&server->tasks);
	eddyi_conns_evict_idle(&server->conns);
	wait_until_empty(server, UNWIND_NS, false);
	eddy_scope_end(&shield);
	if (server->conns.count)
		give_up(server);
}

void eddyi_server_stop(struct eddyi_server *server, enum eddyi_stop how)
{
	if (!server->stop.is_set || how > server->how)
		server->how = how;
	eddy_event_set(&server->stop);
	if (server->how == EDDYI_STOP_HURRY && server->draining)
		eddy_scope_cancel(server->draining);
}

void eddyi_server_init(struct eddyi_server *server, const struct eddyi_balance *balance,
		       unsigned index)
{
	*server = (struct eddyi_server){
		.how = EDDYI_STOP_DRAIN,
		.balance = balance,
		.share = &balance->shares[index],
		.descriptors_max = UINT_MAX,
	};
	/* The server may be stopped before it runs. */
	eddyi_conns_init(&server->conns);
	eddy_event_init(&server->stop);
}

int eddyi_server_run(struct eddyi_server *server, struct eddy_app *app,
		     const struct eddyi_doors *doors)
{
	int r = open_server(server, app, doors);

	if (r < 0) {
		for (size_t i = 0; i < doors->count; i++)
			eddyi_close_now(doors->all[i].fd);
		return r;
	}
	if (app->has_transfer)
		eddy_transfer_configure(&app->transfer);
	if (app->options.io_workers_max)
		eddyi_loop_set_io_workers_max(app->options.io_workers_max);
	eddy_scope_begin(&server->tasks, NULL);
	eddyi_share_open(server->share, &server->conns, server->conns_max);
	for (size_t i = 0; i < server->listener_count; i++)
		arm_accept(&server->listeners[i]);
	r = eddy_event_wait(&server->stop);
	stop(server);
	eddy_scope_end(&server->tasks);
	close_server(server);
	return r;
}
