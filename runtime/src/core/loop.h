/* loop.h: one thread's ring, ready queue and clock. */
#ifndef EDDYI_LOOP_H
#define EDDYI_LOOP_H

#include "heap.h"
#include <eddy/internal/loop.h>
#include <eddy/list.h>
#include "base/panic.h"
#include "stack.h"
#include "switch.h"

#include <eddy/buffers.h>
#include <eddy/op.h>
#include <eddy/scope.h>
#include <eddy/task.h>
#include <eddy/transfer.h>
#include <eddy/internal/usdt.h>
#include <errno.h>
#include <liburing.h>
#include <stdatomic.h>

struct eddyi_member;
struct eddyi_chaos;
struct eddyi_tape;
struct eddyi_waiter;

#define EDDYI_OP_BUCKETS 1024

struct eddy_loop {
	struct io_uring ring;
	struct eddy_node registered; /* in the registry */
	unsigned id;                 /* no two of the process's, ever */
	pid_t tid;
	bool confined;
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
	struct eddy_node ops_of_two;    /* those that use a second descriptor */
	struct eddy_node closing;       /* closers that wait for ops of their descriptor */
	struct eddy_node missed;        /* ops whose cancel missed and is to be repeated */
	struct eddy_timer repeat_timer; /* armed while `missed` has any */
	uint64_t repeat_ns;             /* delay before the next repeat */
	size_t outside; /* tasks that a thread which is no loop's is going to wake */
	struct eddyi_at_end *at_end;
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
	struct eddyi_buffers *buffers; /* which are given back at once */
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

#endif
