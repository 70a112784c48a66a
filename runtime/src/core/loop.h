/* loop.h: a loop: a thread with its ring, ready queue and clock. */
#ifndef EDDYI_LOOP_H
#define EDDYI_LOOP_H

#include "base/panic.h"
#include "stack.h"
#include "switch.h"

#include <eddy/buffers.h>
#include <eddy/internal/loop.h>
#include <eddy/list.h>
#include <eddy/op.h>
#include <eddy/scope.h>
#include <eddy/task.h>
#include <eddy/timer.h>
#include <eddy/transfer.h>
#include <eddy/internal/usdt.h>
#include <errno.h>
#include <liburing.h>
#include <stdatomic.h>

struct eddyi_member;
struct eddyi_executor;
struct eddyi_guest;
struct eddyi_waiter;

#define EDDYI_OP_BUCKETS 1024

/* A pairing heap of timers, the earliest on top. */
struct eddyi_heap {
	struct eddy_timer *top; /* NULL when empty */
	size_t count;
};

/* A suspicion that the loop is stuck, of deadlock.c. */
struct eddyi_suspicion {
	void (*drop)(struct eddy_loop *loop);
};

struct eddy_loop {
	struct io_uring ring; /* the queues of the executor */
	const struct eddyi_executor *executor;
	void *executor_state;
	struct eddy_node registered;
	unsigned id; /* unique within the process, never reused */
	pid_t tid;
	bool confined;
	uint64_t last_task_id;
	struct eddyi_ctx ctx; /* the thread's own stack */
	uint32_t hooked;      /* hooks that guests have, see guest.h */
	struct eddy_task *running;
	struct eddy_node ready;
	struct eddy_node idle;    /* pooled tasks, the most recently used first */
	struct eddy_node trimmed; /* pooled for longer; their pages were returned to the kernel */
	size_t trimmed_count;
	struct eddyi_stacks stacks;
	struct eddyi_heap timers;
	struct eddy_timer trim_timer;
	uint64_t now_ns;   /* the time of this turn */
	bool now_is_rough; /* no timer is armed: now_ns is from the coarse clock, some ms late */
	bool firing;       /* timers; newly armed ones wait for the next turn */
	struct eddy_scope root;
	const char *name;

	size_t ops; /* started and not completed, including internal ones */
	size_t own_ops;
	struct eddy_node ops_by_fd[EDDYI_OP_BUCKETS];
	struct eddy_node ops_of_two;    /* ops with a second descriptor */
	struct eddy_node closing;       /* tasks in close that wait for ops of their descriptor */
	struct eddy_node missed;        /* ops whose cancel missed and will be repeated */
	struct eddy_timer repeat_timer; /* armed while `missed` is not empty */
	uint64_t repeat_ns;             /* delay before the next repeat */
	size_t outside;                 /* tasks that a thread without a loop is going to wake */
	struct eddyi_at_end *at_end;
	struct eddyi_member *member; /* of its group of loops; NULL for none */
	struct eddyi_guest *guests;  /* the last attached one; NULL: none */

	/* A function that a task wants to run on the loop's stack. */
	struct {
		void (*fn)(void *arg);
		void *arg;
		struct eddy_task *task; /* set while it runs */
		const char *base;       /* its frames are below */
	} on_stack;

	/* Used by other threads. `sleeping` is true from before the last look at `messages` until
	 * the wait for the ring has returned. */
	_Atomic(struct eddy_message *) messages;
	atomic_uint posting; /* threads inside eddy_loop_post() */
	atomic_bool sleeping;
	int wake_fd;
	uint64_t wake_count;
	struct eddy_op wake_op;
	bool by_ring; /* wake other loops by an entry on this ring, else through their wake_fd */

	unsigned colour; /* staggers the tops of stacks over different cache sets */
	struct eddyi_pipes *pipes;
	struct eddyi_buffers *buffers; /* its own group; created on first use */
	unsigned last_group;
	struct eddy_node paused_acceptors; /* until a descriptor is closed */
	struct eddy_node at_rest; /* without an op; notified when their descriptor is closed */
	void *scratch;     /* target of reads that warm a file; may be overwritten at any time */
	char *copy_buffer; /* of technique.c */
	struct eddy_transfer_options transfer_options; /* defaults filled in */
	struct eddy_transfer_stats transfer_stats;
	uint64_t slow_write_at;       /* eddy_now() when a disk last blocked for long; 0: never */
	struct eddy_loop_stats stats; /* by eddyi_count(); derived values are not stored */

	void *fault_stack;

	struct eddyi_stall *stall; /* NULL: no stall detection */
	atomic_bool waiting;       /* blocked in the kernel for an event */

	struct eddyi_suspicion *suspicion; /* NULL: none */
	bool is_stuck;                     /* by deadlock.c, with the registry locked */

	/* Guarded by a lock of dump_all.c. */
	struct {
		struct eddy_message question;
		bool is_asked; /* until it is delivered */
	} dump;
};

/* Add to a counter that only this thread writes and any thread may read: no locked instruction. */
#define eddyi_count(field, by) __atomic_store_n(&(field), (field) + (by), __ATOMIC_RELAXED)

/* NULL if no loop runs. Initial-exec: two instructions, not a call, also in the shared library. */
extern _Thread_local struct eddy_loop *eddyi_this_loop __attribute__((tls_model("initial-exec")));

/* This process was forked while the parent ran a loop, which rules out a loop here. */
extern bool eddyi_loop_was_forked;

/* Set while this thread runs a job of eddy_offload() or the like, which must not suspend. */
extern _Thread_local bool eddyi_in_job __attribute__((tls_model("initial-exec")));

/* Panic with the reason. The parameters are those of eddyi_panic_of(). */
_Noreturn void eddyi_loop_is_missing(const char *where, const char *function);
_Noreturn void eddyi_task_is_missing(const char *where, const char *function);

/* Get the loop of this thread. Panics if there is none. The public function that calls it is named, or
 * its caller's place, `where`. */
#define eddyi_loop() eddyi_loop_for(NULL, __func__)
#define eddyi_loop_at(where) eddyi_loop_for(where, NULL)
static inline struct eddy_loop *eddyi_loop_for(const char *where, const char *function)
{
	struct eddy_loop *loop = eddyi_this_loop;

	if (__builtin_expect(!loop, 0))
		eddyi_loop_is_missing(where, function);
	return loop;
}

/* Get the running task. Panics if there is none. */
#define eddyi_task() eddyi_task_for(NULL, __func__)
#define eddyi_task_at(where) eddyi_task_for(where, NULL)
static inline struct eddy_task *eddyi_task_for(const char *where, const char *function)
{
	struct eddy_task *task = eddyi_loop_for(where, function)->running;

	if (__builtin_expect(!task, 0))
		eddyi_task_is_missing(where, function);
	return task;
}

/* Add a duration to a time; EDDY_NEVER on overflow. */
static inline uint64_t eddyi_time_after(uint64_t from_ns, uint64_t duration_ns)
{
	uint64_t at;

	return __builtin_add_overflow(from_ns, duration_ns, &at) ? EDDY_NEVER : at;
}

/* Note that a message or signal moves the loop on: it is not stuck. */
static inline void eddyi_loop_unstick(struct eddy_loop *loop)
{
	if (loop->suspicion)
		loop->suspicion->drop(loop);
}

/* Make a sleeping loop look at its messages. Any thread may call it. */
void eddyi_loop_wake(struct eddy_loop *loop);

/* Set the loop's clock to the precise time. */
void eddyi_loop_tick(struct eddy_loop *loop);

/* Submit queued entries and collect completions, without waiting or dispatching. */
void eddyi_loop_enter(struct eddy_loop *loop);

/* Check the result of an io_uring_enter(2) made elsewhere. */
void eddyi_loop_check_enter(int r);

/* ---- timers ---- */

void eddyi_heap_insert(struct eddyi_heap *heap, struct eddy_timer *timer);
void eddyi_heap_remove(struct eddyi_heap *heap, struct eddy_timer *timer);

/* ---- messages ---- */

/* Start to watch wake_fd, so that other threads can wake the loop. */
void eddyi_message_begin(struct eddy_loop *loop);

/* Deliver all posted messages, the oldest first. */
void eddyi_message_deliver_all(struct eddy_loop *loop);

/* ---- all loops of the process, for reports and debuggers ---- */

/* Add and remove a loop, at its start and end. The registry must be locked for _remove, so that the
 * loop's counters are in exactly one of the sums of live and ended loops. */
void eddyi_registry_add(struct eddy_loop *loop);
void eddyi_registry_remove(struct eddy_loop *loop);

/* Wake the loop with this id, if it still runs. */
void eddyi_registry_wake(unsigned id);

/* Keep loops from starting and ending until _unlock. Fields of a loop that are not atomic may be
 * read by its own thread only.
 * Return: the list of loops, linked by eddy_loop.registered, the oldest first. */
struct eddy_node *eddyi_registry_lock(void);
void eddyi_registry_unlock(void);

/* Register the fork handler, which detaches a child from its parent's loop. Called by every loop
 * before it creates its ring. Code with threads, locks or files of its own registers its own
 * pthread_atfork() handler. */
void eddyi_fork_watch(void);

#endif
