#include "loop.h"
#include "out.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* For the text of who used most of a stack: it is written seldom, and read by other threads. */
static pthread_mutex_t deepest_lock = PTHREAD_MUTEX_INITIALIZER;

#define LOAD(field) __atomic_load_n(&loop->stats.field, __ATOMIC_RELAXED)

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
		.cq_overflows = LOAD(cq_overflows),
		.messages = LOAD(messages),
		.timers_fired = LOAD(timers_fired),
		.stalls = LOAD(stalls),
		.offloaded = __atomic_load_n(&loop->outside, __ATOMIC_RELAXED),
	};
	stats.tasks_pooled = LOAD(tasks_pooled);
	/* The two were read one after the other. */
	if (stats.ops_started > stats.ops_completed)
		stats.ops = stats.ops_started - stats.ops_completed;
	pthread_mutex_lock(&deepest_lock);
	stats.stack_used_max = loop->stats.stack_used_max;
	memcpy(stats.stack_used_by, loop->stats.stack_used_by, sizeof(stats.stack_used_by));
	pthread_mutex_unlock(&deepest_lock);
	return stats;
}

size_t eddyi_task_stack_used(struct eddy_loop *loop, const struct eddy_task *task)
{
	size_t used = eddyi_stack_used(task->low, (char *)task->low + loop->stacks.size);

	if (used <= loop->stats.stack_used_max)
		return used;
	pthread_mutex_lock(&deepest_lock);
	loop->stats.stack_used_max = used;
	/* The name of a task that has ended may be gone. */
	if (task->owner)
		snprintf(loop->stats.stack_used_by, sizeof(loop->stats.stack_used_by),
			 "\"%.20s\" (%s)", task->name, eddyi_place(task->where));
	else
		snprintf(loop->stats.stack_used_by, sizeof(loop->stats.stack_used_by),
			 "spawned at %s", eddyi_place(task->where));
	pthread_mutex_unlock(&deepest_lock);
	return used;
}

size_t eddy_task_stack_used(const struct eddy_task *task)
{
	return eddyi_task_stack_used(eddyi_loop(), task);
}
