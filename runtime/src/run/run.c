/* A loop's life, and its turns: tasks, messages, the kernel, timers, completions. */
#include "chaos/chaos.h"
#include "core/fault.h"
#include "core/executor.h"
#include "core/loop.h"
#include "core/scope.h"
#include "core/op.h"
#include "core/wait.h"
#include "core/guest.h"
#include "run.h"
#include "report/report.h"
#include "base/standard.h"
#include "base/thread.h"
#include "transfer/technique.h"
#include "timeline/timeline.h"

#include <eddy/internal/log.h>
#include <eddy/internal/outside.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define TARGET "eddy::loop"
#define STACK_SIZE_DEFAULT (256 * EDDY_KIB)
#define STACK_SIZE_MIN (32 * EDDY_KIB)
#define STACK_SIZE_MAX EDDY_GIB
#define SQ_ENTRIES_DEFAULT 1024
/* Limit of each of the two kinds of kernel worker threads: for cold files and slow disks. */
#define IO_WORKERS_DEFAULT 8
#define IO_WORKERS_MAX 1024
/* After this many resumptions or this time the loop enters the kernel again. */
#define TURN_RESUMPTIONS 64
#define TURN_NS EDDY_MS
/* The most that the coarse clock lags: a tick of the slowest kernel. */
#define ROUGH_NS (10 * EDDY_MS)
/* Limit of one wait, a day; longer ones are continued. */
#define WAIT_MAX (86400 * EDDY_SECOND)

static const struct eddy_loop_options defaults;

/* Precise enough for the times since when tasks wait, at a quarter of the price of the precise
 * clock, which is a tenth of a turn's. */
static void tick_roughly(struct eddy_loop *loop)
{
	uint64_t now = eddyi_clock(CLOCK_MONOTONIC_COARSE);

	/* The coarse clock may be behind a time read earlier. */
	if (now > loop->now_ns)
		loop->now_ns = now;
	loop->now_is_rough = true;
}

static void wait_for_completions(struct eddy_loop *loop)
{
	uint64_t left = EDDY_NEVER;
	uint64_t at = loop->timers.top ? loop->timers.top->at_ns : EDDY_NEVER;
	bool due = false;
	int r;

	if (__builtin_expect(loop->ops == loop->own_ops, 0)) {
		uint64_t look_at =
			(uint64_t)eddyi_outside_act("deadlock", eddyi_deadlock_look(loop));

		if (look_at < at)
			at = look_at;
	}
	if (at != EDDY_NEVER) {
		uint64_t now = eddy_now();

		left = at > now ? at - now : 0;
		/* A wait with a zero timeout takes 24 us: the kernel sets a timer and sleeps. */
		due = left == 0;
		/* The kernel adds its clock, which must not overflow. */
		if (left > WAIT_MAX)
			left = WAIT_MAX;
	}
	eddyi_count(loop->stats.enters, 1);
	atomic_store_explicit(&loop->waiting, true, memory_order_relaxed);
	atomic_store(&loop->sleeping, true);
	if (due || atomic_load(&loop->messages) || eddyi_ask(loop, hold))
		r = loop->executor->enter(loop);
	else
		r = loop->executor->wait(loop, left);
	atomic_store_explicit(&loop->sleeping, false, memory_order_relaxed);
	atomic_store_explicit(&loop->waiting, false, memory_order_relaxed);
	eddyi_loop_check_enter(r);
}

/* With thousands of tasks ready, a task's structure and stack have left the caches since it last
 * ran. So while a task runs, prefetch the next one's stack, and the structure of the one after it,
 * which points to its stack. For the list's head both prefetches are useless and harmless. */
static void prefetch_next(const struct eddy_node *next)
{
	const char *after = (const char *)eddy_of(next->next, struct eddy_task, queued);
	/* An integer: the stack pointer of a stack that was never entered is not valid. */
	uintptr_t stack = (uintptr_t)eddy_of(next, struct eddy_task, queued)->ctx.sp;

	__builtin_prefetch(after);
	__builtin_prefetch(after + 64);
	__builtin_prefetch((const void *)stack);
	__builtin_prefetch((const void *)(stack + 64));
	__builtin_prefetch((const void *)(stack + 128));
}

/* Run `task` until it suspends or ends. Inlined, as eddyi_ctx_switch_hot() requires. */
static inline __attribute__((always_inline)) void resume(struct eddy_loop *loop,
							 struct eddy_task *task)
{
	loop->running = task;
	eddyi_count(loop->stats.resumptions, 1);
	EDDYI_USDT(task__run, loop->id, task->id, task->name);
	eddyi_tell(loop, run, task);
	eddyi_ctx_switch_hot(&loop->ctx, &task->ctx);
	if (__builtin_expect(task->ended || loop->on_stack.fn, 0))
		eddyi_task_back(loop, task);
	else
		eddyi_tell(loop, back, task->waiter);
	loop->running = NULL;
}

static void run_ready(struct eddy_loop *loop)
{
	uint64_t until = loop->now_ns + TURN_NS + (loop->now_is_rough ? ROUGH_NS : 0);

	for (unsigned i = 1; i <= TURN_RESUMPTIONS; i++) {
		struct eddy_node *node = eddy_list_shift(&loop->ready);

		if (!node)
			return;
		prefetch_next(loop->ready.next);
		resume(loop, eddy_of(node, struct eddy_task, queued));
		if (i % 8 == 0) {
			uint64_t now = eddy_now();

			if (now > until)
				return;
			if (until > now + TURN_NS)
				until = now + TURN_NS;
		}
	}
}

/* Inlined since each turn calls it. */
static inline __attribute__((always_inline)) void fire_timers(struct eddy_loop *loop)
{
	uint64_t fired;

	if (!loop->timers.top) {
		tick_roughly(loop);
		return;
	}
	eddyi_loop_tick(loop);
	fired = loop->stats.timers_fired;
	loop->firing = true;
	while (loop->timers.top && loop->timers.top->at_ns <= loop->now_ns) {
		struct eddy_timer *timer = loop->timers.top;

		eddyi_heap_remove(&loop->timers, timer);
		eddyi_count(loop->stats.timers_fired, 1);
		timer->fire(timer);
	}
	loop->firing = false;
	eddyi_tell(loop, worked, EDDYI_WORK_TIMERS, loop->stats.timers_fired - fired);
}

static void turn(struct eddy_loop *loop)
{
	uint64_t messages = loop->stats.messages;

	eddyi_count(loop->stats.turns, 1);
	run_ready(loop);
	if (atomic_load_explicit(&loop->messages, memory_order_relaxed)) {
		eddyi_message_deliver_all(loop);
		eddyi_tell(loop, worked, EDDYI_WORK_MESSAGES, loop->stats.messages - messages);
	}
	if (eddy_list_is_empty(&loop->ready) && loop->root.running)
		wait_for_completions(loop);
	else
		eddyi_loop_enter(loop);
	eddyi_tell(loop, worked, EDDYI_WORK_KERNEL, io_uring_cq_ready(&loop->ring));
	eddyi_timeline_turn(loop);
	fire_timers(loop);
	eddyi_op_dispatch(loop);
}

int eddyi_loop_set_io_workers_max(unsigned max)
{
	struct eddy_loop *loop = eddyi_loop();

	if (max > IO_WORKERS_MAX)
		return -EINVAL;
	return loop->executor->limit_workers(loop, max ? max : IO_WORKERS_DEFAULT);
}

static const char *name_of(const struct eddy_loop_options *options)
{
	return options->name ? options->name : "main";
}

static size_t stack_size_of(const struct eddy_loop_options *options)
{
	return options->stack_size ? options->stack_size : STACK_SIZE_DEFAULT;
}

static bool are_allowed(const struct eddy_loop_options *options)
{
	size_t stack_size = stack_size_of(options);

	return stack_size >= STACK_SIZE_MIN && stack_size <= STACK_SIZE_MAX &&
	       options->io_workers_max <= IO_WORKERS_MAX;
}

static int loop_init(struct eddy_loop *loop, const struct eddy_loop_options *options)
{
	int r;

	eddyi_assert(!eddyi_this_loop, "eddy_run() inside eddy_run()");
	eddyi_assert(
		!eddyi_loop_was_forked,
		"eddy_run() in a child of fork(), whose parent was running a loop: fork before "
		"eddy_run()");
	if (!are_allowed(options))
		return -EINVAL;
	*loop = (struct eddy_loop){
		.name = name_of(options),
		.tid = gettid(),
		.confined = options->confined,
	};
	eddyi_debug_begin();
	eddyi_fork_watch();
	__atomic_store_n(&eddyi_panic_label, eddyi_task_label, __ATOMIC_RELAXED);
	r = eddyi_chaos_attach(loop);
	if (r < 0)
		return r;
	loop->wake_fd = eddyi_eventfd_now(0, EFD_CLOEXEC);
	if (loop->wake_fd < 0) {
		r = -errno;
		eddyi_chaos_detach(loop);
		return r;
	}
	r = eddyi_executor_begin(loop,
				 options->sq_entries ? options->sq_entries : SQ_ENTRIES_DEFAULT);
	if (r < 0) {
		eddyi_close_now(loop->wake_fd);
		eddyi_chaos_detach(loop);
		return r;
	}
	/* Without a limit if the kernel refuses it. */
	loop->executor->limit_workers(loop, options->io_workers_max ? options->io_workers_max :
								      IO_WORKERS_DEFAULT);
	eddy_list_init(&loop->ready);
	eddy_list_init(&loop->idle);
	eddy_list_init(&loop->trimmed);
	eddy_list_init(&loop->closing);
	eddyi_op_init_loop(loop);
	eddy_list_init(&loop->ops_of_two);
	eddy_list_init(&loop->paused_acceptors);
	eddy_list_init(&loop->at_rest);
	for (size_t i = 0; i < EDDYI_OP_BUCKETS; i++)
		eddy_list_init(&loop->ops_by_fd[i]);
	eddyi_transfer_options_init(&loop->transfer_options);
	eddyi_stacks_init(&loop->stacks, stack_size_of(options));
	eddyi_ctx_init_thread(&loop->ctx);
	eddyi_scope_init_root(&loop->root);
	loop->trim_timer.fire = eddyi_task_trim;
	eddyi_fault_watch();
	loop->fault_stack = eddyi_fault_stack_give();
	eddyi_loop_tick(loop);
	eddyi_this_loop = loop;
	eddyi_message_begin(loop);
	if (!options->no_dump_signal)
		eddyi_dump_signal_begin(loop);
	eddyi_registry_add(loop);
	if (!eddyi_is_replay())
		eddyi_stall_begin(loop, options->stall_ns);
	eddyi_chaos_begin(loop);
	eddyi_timeline_begin(loop);
	EDDYI_USDT(loop__start, loop->id, loop->name);
	return 0;
}

static void loop_deinit(struct eddy_loop *loop)
{
	eddyi_stall_end(loop);
	eddyi_registry_lock();
	eddyi_stats_keep(loop);
	eddyi_registry_remove(loop);
	eddyi_registry_unlock();
	/* Messages posted from here on may come after the last entry into the kernel. */
	loop->by_ring = false;
	eddy_op_cancel(&loop->wake_op);
	/* Timers no longer fire: their owners may be gone. */
	while (loop->own_ops) {
		eddyi_op_repeat_cancels(loop);
		wait_for_completions(loop);
		eddyi_op_dispatch(loop);
	}
	eddyi_assert(loop->ops == 0,
		     "%zu ops of eddy_op_start() are still pending at the end of the loop \"%s\"",
		     loop->ops, loop->name);
	eddyi_message_deliver_all(loop);
	/* The last eddy_loop_post() may not have returned yet. */
	while (atomic_load(&loop->posting))
		eddyi_thread_yield();
	while (loop->at_end) {
		struct eddyi_at_end *at_end = loop->at_end;

		loop->at_end = at_end->next;
		at_end->fn(at_end);
	}
	eddyi_dump_signal_end(loop);
	EDDYI_USDT(loop__end, loop->id, loop->name);
	eddyi_timeline_end(loop);
	free(loop->scratch);
	free(loop->copy_buffer);
	eddy_timer_disarm(&loop->trim_timer);
	eddyi_task_deinit_idle(loop);
	eddyi_stacks_deinit(&loop->stacks);
	eddyi_ctx_deinit(&loop->ctx);
	loop->executor->end(loop);
	eddyi_close_now(loop->wake_fd);
	eddyi_chaos_detach(loop);
	eddyi_fault_stack_drop(loop->fault_stack);
	eddyi_this_loop = NULL;
}

struct root {
	eddy_task_fn *fn;
	void *arg;
	int result;
	bool began;
};

static int root_main(void *arg)
{
	struct root *root = arg;

	root->began = true;
	root->result = root->fn(root->arg);
	return 0;
}

static int run(const struct eddy_loop_options *options, struct root *root)
{
	struct eddy_loop *loop;
	int r;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	eddyi_standard_open();
	loop = malloc(sizeof(*loop));
	if (!loop)
		return -ENOMEM;
	r = loop_init(loop, options);
	if (r < 0) {
		free(loop);
		return r;
	}
	r = (eddy_scope_spawn)(&loop->root, loop->name, root_main, root, "eddy_run()");
	while (loop->root.running)
		turn(loop);
	loop_deinit(loop);
	free(loop);
	return r < 0 ? r : root->result;
}

const char *eddyi_run_advice(const struct eddy_loop_options *options, int error)
{
	if (are_allowed(options))
		return eddy_ring_advice(error);
	return "an option is out of range: .stack_size is 32 KiB to 1 GiB, .io_workers_max at most 1024";
}

int eddyi_run(const struct eddy_loop_options *options, eddy_task_fn *fn, void *arg)
{
	return run(options ? options : &defaults, &(struct root){ .fn = fn, .arg = arg });
}

/* Check whether a subscriber has heard of a bad EDDY_CHAOS. */
static bool has_been_said(int error)
{
	return error == -EINVAL && eddyi_chaos_advice() &&
	       eddy_log_is_enabled(EDDY_LOG_ERROR, "eddy::chaos");
}

int eddy_run(const struct eddy_loop_options *options, eddy_task_fn *fn, void *arg)
{
	struct root root = { .fn = fn, .arg = arg };
	int r;

	if (!options)
		options = &defaults;
	r = run(options, &root);
	if (!root.began && !has_been_said(r))
		eddyi_log_failure(TARGET, "can't start the loop \"%s\": %s", name_of(options),
				  eddyi_run_advice(options, r));
	return r;
}
