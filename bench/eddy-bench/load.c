#include "load.h"

#include "stall.h"

#include <eddy/loop.h>
#include <eddy/op.h>
#include <eddy/scope.h>
#include <eddy/semaphore.h>
#include <eddy/task.h>

#include <errno.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Connections that are made at a time: fewer than any backlog. */
#define CONNECTING 128
/* How often stalled connections are looked for: a part of their time, and at least so often. */
#define LOOKS 4
#define LOOK_NS (100 * EDDY_MS)
/* What has begun may go on for so many timeouts when the time is over. */
#define LAST 30
/* How much longer than planned an open loop may go on to send what was due. */
#define LATE_PART 1
/* After a connection that could not be made. */
#define REST_NS (10 * EDDY_MS)

/* Take on the next request of an open loop, and wait until it is due. Return: false when there is none. */
static bool await_due(struct load *load, uint64_t *ret_started_ns)
{
	double interval_ns = 1e9 / load->plan->options->rate;
	uint64_t due = load->began_ns + (uint64_t)((double)load->due * interval_ns), now;

	if (due >= load->until_ns)
		return false;
	load->due++;
	now = eddy_now();
	if (now < due && eddy_sleep(due - now) < 0)
		return false;
	*ret_started_ns = due;
	return true;
}

/* What was due and is too late to be sent has waited at least until now. */
static bool is_too_late(const struct load *load, uint64_t now)
{
	return now > load->until_ns + LATE_PART * (load->until_ns - load->began_ns);
}

static void give_up(struct load *load, uint64_t started_ns, uint64_t now)
{
	load->given_up++;
	histogram_record(&load->tally->first_byte, now - started_ns);
	histogram_record(&load->tally->total, now - started_ns);
}

/* Return: when the next request of a connection begins; 0 for none. */
static uint64_t next(struct load *load, const struct conn *conn, bool first)
{
	uint64_t now, due;

	if (*load->interrupted)
		return 0;
	if (load->once)
		return first ? eddy_now() : 0;
	if (load->plan->options->rate > 0) {
		while (await_due(load, &due)) {
			now = eddy_now();
			if (!is_too_late(load, now))
				return due;
			give_up(load, due, now);
		}
		return 0;
	}
	/* The last answer was looked at just now. */
	now = first || conn->fd < 0 ? eddy_now() : conn->received_ns;
	return now < load->until_ns ? now : 0;
}

struct player {
	struct load *load;
	struct conn *conn;
	struct eddy_semaphore *opening;
};

static int play(void *arg)
{
	struct player player = *(struct player *)arg;
	struct load *load = player.load;
	uint64_t started_ns;
	int r = 0;

	for (bool first = true; (started_ns = next(load, player.conn, first)); first = false) {
		r = load->plan->options->stall ? stall_begin(player.conn) :
						 conn_exchange(player.conn, started_ns);
		if (r == -ECANCELED)
			return r;
		/* A server that is gone is not asked a million times. */
		if (r < 0 && !load->once && eddy_sleep(REST_NS) < 0)
			return -ECANCELED;
	}
	return load->once ? r : 0;
}

/* The first request of a connection, when it is its turn to connect. */
static int play_opening(void *arg)
{
	struct player *player = arg;
	int r = eddy_semaphore_acquire(player->opening, 1);

	if (r < 0)
		return r;
	r = play(arg);
	eddy_semaphore_release(player->opening, 1);
	return r;
}

/* Why a connection is to be ended; NULL: it is not. */
static const char *find_fault(const struct load *load, uint64_t now, uint64_t still_ns)
{
	uint64_t timeout_ns = load->plan->options->timeout_ns;

	if (*load->interrupted)
		return "interrupted";
	if (still_ns >= timeout_ns)
		return "no data was transferred for the time of --timeout";
	/* A body without an end moves all the time. */
	if (now > load->until_ns && now - load->until_ns > LAST * timeout_ns)
		return "it took longer than 30 times --timeout";
	return NULL;
}

/* Look for connections that would keep us forever. By an op of the ring's: a timer would cost every turn. */
static int watch(void *arg)
{
	struct load *load = arg;
	uint64_t timeout_ns = load->plan->options->timeout_ns;
	uint64_t every_ns = timeout_ns / LOOKS < LOOK_NS ? timeout_ns / LOOKS : LOOK_NS;
	struct __kernel_timespec every = { 0, (long long)every_ns };
	struct {
		uint64_t moved, since_ns;
	} *seen = calloc(load->count, sizeof(*seen));
	int r = seen ? -ETIME : -ENOMEM;

	while (r == -ETIME) {
		uint64_t now = eddy_now();
		struct io_uring_sqe sqe = { 0 };

		for (unsigned i = 0; i < load->count; i++) {
			struct conn *conn = &load->conns[i];
			const char *why;

			if (!conn->busy || seen[i].moved != conn->moved)
				seen[i].since_ns = now;
			seen[i].moved = conn->moved;
			why = conn->busy ? find_fault(load, now, now - seen[i].since_ns) : NULL;
			if (why)
				conn_give_up(conn, why);
		}
		io_uring_prep_timeout(&sqe, &every, 0, 0);
		r = eddy_op_call(&sqe);
	}
	free(seen);
	return r;
}

static int play_all(struct load *load, eddy_task_fn *fn, struct eddy_semaphore *opening,
		    uint64_t duration_ns)
{
	struct player *players = calloc(load->count, sizeof(*players));
	struct eddy_scope watching, scope;
	int r = players ? 0 : -ENOMEM;

	if (r < 0)
		return r;
	eddy_scope_begin(&watching, NULL);
	eddy_scope_spawn(&watching, "watch", watch, load);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .fail_fast = load->once });
	load->began_ns = eddy_now();
	load->until_ns = load->began_ns + duration_ns;
	for (unsigned i = 0; i < load->count && r == 0; i++) {
		load->conns[i].until_ns = load->plan->options->rate > 0 ? 0 : load->until_ns;
		players[i] = (struct player){ load, &load->conns[i], opening };
		r = eddy_scope_spawn(&scope, "connection", fn, &players[i]);
	}
	if (r == 0)
		eddy_scope_join(&scope);
	load->failed = eddy_scope_end(&scope);
	load->elapsed_ns = eddy_now() - load->began_ns;
	/* The last request was due before the end. */
	if (load->plan->options->rate > 0 && load->elapsed_ns < load->until_ns - load->began_ns)
		load->elapsed_ns = load->until_ns - load->began_ns;
	eddy_scope_cancel(&watching);
	eddy_scope_end(&watching);
	free(players);
	return r;
}

int load_play(struct load *load, uint64_t duration_ns)
{
	int r;

	memset(load->tally, 0, sizeof(*load->tally));
	load->due = load->given_up = 0;
	load->once = duration_ns == 0;
	r = play_all(load, play, NULL, duration_ns);
	if (r == 0 && eddy_is_cancelled())
		r = -ECANCELED;
	return r;
}

static int make_conns(struct load *load)
{
	load->tally = calloc(1, sizeof(*load->tally));
	load->conns = calloc(load->count, sizeof(*load->conns));
	if (!load->tally || !load->conns)
		return -ENOMEM;
	for (unsigned i = 0; i < load->count; i++)
		load->conns[i].fd = -1;
	for (unsigned i = 0; i < load->count; i++) {
		int r = conn_init(&load->conns[i], load->plan, load->tally, i);

		if (r < 0)
			return r;
	}
	return 0;
}

static int failed(struct load *load, int r, const char *what, char error[OPTIONS_ERROR_SIZE])
{
	snprintf(error, OPTIONS_ERROR_SIZE, "%.120s: %.350s", load->plan->url->name, what);
	load_close(load);
	return r;
}

int load_open(struct load *load, struct plan *plan, unsigned count, const bool *interrupted,
	      char error[OPTIONS_ERROR_SIZE])
{
	struct eddy_semaphore opening;
	int r;

	*load = (struct load){
		.plan = plan,
		.count = count,
		.interrupted = interrupted,
		.once = true,
	};
	r = make_conns(load);
	if (r < 0)
		return failed(load, r, strerror(-r), error);
	eddy_semaphore_init(&opening, CONNECTING);
	r = play_all(load, play_opening, &opening, 0);
	if (r < 0)
		return failed(load, r, strerror(-r), error);
	if (*load->tally->error)
		return failed(load, -EIO, load->tally->error, error);
	if (load->failed < 0 || *interrupted)
		return failed(load, -ECANCELED, "interrupted", error);
	return 0;
}

uint64_t load_retransmits(const struct load *load)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < load->count; i++)
		sum += conn_retransmits(&load->conns[i]);
	return sum;
}

void load_close(struct load *load)
{
	for (unsigned i = 0; load->conns && i < load->count; i++)
		conn_deinit(&load->conns[i]);
	free(load->conns);
	free(load->tally);
	*load = (struct load){ 0 };
}
