/* Invariants:
 * 1. `watch.loops` is guarded by `watch.lock`. A loop is in it from _begin to _end, so the watching
 *    thread accesses only loops, and signals only threads, that exist.
 * 2. The thread runs exactly while the list is not empty; `life` is held while that changes.
 */
#include "report.h"

#include "core/loop.h"
#include "base/out.h"
#include "peek.h"
#include "stall_trace.h"
#include "base/thread.h"

#include <eddy/internal/debug.h>
#include <eddy/log.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOKS_PER_STALL 4
#define DEBUG_NS (20 * EDDY_MS)
#define PERIOD_MIN EDDY_MS
#define PERIOD_MAX EDDY_SECOND
#define TEXT_MAX 256
#define BACKTRACE_MAX 1200

struct eddyi_stall {
	struct eddyi_stall_trace trace;
	struct eddy_node node; /* in watch.loops */
	struct eddy_loop *loop;
	uint64_t stall_ns;
	uint64_t progress; /* value at the last check */
	uint64_t since_ns; /* the first check with this value */
	bool is_told;      /* the stall was reported, but not yet its end */
	struct eddyi_peeked held_by;
};

static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct eddy_node loops;
	pthread_t thread;
	bool has_thread;
} watch = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
	.loops = { &watch.loops, &watch.loops },
};

/* A number that grows with each step of the loop. */
static uint64_t progress_of(const struct eddy_loop *loop)
{
	struct eddy_loop_stats stats = eddy_loop_stats(loop);

	return stats.turns + stats.resumptions + stats.ops_completed + stats.messages +
	       stats.timers_fired;
}

/* Format "task "name" (#3, spawned at file.c:12)" or "task "request" (#3, GET /users/{id})". */
static void name_holder(const struct eddyi_stall *stall, char text[TEXT_MAX])
{
	const struct eddyi_peeked *by = &stall->held_by;

	if (by->id && by->label[0])
		snprintf(text, TEXT_MAX, "task \"%s\" (#%llu, %s)", by->name,
			 (unsigned long long)by->id, by->label);
	else if (by->id)
		snprintf(text, TEXT_MAX, "task \"%s\" (#%llu, spawned at %s)", by->name,
			 (unsigned long long)by->id, eddyi_place(by->where));
	else
		snprintf(text, TEXT_MAX, "a completion function");
}

/* Emit a record "TASK VERB loop …". `backtrace` is "" or NULL for none. */
static void emit(const struct eddyi_stall *stall, uint64_t held_ns, const char *verb,
		 const char *backtrace)
{
	unsigned long long ms = held_ns / EDDY_MS;
	const char *label = stall->held_by.label;
	/* A field without a name ends the list. */
	struct eddy_field request = eddy_field_text("request", label);
	struct eddy_field trace = eddy_field_text(backtrace ? "backtrace" : NULL, backtrace);
	const char *advice = "";
	char holder[TEXT_MAX];

	if (backtrace)
		advice = stall->trace.system_call >= 0 ?
				 ", in a system call; call it in eddy_offload()" :
				 "; move blocking calls and long computations to eddy_offload()";
	name_holder(stall, holder);
	eddy_log(EDDY_LOG_WARN, "eddy::stall",
		 EDDY_FIELDS(eddy_field_u64("held_ms", ms),
			     eddy_field_text("task", stall->held_by.name),
			     eddy_field_u64("task_id", stall->held_by.id),
			     label[0] ? request : trace, trace),
		 "%s %s loop \"%s\" for %llu ms%s", holder, verb, stall->loop->name, ms, advice);
}

static void tell(struct eddyi_stall *stall, uint64_t held_ns)
{
	char backtrace[BACKTRACE_MAX] = "";

	eddyi_peek(stall->loop, &stall->held_by);
	if (eddyi_stall_trace_take(&stall->trace, stall->loop->tid))
		eddyi_stall_trace_format(&stall->trace, backtrace, sizeof(backtrace));
	/* The loop has moved on while it was examined. */
	if (progress_of(stall->loop) != stall->progress)
		return;
	stall->is_told = true;
	eddyi_count(stall->loop->stats.stalls, 1);
	emit(stall, held_ns, "holds", backtrace);
}

static void look(struct eddyi_stall *stall)
{
	uint64_t now = eddy_now(), progress = progress_of(stall->loop);
	uint64_t held_ns = now - stall->since_ns;

	if (progress != stall->progress ||
	    atomic_load_explicit(&stall->loop->waiting, memory_order_relaxed)) {
		if (stall->is_told)
			emit(stall, held_ns, "held", NULL);
		stall->is_told = false;
		stall->progress = progress;
		stall->since_ns = now;
	} else if (!stall->is_told && held_ns >= stall->stall_ns) {
		tell(stall, held_ns);
	}
}

/* Lock held. */
static uint64_t period(void)
{
	uint64_t shortest = PERIOD_MAX;

	for (struct eddy_node *node = watch.loops.next; node != &watch.loops; node = node->next) {
		uint64_t each = eddy_of(node, struct eddyi_stall, node)->stall_ns / LOOKS_PER_STALL;

		if (each < shortest)
			shortest = each;
	}
	return shortest < PERIOD_MIN ? PERIOD_MIN : shortest;
}

static void *watch_main(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "eddy-watch");
	pthread_mutex_lock(&watch.lock);
	while (!eddy_list_is_empty(&watch.loops)) {
		uint64_t until = eddy_now() + period();
		struct timespec at = { .tv_sec = (time_t)(until / EDDY_SECOND),
				       .tv_nsec = (long)(until % EDDY_SECOND) };
		struct eddy_node *node;

		pthread_cond_clockwait(&watch.changed, &watch.lock, CLOCK_MONOTONIC, &at);
		for (node = watch.loops.next; node != &watch.loops; node = node->next)
			look(eddy_of(node, struct eddyi_stall, node));
	}
	pthread_mutex_unlock(&watch.lock);
	return NULL;
}

static void watch_add(struct eddyi_stall *stall)
{
	pthread_mutex_lock(&watch.lock);
	eddy_list_append(&watch.loops, &stall->node);
	pthread_cond_signal(&watch.changed);
	pthread_mutex_unlock(&watch.lock);
}

/* Return: whether it was the last. */
static bool watch_remove(struct eddyi_stall *stall)
{
	bool is_last;

	pthread_mutex_lock(&watch.lock);
	/* The thread has not seen the end of the stall. */
	if (stall->is_told)
		emit(stall, eddy_now() - stall->since_ns, "held", NULL);
	eddy_list_remove(&stall->node);
	is_last = eddy_list_is_empty(&watch.loops);
	pthread_cond_signal(&watch.changed);
	pthread_mutex_unlock(&watch.lock);
	return is_last;
}

void eddyi_stall_begin(struct eddy_loop *loop, uint64_t stall_ns)
{
	struct eddyi_stall *stall;
	int r = 0;

	if (!stall_ns && eddyi_debug_checking())
		stall_ns = DEBUG_NS;
	stall = stall_ns ? calloc(1, sizeof(*stall)) : NULL;
	if (!stall)
		return;
	eddyi_stall_trace_prepare();
	stall->loop = loop;
	stall->stall_ns = stall_ns;
	stall->since_ns = eddy_now();
	loop->stall = stall;
	eddyi_stall_trace_of_this = &stall->trace;
	pthread_mutex_lock(&life);
	watch_add(stall);
	if (!watch.has_thread) {
		r = eddyi_thread_start(&watch.thread, watch_main, NULL);
		watch.has_thread = r == 0;
	}
	pthread_mutex_unlock(&life);
	if (r)
		eddy_warn("eddy::stall", "stalls of loop \"%s\" are not detected: %s", loop->name,
			  strerror(-r));
}

uint64_t eddyi_stall_limit(const struct eddy_loop *loop)
{
	return loop->stall ? loop->stall->stall_ns : 0;
}

void eddyi_stall_end(struct eddy_loop *loop)
{
	struct eddyi_stall *stall = loop->stall;

	if (!stall)
		return;
	pthread_mutex_lock(&life);
	if (watch_remove(stall) && watch.has_thread) {
		pthread_join(watch.thread, NULL);
		watch.has_thread = false;
	}
	pthread_mutex_unlock(&life);
	/* In this order, so that a late signal finds NULL. */
	eddyi_stall_trace_of_this = NULL;
	loop->stall = NULL;
	free(stall);
}
