/* How much of their stacks tasks have used, and which task used most. */
#include "loop.h"
#include "wait.h"

#include "base/out.h"

#include <eddy/stats.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Guards stack_used_by, which is written seldom and read by other threads. */
static pthread_mutex_t deepest_lock = PTHREAD_MUTEX_INITIALIZER;

size_t eddyi_task_stack_used(struct eddy_loop *loop, const struct eddy_task *task)
{
	size_t used = eddyi_stack_used(task->low, (char *)task->low + loop->stacks.size);

	if (used <= loop->stats.stack_used_max)
		return used;
	pthread_mutex_lock(&deepest_lock);
	loop->stats.stack_used_max = used;
	/* An ended task's name may no longer be valid. */
	if (task->owner)
		snprintf(loop->stats.stack_used_by, sizeof(loop->stats.stack_used_by),
			 "\"%.20s\" (%s)", task->name, eddyi_place(task->where));
	else
		snprintf(loop->stats.stack_used_by, sizeof(loop->stats.stack_used_by),
			 "spawned at %s", eddyi_place(task->where));
	pthread_mutex_unlock(&deepest_lock);
	return used;
}

void eddyi_stack_used_most(const struct eddy_loop *loop, struct eddy_loop_stats *stats)
{
	pthread_mutex_lock(&deepest_lock);
	stats->stack_used_max = loop->stats.stack_used_max;
	memcpy(stats->stack_used_by, loop->stats.stack_used_by, sizeof(stats->stack_used_by));
	pthread_mutex_unlock(&deepest_lock);
}

size_t eddy_task_stack_used(const struct eddy_task *task)
{
	return eddyi_task_stack_used(eddyi_loop(), task);
}
