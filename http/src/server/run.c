/* Running an app: its sockets, workers, signals and statistics. */
#include "run.h"

#include "exchange/cookie_keys.h"
#include "memory_limit.h"
#include "tls/tls_setup.h"

#include <eddy/internal/log.h>
#include <eddy/internal/loop.h>
#include <eddy/internal/outside.h>
#include <eddy/internal/transfer.h>
#include <eddy/internal/panic.h>
#include <eddy/internal/signal.h>
#include <eddy/log.h>
#include <eddy/loops.h>
#include <eddy/offload.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- signals ---- */

static int load_files(void *arg)
{
	struct eddy_app *app = arg;
	int tls = EDDYI_TLS && app->tls ? eddyi_tls_setup_load(app->tls) : 0;
	int keys = EDDYI_TLS && app->cookie_keys ? eddyi_cookie_keys_load(app->cookie_keys) : 0;

	if (app->tls && tls == 0)
		eddy_info("eddy::app", "Certificates were reloaded");
	if (app->cookie_keys && keys == 0)
		eddy_info("eddy::app", "Cookie keys were reloaded");
	return tls < 0 ? tls : keys;
}

int eddy_app_reload(struct eddy_app *app)
{
	return load_files(app);
}

/* A task of worker 0, so that signals are handled while the offload pool is busy. */
static int reload(void *arg)
{
	struct eddyi_run *run = arg;

	do {
		run->reload_more = false;
		eddy_offload(load_files, run->app);
	} while (run->reload_more);
	run->reloading = false;
	return 0;
}

static void start_reload(struct eddyi_run *run)
{
	int r;

	if (run->reloading) {
		run->reload_more = true;
		return;
	}
	run->reloading = true;
	r = eddy_scope_spawn(&run->tasks, "reload", reload, run);
	if (r == 0)
		return;
	run->reloading = false;
	eddy_error("eddy::app", "can't reload certificates and keys: %s", strerror(-r));
}

/* The apps of this process that don't leave signals to the program, from the beginning of
 * eddy_app_run(). Whichever of them fetches a signal handles it for all. Guarded by
 * `eddyi_run_lock`. */
static struct eddy_node handling = { &handling, &handling };

static void set_handling(struct eddy_app *app, bool handles)
{
	pthread_mutex_lock(&eddyi_run_lock);
	if (handles)
		eddy_list_append(&handling, &app->handling);
	else
		eddy_list_remove(&app->handling);
	pthread_mutex_unlock(&eddyi_run_lock);
}

static void deliver_reload(struct eddy_message *message)
{
	struct eddyi_run *run = eddy_of(message, struct eddyi_run, reload);

	pthread_mutex_lock(&eddyi_run_lock);
	run->reload_posted = false;
	pthread_mutex_unlock(&eddyi_run_lock);
	start_reload(run);
}

/* Lock held. */
static void post_reload(struct eddyi_run *run)
{
	run->reload_wanted = !run->workers[0].loop;
	if (run->reload_wanted || run->reload_posted)
		return;
	run->reload_posted = true;
	eddy_loop_post(run->workers[0].loop, &run->reload);
}

/* Whether the app has files that SIGHUP reads again. */
static bool has_files(const struct eddy_app *app)
{
	return app->tls || app->cookie_keys;
}

/* Lock held. */
static void reload_app(struct eddy_app *app)
{
	if (app->run && has_files(app))
		post_reload(app->run);
}

static void for_all_handling(void (*fn)(struct eddy_app *app))
{
	pthread_mutex_lock(&eddyi_run_lock);
	for (struct eddy_node *node = handling.next; node != &handling; node = node->next)
		fn(eddy_of(node, struct eddy_app, handling));
	pthread_mutex_unlock(&eddyi_run_lock);
}

static void restart_one(void)
{
	struct eddy_node *node;

	pthread_mutex_lock(&eddyi_run_lock);
	node = handling.next;
	while (node != &handling && !eddy_of(node, struct eddy_app, handling)->options.restart)
		node = node->next;
	if (node != &handling)
		eddyi_app_restart(eddy_of(node, struct eddy_app, handling));
	pthread_mutex_unlock(&eddyi_run_lock);
	if (node == &handling)
		eddy_warn("eddy::app", "SIGUSR2 is ignored: the program does not set .restart");
}

/* A task of worker 0. */
static int watch_signals(void *arg)
{
	struct eddyi_run *run = arg;

	for (;;) {
		int r = eddy_signals_next(&run->signals);

		if (r < 0)
			return r;
		if (r == SIGHUP) {
			for_all_handling(reload_app);
		} else if (r == SIGUSR2) {
			restart_one();
		} else {
			eddy_trace("eddy::app",
				   "Shutdown signal received, not accepting new requests");
			for_all_handling(eddyi_app_stop);
		}
	}
}

/* ---- workers ---- */

/* Publish the worker's loop, which accepts messages until forget_loop().
 * Return: whether shutdown has already been requested. */
static bool announce_loop(struct eddyi_worker *worker)
{
	unsigned stops;

	pthread_mutex_lock(&eddyi_run_lock);
	worker->loop = eddy_loop_self();
	stops = worker->run->stops;
	if (stops)
		eddyi_server_stop(&worker->server, stops > 1 ? EDDYI_STOP_HURRY : EDDYI_STOP_DRAIN);
	if (worker == worker->run->workers && worker->run->reload_wanted)
		post_reload(worker->run);
	pthread_mutex_unlock(&eddyi_run_lock);
	return stops;
}

static void forget_loop(struct eddyi_worker *worker)
{
	pthread_mutex_lock(&eddyi_run_lock);
	worker->loop = NULL;
	pthread_mutex_unlock(&eddyi_run_lock);
}

/* All loops run and all sockets listen; nothing is accepted, and no ring has opened a file. */
static int begin(struct eddyi_run *run)
{
	int r;

	eddyi_notifier_open(&run->notifier);
	/* Close the socket early: a datagram socket can reach other receivers. */
	run->notifier.brief = run->app->sandbox != NULL;
	r = eddyi_app_sandbox_enter(run->app);
	if (r == 0)
		r = eddyi_beside_begin(&run->beside, &run->tasks);
	run->failed = r < 0;
	if (r < 0)
		return r;
	run->began = true;
	eddyi_app_stand_back(run->app);
	eddyi_listening_announce(&run->listening);
	run->notifier.address = run->listening.addresses[0].name;
	run->notifier.heir = eddyi_activation_is_restart();
	if (eddyi_notifier_is_wanted())
		eddy_scope_spawn(&run->tasks, "notifier", eddyi_notifier_run, &run->notifier);
	eddyi_activation_ready();
	eddyi_activation_drop();
	return 0;
}

/* Return: 0; -ECANCELED also if worker 0 failed to begin. */
static int begin_or_wait(struct eddyi_worker *worker)
{
	struct eddyi_run *run = worker->run;
	int r;

	if (worker != run->workers) {
		r = eddy_shared_event_wait(&run->may_serve);
		return r == 0 && !run->began ? -ECANCELED : r;
	}
	r = begin(run);
	eddy_shared_event_set(&run->may_serve);
	return r;
}

static int serve_doors(struct eddyi_worker *worker)
{
	struct eddyi_run *run = worker->run;
	struct eddyi_doors doors =
		eddyi_listening_take(&run->listening, (unsigned)(worker - run->workers));
	int r = eddyi_server_run(&worker->server, run->app, &doors);

	/* No subscriber may be left: print it then. */
	if (r < 0 && r != -ECANCELED)
		eddyi_log_failure("eddy::app", "can't serve: %s", strerror(-r));
	return r;
}

/* If a worker fails, the others shut down gracefully. */
static int serve(struct eddyi_worker *worker)
{
	struct eddyi_run *run = worker->run;
	bool ends = announce_loop(worker);
	int r = begin_or_wait(worker);

	if (r == 0 && worker == run->workers && (ends || run->stops_early))
		eddyi_run_announce_stop(run);
	if (r == 0)
		r = serve_doors(worker);
	forget_loop(worker);
	if (r < 0)
		eddyi_run_stop_once(run);
	return r;
}

/* ---- connection statistics ---- */

static uint64_t load(const uint64_t *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

static void add(struct eddy_app_stats *sum, const struct eddyi_conn_counts *counts)
{
	uint64_t accepted = load(&counts->accepted), refused = load(&counts->refused);
	uint64_t gone = load(&counts->closed) + refused;

	/* The counters are read one after the other. */
	if (accepted > gone)
		sum->connections += accepted - gone;
	sum->accepted += accepted;
	sum->refused += refused;
	sum->over_address += load(&counts->over_address);
	sum->evicted_idle += load(&counts->evicted[EDDYI_STANDING_IDLE]);
	sum->evicted_head += load(&counts->evicted[EDDYI_STANDING_HEAD]);
	sum->evicted_slow += load(&counts->evicted[EDDYI_STANDING_SLOW]);
	sum->slow_bodies += load(&counts->slow_bodies);
	sum->slow_writes += load(&counts->slow_writes);
	sum->accept_failures += load(&counts->accept_failures);
	sum->proxy_failures += load(&counts->proxy_failures);
	sum->h2_connections += load(&counts->h2_begun);
	sum->h2_calmed += load(&counts->h2_calmed);
	sum->h2_reset += load(&counts->h2_reset);
	sum->h2_refused += load(&counts->h2_refused);
}

static struct eddy_app_stats add_workers(struct eddy_app_stats sum, const struct eddyi_run *run)
{
	for (unsigned i = 0; i < run->count; i++)
		add(&sum, &run->workers[i].server.conns.counts);
	return sum;
}

/* Add a run's statistics to the app's at the end of the run. The lock is held. */
static void keep_stats(const struct eddyi_run *run)
{
	run->app->before = add_workers(run->app->before, run);
	run->app->before.connections = 0;
}

struct eddy_app_stats eddy_app_stats(const struct eddy_app *app)
{
	struct eddy_app_stats stats;

	pthread_mutex_lock(&eddyi_run_lock);
	stats = app->run ? add_workers(app->before, app->run) : app->before;
	pthread_mutex_unlock(&eddyi_run_lock);
	stats.refused_bodies = atomic_load(&app->refused_bodies);
	return stats;
}

/* ---- running ---- */

static void raise_descriptors(void)
{
	struct rlimit limit;

	if (eddyi_getrlimit_now(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	eddyi_setrlimit_now(RLIMIT_NOFILE, &limit);
}

/* Get the limit for connections and their files: all but 32 descriptors, and an eighth for
 * pipes. */
static unsigned descriptors_max(void)
{
	uint64_t reserved, max;
	struct rlimit limit;

	if (eddyi_getrlimit_now(RLIMIT_NOFILE, &limit) < 0)
		return 1024;
	max = limit.rlim_cur > 1 << 30 ? 1 << 30 : limit.rlim_cur;
	reserved = 32 + max / 8;
	return (unsigned)(reserved < max / 2 ? max - reserved : max - max / 2);
}

/* Allow as many connections as memory and descriptors suffice for. */
static unsigned default_connections_max(const struct eddy_app *app, uint64_t memory)
{
	uint64_t of_memory = eddyi_memory_connections(memory, app->tls != NULL);
	unsigned max = descriptors_max();

	return of_memory < max ? (unsigned)of_memory : max;
}

static int open_run(struct eddyi_run *run, struct eddy_app *app)
{
	uint64_t memory;
	int r;

	*run = (struct eddyi_run){ .app = app, .count = app->options.workers };
	run->restart.deliver = eddyi_run_deliver_restart;
	run->reload.deliver = deliver_reload;
	eddyi_notifier_init(&run->notifier);
	eddyi_beside_init(&run->beside, app);
	eddy_shared_event_init(&run->may_serve);
	run->workers = calloc(run->count, sizeof(*run->workers));
	run->balance.shares = calloc(run->count, sizeof(*run->balance.shares));
	run->balance.count = run->count;
	if (!run->workers || !run->balance.shares) {
		eddy_error("eddy::app", "can't start: out of memory");
		return -ENOMEM;
	}
	for (unsigned i = 0; i < run->count; i++) {
		struct eddyi_worker *worker = &run->workers[i];

		eddyi_worker_init(worker, run);
		eddyi_server_init(&worker->server, &run->balance, i);
	}
	r = eddyi_listening_open(&run->listening, app);
	if (r < 0)
		return r;
	atomic_store(&app->port, run->listening.port);
	memory = eddyi_memory_limit("");
	eddyi_transfer_set_memory(memory);
	if (!app->options.connections_max) {
		raise_descriptors();
		app->options.connections_max = default_connections_max(app, memory);
	}
	for (unsigned i = 0; i < run->count; i++)
		run->workers[i].server.descriptors_max = descriptors_max() / run->count + 1;
	if (!app->options.body_memory_max)
		app->options.body_memory_max = eddyi_memory_share(memory);
	if (!app->options.connections_per_address_max)
		return 0;
	r = eddyi_tally_init(&run->tally, app->options.connections_max);
	if (r == 0)
		run->balance.tally = &run->tally;
	else
		eddy_error("eddy::app", "can't start: out of memory");
	return r;
}

static void close_run(struct eddyi_run *run)
{
	eddyi_notifier_close(&run->notifier);
	eddyi_listening_close(&run->listening);
	eddyi_activation_drop();
	if (run->balance.tally)
		eddyi_tally_deinit(run->balance.tally);
	free(run->balance.shares);
	free(run->workers);
}

static void set_run(struct eddy_app *app, struct eddyi_run *run)
{
	pthread_mutex_lock(&eddyi_run_lock);
	if (!run)
		keep_stats(app->run);
	app->run = run;
	if (run) {
		/* Shutdown may have been requested before the run. */
		run->stops = app->early_stops;
		app->early_stops = 0;
		atomic_store(&app->draining, run->stops > 0);
	}
	pthread_mutex_unlock(&eddyi_run_lock);
}

static int serve_here(void *arg)
{
	struct eddyi_run *run = arg;

	return serve(&run->workers[eddy_loops_index()]);
}

struct flush {
	struct eddy_message message;
	struct eddy_event delivered;
};

static void deliver_flush(struct eddy_message *message)
{
	eddy_event_set(&eddy_of(message, struct flush, message)->delivered);
}

/* Wait for messages posted to this loop for the run, whose memory is about to be freed. */
static void flush_messages(void)
{
	struct flush flush = { .message = { .deliver = deliver_flush } };
	struct eddy_scope shield;

	eddy_event_init(&flush.delivered);
	eddy_loop_post(eddy_loop_self(), &flush.message);
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	eddy_event_wait(&flush.delivered);
	eddy_scope_end(&shield);
}

/* Options of the loops that are made for an app. */
static struct eddy_loop_options loop_options(const struct eddy_app *app)
{
	return (struct eddy_loop_options){
		.stack_size = app->options.stack_size,
		.stall_ns = app->options.stall_ns,
		.confined = app->sandbox != NULL,
	};
}

static int serve_all(struct eddyi_run *run)
{
	int r;

	/* A single worker may run inside a set of loops of the program. */
	if (run->count == 1)
		r = serve(&run->workers[0]);
	else
		r = eddy_loops_run(
			&(struct eddy_loops_options){
				.count = run->count,
				.loop = loop_options(run->app),
			},
			serve_here, run);
	flush_messages();
	return r;
}

/* SIGUSR2 is left to a handler of the program, unless it restarts. */
static bool takes_restart(const struct eddy_app *app)
{
	struct sigaction action;

	return app->options.restart ||
	       (sigaction(SIGUSR2, NULL, &action) == 0 &&
		(action.sa_handler == SIG_DFL || eddyi_signal_is_handler(&action)));
}

static int open_signals(struct eddyi_run *run)
{
	int signos[5] = { SIGINT, SIGTERM };
	size_t count = 2;
	int r;

	if (takes_restart(run->app))
		signos[count++] = SIGUSR2;
	if (has_files(run->app))
		signos[count++] = SIGHUP;
	r = eddy_signals_open(signos, &run->signals);
	if (r == 0) {
		r = eddy_scope_spawn(&run->watching, "signals", watch_signals, run);
		if (r < 0)
			eddy_signals_close(&run->signals);
	}
	if (r < 0 && r != -ECANCELED)
		eddy_error("eddy::app", "can't wait for signals: %s", strerror(-r));
	return r;
}

static int serve_with_tasks(struct eddyi_run *run)
{
	bool with_signals = !run->app->options.no_signals;
	int r = 0;

	eddy_scope_begin(&run->watching, NULL);
	eddy_scope_begin(&run->tasks, NULL);
	if (with_signals)
		r = open_signals(run);
	with_signals &= r == 0;
	if (r == 0)
		r = serve_all(run);
	eddyi_beside_end(&run->beside);
	eddy_scope_end(&run->tasks);
	eddy_scope_end(&run->watching);
	if (with_signals)
		eddy_signals_close(&run->signals);
	return r;
}

static int run_prepared(struct eddy_app *app)
{
	struct eddyi_run run;
	int r = open_run(&run, app);

	if (r == 0) {
		set_run(app, &run);
		r = serve_with_tasks(&run);
		set_run(app, NULL);
		if (run.began)
			eddy_info("eddy::app", "Shutting down the server");
	}
	close_run(&run);
	return r;
}

/* Load the session ticket keys of the previous process. */
static void take_tickets(struct eddy_app *app)
{
	int fd = app->address_count ? eddyi_activation_take_tickets(app->addresses[0].text) : -1;
	int r = fd < 0 || !EDDYI_TLS ? 0 : eddyi_tls_setup_load_tickets(app->tls, fd);

	if (r < 0)
		eddy_warn(
			"eddy::tls",
			"can't load the TLS ticket keys of the old process (%s): clients make full "
			"handshakes",
			strerror(-r));
	if (fd >= 0)
		eddyi_close_now(fd);
}

int eddy_app_run(struct eddy_app *app)
{
	bool handles;
	int r;

	eddyi_app_stand_in(app);
	/* Before eddyi_require_task() aborts. */
	if (!eddy_loop_self())
		eddy_error("eddy::app", "eddy_app_run() is called outside of a task: main() calls "
					"eddy_app_run_blocking()");
	handles = !app->options.no_signals;
	if (handles)
		set_handling(app, true);
	r = eddyi_app_prepare(app, true);
	eddyi_require_task(__func__);
	if (EDDYI_TLS && app->tls)
		take_tickets(app);
	if (EDDYI_TLS && EDDYI_HTTP2 && app->tls && !app->options.no_http2)
		eddyi_tls_setup_offer_http2(app->tls);
	if (EDDYI_TLS && app->tls && eddy_offload(eddyi_tls_setup_load, app->tls) < 0)
		r = -EINVAL;
	if (r == 0)
		r = run_prepared(app);
	if (handles)
		set_handling(app, false);
	eddyi_app_stand_back(app);
	return r;
}

struct blocking {
	struct eddy_app *app;
	bool began;
};

static int run_app(void *arg)
{
	struct blocking *blocking = arg;

	blocking->began = true;
	return eddy_app_run(blocking->app);
}

int eddy_app_run_blocking(struct eddy_app *app)
{
	struct blocking blocking = { .app = app };
	struct eddy_loop_options options;
	int r;

	eddyi_app_stand_in(app);
	eddyi_app_read_early(app);
	options = loop_options(app);
	r = eddyi_run(&options, run_app, &blocking);

	/* No loop: the error has not been reported yet. */
	if (!blocking.began)
		eddy_error("eddy::app", "can't start: %s", eddy_ring_advice(r));
	eddyi_app_stand_back(app);
	if (!app->is_gone)
		eddyi_app_retire(app);
	return r;
}
