/* loop.h: one thread's ring, ready queue and clock; what the files of this layer share. */
#ifndef EDDYI_LOOP_H
#define EDDYI_LOOP_H

#include "heap.h"
#include <eddy/list.h>
#include "base/panic.h"
#include "stack.h"
#include "switch.h"

#include <eddy/buffers.h>
#include <eddy/op.h>
#include <eddy/scope.h>
#include <eddy/task.h>
#include <eddy/transfer.h>
#include <eddy/usdt.h>
#include <errno.h>
#include <liburing.h>
#include <stdatomic.h>

struct eddyi_member;
struct eddyi_chaos;
struct eddyi_tape;
struct eddyi_waiter;

/* Who is told of a task's end; .fn is NULL for nobody. */
struct eddyi_told {
	void (*fn)(void *arg, int result);
	void *arg;
};

/* A task and its stack are one: they are pooled together, and the structure lies at the stack's
 * upper end.
 *
 * Invariants:
 * 1. A task is in exactly one place: running, in loop->ready, suspended with `waiter` set, or in
 *    loop->idle or loop->trimmed.
 * 2. `waiter` is set only while suspended and points into the task's own stack.
 * 3. `scope` is the innermost scope that the task is inside of; `inside` is in that scope's list.
 */
struct eddy_task {
	/* What a switch touches, in two lines of the cache. */
	struct eddy_node queued; /* in loop->ready, ->idle or ->trimmed */
	struct eddyi_ctx ctx;
	struct eddyi_waiter *waiter;
	struct eddy_scope *scope;
	void (*before_suspend)(void *arg); /* called once; NULL for nothing */
	bool ended;

	struct eddy_node inside;  /* in scope->tasks */
	struct eddy_scope *owner; /* the scope that spawned it */
	struct eddyi_told told;   /* of its end */
	void *before_suspend_arg;
	eddy_task_fn *fn;
	void *arg;
	const char *name;
	const char *where; /* it was spawned, "file.c:12" */
	uint64_t id;       /* no two of a loop's */
	uint64_t idle_since_ns;
	void *low; /* of the stack */
	int result;

	/* Of tape.c: what is of the timeline. */
	uint32_t track; /* 0: it has none yet */
	uint32_t woken_by;
	uint64_t ready_ns; /* 0: not known */
};

/* A suspended task's way of being woken, on its stack.
 *
 * Whoever first sets `woken` decides the result; everybody later leaves it alone. `cancel` is called
 * at most once, when the scope is cancelled while the task waits: it either wakes the task with
 * -ECANCELED at once, or asks the kernel to let go and leaves the waking to the completion. NULL for
 * a wait that is not cancelled. */
struct eddyi_waiter {
	struct eddy_task *task;
	void (*cancel)(struct eddyi_waiter *waiter);
	/* For the eyes of people: what is waited for ("sleep", "mutex"), which one, and since when. */
	const char *what;
	const void *on;                  /* a mutex, a channel; NULL for nothing in particular */
	struct eddy_task *const *holder; /* who has it, where that is one task; NULL */
	const struct eddy_op *op;        /* the op that is awaited; NULL for none */
	uint64_t since_ns;               /* set when the wait begins */
	int result;
	bool woken;
};

#define EDDYI_OP_BUCKETS 1024

struct eddy_loop {
	struct io_uring ring;
	struct eddy_node registered; /* in the registry */
	unsigned id;                 /* no two of the process's, ever */
	pid_t tid;
	uint64_t last_task_id;
	struct eddyi_ctx ctx;    /* the thread's own stack */
	struct eddyi_tape *tape; /* where to note down what happens; NULL: nowhere */
	struct eddy_task *running;
	struct eddy_node ready;
	struct eddy_node idle;    /* pooled tasks, the latest first */
	struct eddy_node trimmed; /* pooled for longer: their pages have been given back */
	struct eddyi_stacks stacks;
	struct eddyi_heap timers;
	struct eddy_timer trim_timer;
	uint64_t now_ns;   /* of this turn */
	bool now_is_rough; /* no timer waits: it is the kernel's coarse clock's, some ms late */
	bool firing;       /* timers; those that are armed meanwhile wait for the next turn */
	struct eddy_scope root;
	const char *name;

	size_t ops; /* started and not completed, the loop's own included */
	size_t own_ops;
	struct eddy_node ops_by_fd[EDDYI_OP_BUCKETS];
	struct eddy_node ops_of_two; /* those that use a second descriptor */
	struct eddy_node closing;    /* closers that wait for ops of their descriptor */
	size_t outside;              /* tasks that a thread which is no loop's is going to wake */
	struct eddy_at_end *at_end;
	struct eddyi_member *member; /* of the group of loops that it belongs to; NULL for none */
	struct eddyi_chaos *chaos;   /* NULL: the usual */

	/* What a task asked to be run on the loop's stack. */
	struct {
		void (*fn)(void *arg);
		void *arg;
		struct eddy_task *task; /* set while it runs */
	} on_stack;

	/* From other threads. `sleeping` is true from before the last look at `messages` until the ring
	 * has been waited for. */
	_Atomic(struct eddy_message *) messages;
	atomic_uint posting; /* threads that are inside eddy_loop_post() */
	atomic_bool sleeping;
	int wake_fd;
	uint64_t wake_count;
	struct eddy_op wake_op;
	bool by_ring; /* other loops are woken by an entry on this ring; else through their wake_fd */

	unsigned colour; /* tops of stacks are staggered so that they do not share cache sets */
	struct eddyi_pipes *pipes;
	struct eddyi_buffers *buffers;      /* which are given back at once */
	struct eddyi_buffers *lent_buffers; /* which tasks look at for as long as they like */
	unsigned last_group;
	struct eddy_node paused_acceptors; /* until a descriptor is closed */
	struct eddy_node at_rest; /* without an op now: to be told when their descriptor is closed */
	void *scratch; /* where the kernel writes bytes at any time that nobody wants, to warm a file */
	char *copy_buffer;                             /* eddyi_copy_buffer() */
	struct eddy_transfer_options transfer_options; /* filled in */
	struct eddy_transfer_stats transfer_stats;
	uint64_t slow_write_at; /* when a disk last held the loop for long: eddyi_loop()'s time; 0: never */
	struct eddy_loop_stats stats; /* by eddyi_count(); what can be derived is not kept */

	void *fault_stack;

	/* Of dump_signal.c. */
	struct eddy_op dump_op;
	int dump_fd; /* -1 where another loop answers the signal */

	/* Of stall.c. */
	struct eddyi_stall *stall; /* NULL where nobody watches */
	atomic_bool waiting;       /* in the kernel, for something to happen */

	struct eddyi_tape *own_tape; /* NULL: no timeline is recorded */

	/* Of deadlock.c. */
	bool stuck;
	uint64_t look_again_ns; /* 0: nothing to look at */
	uint64_t patience_ns;

	/* Of dump_all.c. */
	struct eddy_message dump_message;
	uint64_t dump_number;
	bool dump_posted;
};

/* Count in a field that this thread alone writes and any may read: no locked instruction. */
#define eddyi_count(field, by) __atomic_store_n(&(field), (field) + (by), __ATOMIC_RELAXED)

/* NULL where none runs. Initial-exec: two instructions instead of a call, also in the shared library. */
extern _Thread_local struct eddy_loop *eddyi_this_loop __attribute__((tls_model("initial-exec")));

/* A loop ran in the parent as this process was forked: what is left of that one stands in the way of a loop of its own. */
extern bool eddyi_loop_was_forked;

/* Panics: a broken contract. */
_Noreturn void eddyi_loop_is_missing(void);

/* The loop of this thread. Panics where none runs. */
static inline struct eddy_loop *eddyi_loop(void)
{
	struct eddy_loop *loop = eddyi_this_loop;

	if (__builtin_expect(!loop, 0))
		eddyi_loop_is_missing();
	return loop;
}

/* A task for `fn(arg)` from the pool, outside of every scope and not yet ready. NULL: no memory. */
struct eddy_task *eddyi_task_take(struct eddy_loop *loop, const char *name, eddy_task_fn *fn,
				  void *arg);

/* What eddy_task_stack_used() says, of any loop's task; the loop remembers the most. */
size_t eddyi_task_stack_used(struct eddy_loop *loop, const struct eddy_task *task);

/* Copy that, and whose it was. Any thread. */
void eddyi_stack_used_most(const struct eddy_loop *loop, struct eddy_loop_stats *stats);

/* Put an ended task's stack back into the pool. */
void eddyi_task_put(struct eddy_loop *loop, struct eddy_task *task);

/* Forget all pooled tasks; their stacks are unmapped with the loop's. */
void eddyi_task_deinit_idle(struct eddy_loop *loop);

/* Give back the pages of stacks that have been idle for a while. */
void eddyi_task_trim(struct eddy_timer *timer);

/* What is rare when a task has suspended: it has ended, or wants the loop's stack. */
void eddyi_task_back(struct eddy_loop *loop, struct eddy_task *task);

/* Make a task ready to run. */
void eddyi_task_ready(struct eddy_loop *loop, struct eddy_task *task);

/* Call what was given to eddy_task_before_suspend(). */
void eddyi_task_call_before_suspend(struct eddy_task *task);

/* Suspend the current task until somebody wakes `waiter`; its .cancel and .what are set by the
 * caller. When the scope is cancelled already and the wait can be, returns -ECANCELED at once.
 * Return: the result it was woken with. */
static inline __attribute__((always_inline)) int eddyi_wait(struct eddyi_waiter *waiter)
{
	struct eddy_loop *loop = eddyi_loop();
	struct eddy_task *task = loop->running;

	eddyi_assert(task, "a call that suspends was made outside of a task");
	if (waiter->cancel && task->scope->cancelled)
		return -ECANCELED;
	waiter->task = task;
	waiter->woken = false;
	waiter->since_ns = loop->now_ns;
	task->waiter = waiter;
	/* It waits already: what is called here may wake or cancel it. */
	if (__builtin_expect(task->before_suspend != NULL, 0))
		eddyi_task_call_before_suspend(task);
	EDDYI_USDT(task__suspend, loop->id, task->id, task->name, waiter->what);
	eddyi_ctx_switch_hot(&task->ctx, &loop->ctx);
	task->waiter = NULL;
	return waiter->result;
}

/* Wake the waiter's task with `result`, unless it has been woken. */
void eddyi_wake(struct eddyi_waiter *waiter, int result);

/* The simplest `cancel`: wake with -ECANCELED; for waiters that nobody else holds. */
void eddyi_cancel_wait(struct eddyi_waiter *waiter);

/* The time `duration_ns` after `from_ns`; EDDY_NEVER where there is none. */
static inline uint64_t eddyi_time_after(uint64_t from_ns, uint64_t duration_ns)
{
	uint64_t at;

	return __builtin_add_overflow(from_ns, duration_ns, &at) ? EDDY_NEVER : at;
}

/* Make a loop that sleeps look at its messages. Any thread. */
void eddyi_loop_wake(struct eddy_loop *loop);

/* The loop goes on, by a message or a signal: it is not stuck, as deadlock.c says. */
void eddyi_loop_unstick(struct eddy_loop *loop);

/* Turn the loop's clock to now, precisely. */
void eddyi_loop_tick(struct eddy_loop *loop);

/* Submit what is queued and let completions in, without waiting and without dispatching them. */
void eddyi_loop_enter(struct eddy_loop *loop);

/* What io_uring_enter(2) returned to whoever entered it otherwise. */
void eddyi_loop_check_enter(int r);

/* Queue a wake-up of another loop; it leaves when this one next enters the kernel. */
void eddyi_op_wake(struct eddy_loop *loop, struct eddy_loop *other);

/* The user_data of an entry that wakes another loop: the loop's id, and in the three low bits this. */
#define EDDYI_OP_TAG_WAKE 2

/* The user_data of an entry whose completion nobody waits for. */
#define EDDYI_OP_TAG_NOBODY 7

/* A free entry; a full queue is submitted first. */
struct io_uring_sqe *eddyi_op_take_sqe(struct eddy_loop *loop);

/* A length for an entry, which holds 32 bits; read(2) moves no more than this at once. */
static inline unsigned eddyi_op_len(size_t len)
{
	return len < 0x7ffff000 ? (unsigned)len : 0x7ffff000;
}

/* Whether the call of an entry that was interrupted is made again. */
bool eddyi_op_may_restart(const struct io_uring_sqe *sqe);

/* Whether the kernel leaves this entry to a worker thread whatever happens. */
bool eddyi_op_is_worked(const struct io_uring_sqe *sqe);

/* Take note of one completion. */
void eddyi_op_complete(struct eddy_loop *loop, uint64_t data, int result, unsigned flags);

/* eddy_op_start() for an op of the runtime's own: it counts neither as anybody's nor as a leak. */
void eddyi_op_start_own(struct eddy_op *op, struct io_uring_sqe *sqe);

/* Call the completion functions of what has completed. */
void eddyi_op_dispatch(struct eddy_loop *loop);

/* Cancel and await every op of `fd`, and tell those at rest; no task may be awaiting one. Suspends, and is
 * not cancelled. */
void eddyi_op_cancel_fd(int fd);

/* As eddy_scope_spawn_at(), and who is told of the task's end. */
int eddyi_scope_spawn(struct eddy_scope *scope, struct eddyi_told told, const char *name,
		      eddy_task_fn *fn, void *arg, const char *where);

/* The scope that the caller is inside of: a task's, also while it is on the loop's stack, or that of a
 * task whose work this thread does. NULL for none. */
const struct eddy_scope *eddyi_scope_self(void);

/* On a thread that is no loop's and does a task's work for it: that task's scope. */
extern _Thread_local const struct eddy_scope *eddyi_lent_scope;

/* A task of `scope` has ended with `result`. */
void eddyi_scope_task_ended(struct eddy_scope *scope, int result);

/* The loop's root scope: no parent, no host. */
void eddyi_scope_init_root(struct eddy_scope *scope);

#endif
