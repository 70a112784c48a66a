/* Invariants:
 * 1. Control passes from the loop's stack to a task and back, never between tasks.
 * 2. A stack returns to the pool on the loop's stack, after its task has switched away for good.
 */
#include "task.h"

#include "guest.h"

#include "base/out.h"

#include <eddy/internal/debug.h>
#include <eddy/internal/panic.h>
#include <eddy/stats.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if EDDYI_ASAN
#include <sanitizer/asan_interface.h>
#include <eddy/internal/loop.h>
#endif

/* The part of an idle stack that stays resident: the page with the task itself, and the one below
 * with its entry function's frame. */
#define TRIM_KEEP (8 * EDDY_KIB)
#define TRIM_AFTER EDDY_SECOND
/* Idle stacks of which a part stays resident; others lose all of their memory. */
#define TRIMMED_MAX 256
/* Trim this many at a time (about 100 us), and the rest a little later. */
#define TRIM_BATCH 256
#define TRIM_PAUSE EDDY_MS
#define COLOURS 16
#define COLOUR_STEP 64

/* The entry function of every stack: run one task's function after another. */
static void task_main(void *arg)
{
	struct eddy_task *task = arg;

	for (;;) {
		task->result = task->fn(task->arg);
		task->ended = true;
		eddyi_ctx_switch(&task->ctx, &eddyi_loop()->ctx, EDDYI_ASAN);
	}
}

static struct eddy_task *task_new(struct eddy_loop *loop)
{
	size_t size = loop->stacks.size;
	char *low = eddyi_stacks_take(&loop->stacks);
	struct eddy_task *task;
	size_t top;

	if (!low)
		return NULL;
	top = size - sizeof(*task) - loop->colour * COLOUR_STEP;
	top &= ~(size_t)63;
	loop->colour = (loop->colour + 1) % COLOURS;
	task = (struct eddy_task *)(low + top);
	*task = (struct eddy_task){ .low = low };
	eddyi_count(loop->stats.tasks_pooled, 1);
	eddyi_ctx_init(&task->ctx, low, top, task_main, task);
	return task;
}

struct eddy_task *eddyi_task_take(struct eddy_loop *loop, const char *name, eddy_task_fn *fn,
				  void *arg)
{
	struct eddy_node *node = eddy_list_shift(&loop->idle);
	struct eddy_task *task;

	if (!node)
		loop->trimmed_count -= (node = eddy_list_shift(&loop->trimmed)) != NULL;
	if (node) {
		task = eddy_of(node, struct eddy_task, queued);
		if (EDDYI_ASAN)
			eddyi_ctx_reset(&task->ctx, task_main, task);
	} else {
		task = task_new(loop);
		if (!task)
			return NULL;
	}
	task->fn = fn;
	task->arg = arg;
	task->name = name;
	task->label = NULL;
	task->opened = NULL;
	task->before_suspend = NULL;
	task->ended = false;
	task->track = 0;
	task->id = ++loop->last_task_id;
	eddyi_count(loop->stats.tasks_pooled, -1);
	eddyi_count(loop->stats.tasks, 1);
	eddyi_count(loop->stats.tasks_spawned, 1);
	return task;
}

/* Return an ended task's stack to the pool. */
static void put(struct eddy_loop *loop, struct eddy_task *task)
{
	task->idle_since_ns = loop->now_ns;
	task->owner = task->scope = NULL;
	eddyi_count(loop->stats.tasks, -1);
	eddyi_count(loop->stats.tasks_pooled, 1);
	eddy_list_prepend(&loop->idle, &task->queued);
#if EDDYI_ASAN
	__asan_poison_memory_region(task->ctx.low, task->ctx.size);
#endif
	if (!eddy_timer_is_armed(&loop->trim_timer))
		eddy_timer_arm(&loop->trim_timer, loop->now_ns + TRIM_AFTER);
}

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

static void trim(struct eddy_loop *loop, struct eddy_task *task)
{
	char *low = task->low;

	eddyi_task_stack_used(loop, task);
	if (loop->trimmed_count >= TRIMMED_MAX && !EDDYI_ASAN) {
		struct eddyi_ctx ctx = task->ctx;

		if (eddyi_stacks_put(&loop->stacks, low)) {
			eddyi_ctx_deinit(&ctx);
			eddyi_count(loop->stats.tasks_pooled, -1);
			return;
		}
	}
	if (!EDDYI_ASAN)
		eddyi_stack_give_back(low, low + loop->stacks.size - TRIM_KEEP);
	eddy_list_prepend(&loop->trimmed, &task->queued);
	loop->trimmed_count++;
}

/* The pool is used from the front, so stacks that have been idle for long are at the back. */
void eddyi_task_trim(struct eddy_timer *timer)
{
	struct eddy_loop *loop = eddy_of(timer, struct eddy_loop, trim_timer);

	for (unsigned i = 0; !eddy_list_is_empty(&loop->idle); i++) {
		struct eddy_task *task = eddy_of(loop->idle.prev, struct eddy_task, queued);
		uint64_t at = task->idle_since_ns + TRIM_AFTER;

		if (i == TRIM_BATCH || at > loop->now_ns) {
			/* Pause in any case: each expiry of the timer costs a turn. */
			if (at < loop->now_ns + TRIM_PAUSE)
				at = loop->now_ns + TRIM_PAUSE;
			eddy_timer_arm(timer, at);
			return;
		}
		eddy_list_remove(&task->queued);
		trim(loop, task);
	}
}

void eddyi_task_deinit_idle(struct eddy_loop *loop)
{
	struct eddy_node *node;

	while ((node = eddy_list_shift(&loop->idle)) || (node = eddy_list_shift(&loop->trimmed)))
		eddyi_ctx_deinit(&eddy_of(node, struct eddy_task, queued)->ctx);
}

static void run_on_stack(struct eddy_loop *loop, struct eddy_task *task)
{
	void (*fn)(void *arg) = loop->on_stack.fn;

	loop->on_stack.fn = NULL;
	loop->running = NULL;
	loop->on_stack.task = task;
	loop->on_stack.base = __builtin_frame_address(0);
	fn(loop->on_stack.arg);
	loop->on_stack.task = NULL;
	loop->running = task;
	eddyi_ctx_switch(&loop->ctx, &task->ctx, false);
}

static void end(struct eddy_loop *loop, struct eddy_task *task)
{
	struct eddy_scope *owner = task->owner;
	struct eddyi_told told = task->told;
	int result = task->result;

	eddyi_assert_at(task->scope_where, task->scope == owner,
			"task \"%s\" returned inside the scope that it begins here: call "
			"eddy_scope_end() on every path",
			task->name);
	EDDYI_USDT(task__end, loop->id, task->id, task->name, result);
	eddyi_tell(loop, ended, task);
	eddy_list_remove(&task->inside);
	put(loop, task);
	if (told.fn)
		told.fn(told.arg, result);
	eddyi_scope_task_ended(owner, result);
}

void eddyi_task_back(struct eddy_loop *loop, struct eddy_task *task)
{
	while (loop->on_stack.fn)
		run_on_stack(loop, task);
	loop->running = NULL;
	if (!task->ended) {
		eddyi_tell(loop, back, task->waiter);
		return;
	}
	/* First, so that the tasks that its end wakes are attributed to this task. */
	end(loop, task);
	eddyi_tell(loop, back, NULL);
}

void eddy_on_loop_stack(void (*fn)(void *arg), void *arg)
{
	struct eddy_loop *loop = eddy_loop_self();

	if (!loop || !loop->running) {
		fn(arg);
		return;
	}
	loop->on_stack.fn = fn;
	loop->on_stack.arg = arg;
	eddyi_ctx_switch(&loop->running->ctx, &loop->ctx, false);
}

void eddyi_require_task(const char *function)
{
	eddyi_task_for(NULL, function);
}

void eddyi_task_set_label(const char *label)
{
	struct eddy_task *task = eddy_task_self();

	if (task)
		task->label = label;
}

const char *eddyi_task_label(void)
{
	const struct eddy_task *task = eddy_task_self();

	return task ? task->label : NULL;
}

struct eddy_task *eddy_task_self(void)
{
	struct eddy_loop *loop = eddy_loop_self();

	return loop ? loop->running : NULL;
}

/* ASan may keep locals outside of the stack, to detect uses after their function's return. Look among
 * those of a stopped task, or of the current flow if it is NULL. */
static bool is_in_fake_stack(const struct eddy_task *stopped, const void *ptr)
{
#if EDDYI_ASAN
	void *fake = stopped ? stopped->ctx.fiber : __asan_get_current_fake_stack();

	return __asan_addr_is_in_fake_stack(fake, (void *)ptr, NULL, NULL) != NULL;
#else
	(void)stopped;
	(void)ptr;
	return false;
#endif
}

/* Not inlined: the frame address must be below the caller's locals. */
__attribute__((noinline)) bool eddyi_task_owns(const void *ptr)
{
	const struct eddy_loop *loop = eddy_loop_self();
	const struct eddy_task *task = loop ? loop->running : NULL;
	const char *at = ptr;

	if (!loop || (!task && !loop->on_stack.task))
		return false;
	if (is_in_fake_stack(NULL, ptr))
		return true;
	if (!task) {
		task = loop->on_stack.task;
		if ((at >= (const char *)__builtin_frame_address(0) && at < loop->on_stack.base) ||
		    is_in_fake_stack(task, ptr))
			return true;
	}
	return at >= (const char *)task->low && at < (const char *)task->low + loop->stacks.size;
}

const char *eddy_task_name(const struct eddy_task *task)
{
	return task->name;
}
