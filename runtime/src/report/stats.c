#include "report.h"

#include "timeline/iowq.h"
#include "core/loop.h"
#include "core/wait.h"

#include <eddy/internal/loop.h>
#include <eddy/internal/outside.h>
#include <eddy/stats.h>
#include <string.h>

/* Sums of the loops that have ended; guarded by the registry's lock. */
static struct eddy_stats ended;

/* Another loop may add to it. */
static uint64_t load(const uint64_t *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

#define LOAD(field) load(&loop->stats.field)

struct eddy_loop_stats eddy_loop_stats(const struct eddy_loop *loop)
{
	struct eddy_loop_stats stats;

	if (!loop)
		loop = eddyi_loop();
	stats = (struct eddy_loop_stats){
		.turns = LOAD(turns),
		.enters = LOAD(enters),
		.resumptions = LOAD(resumptions),
		.tasks = LOAD(tasks),
		.tasks_spawned = LOAD(tasks_spawned),
		.ops_completed = LOAD(ops_completed),
		.ops_started = LOAD(ops_started),
		.ops_cancelled = LOAD(ops_cancelled),
		.ops_worked = LOAD(ops_worked),
		.io_workers_max = LOAD(io_workers_max),
		.cq_overflows = LOAD(cq_overflows),
		.messages = LOAD(messages),
		.timers_fired = LOAD(timers_fired),
		.stalls = LOAD(stalls),
		.offloaded = __atomic_load_n(&loop->outside, __ATOMIC_RELAXED),
	};
	stats.tasks_pooled = LOAD(tasks_pooled);
	/* The two values were not read at the same time. */
	if (stats.ops_started > stats.ops_completed)
		stats.ops = stats.ops_started - stats.ops_completed;
	eddyi_stack_used_most(loop, &stats);
	return stats;
}

/* All members are counters. */
#define TRANSFER_COUNTERS (sizeof(struct eddy_transfer_stats) / sizeof(uint64_t))

static void add_transfers(struct eddy_transfer_stats *sum, const struct eddy_transfer_stats *more)
{
	const uint64_t *from = (const uint64_t *)more;
	uint64_t *to = (uint64_t *)sum;

	for (size_t i = 0; i < TRANSFER_COUNTERS; i++)
		to[i] += load(&from[i]);
}

/* ---- all loops ---- */

#define ADD(field) sum->field += more->field

/* Add totals since the loop's start. */
static void add_done(struct eddy_loop_stats *sum, const struct eddy_loop_stats *more)
{
	ADD(turns);
	ADD(enters);
	ADD(resumptions);
	ADD(tasks_spawned);
	ADD(ops_started);
	ADD(ops_completed);
	ADD(ops_cancelled);
	ADD(ops_worked);
	ADD(cq_overflows);
	ADD(messages);
	ADD(timers_fired);
	ADD(stalls);
	if (more->stack_used_max <= sum->stack_used_max)
		return;
	sum->stack_used_max = more->stack_used_max;
	memcpy(sum->stack_used_by, more->stack_used_by, sizeof(sum->stack_used_by));
}

/* Add current values. */
static void add_held(struct eddy_loop_stats *sum, const struct eddy_loop_stats *more)
{
	ADD(tasks);
	ADD(tasks_pooled);
	ADD(ops);
	ADD(io_workers_max);
	ADD(offloaded);
}

void eddyi_stats_keep(const struct eddy_loop *loop)
{
	struct eddy_loop_stats stats = eddy_loop_stats(loop);

	/* Ops in progress complete before the loop has ended. */
	stats.ops_completed = stats.ops_started;
	add_done(&ended.loop, &stats);
	add_transfers(&ended.transfer, &loop->transfer_stats);
}

struct eddy_stats eddy_stats(void)
{
	const struct eddy_node *loops = eddyi_registry_lock();
	struct eddy_stats all = ended;

	for (const struct eddy_node *node = loops->next; node != loops; node = node->next) {
		const struct eddy_loop *loop = eddy_of(node, struct eddy_loop, registered);
		struct eddy_loop_stats stats = eddy_loop_stats(loop);

		all.loops++;
		add_done(&all.loop, &stats);
		add_held(&all.loop, &stats);
		add_transfers(&all.transfer, &loop->transfer_stats);
	}
	eddyi_registry_unlock();
	all.offload = eddy_offload_stats();
	return all;
}

unsigned eddyi_stats_io_workers(void)
{
	return (unsigned)eddyi_outside_act("io workers", eddyi_iowq_look(NULL, SIZE_MAX));
}
