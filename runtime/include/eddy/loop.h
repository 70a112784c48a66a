/* eddy/loop.h: a loop is one thread with an io_uring, and the tasks that run on it.
 *
 *     return eddy_run(NULL, hello, "world");
 *
 * Everything of a loop belongs to its thread. Other threads reach it only with messages.
 */
#ifndef EDDY_LOOP_H
#define EDDY_LOOP_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_loop;

/* Run as a task. Return: 0 or above; -errno, a failure that the task's scope records. */
typedef int eddy_task_fn(void *arg);

struct eddy_loop_options {
	/* Address space of a task's stack in bytes; default 256 KiB; 32 KiB to 1 GiB. Below it is a
	 * guard of 64 KiB, which larger local variables skip unless compiled with
	 * -fstack-clash-protection. */
	size_t stack_size;
	unsigned sq_entries; /* size of the submission queue; default 1024 */
	/* Limit of kernel workers (io_uring's threads for calls that block): for calls on regular
	 * files, and again for all others; default 8, at most 1024. */
	unsigned io_workers_max;
	/* Nanoseconds that a task or completion function may hold the loop. Beyond, a WARN record
	 * of target "eddy::stall" has a backtrace, and a second one follows at the end. SIGURG, or
	 * a real-time signal if SIGURG is in use, interrupts the thread. Default 0: no check;
	 * 20 ms with EDDY_DEBUG in the environment (docs/seeing.md). */
	uint64_t stall_ns;
	/* Leave SIGQUIT alone. By default the process's first loop answers it with a dump of all
	 * loops on stderr while it runs, unless the program handles, ignores or blocks it. A handler
	 * with SA_RESTART wakes a thread that prints, also while a task holds the loop. */
	bool no_dump_signal;
	/* Make the ring reject with EACCES what Landlock can't check: new sockets (eddy_socket()),
	 * extended attributes by path, commands of devices, and operations newer than this library.
	 * Every loop needs it for eddy_sandbox_enter() of eddy/sandbox.h. Default: everything that
	 * the kernel can do. */
	bool confined;
	const char *name; /* of the loop and its root task; default "main"; borrowed */
};

/* Run `fn(arg)` as the root task of a new loop on this thread, until it and every task below it
 * have ended. Its effects on the process:
 *    - SIGPIPE and SIGXFSZ are ignored from then on: a write to a broken connection returns -EPIPE,
 *      a write beyond `ulimit -f` returns -EFBIG.
 *    - Closed descriptors among 0 to 2 are opened on /dev/null, once a process, so that no
 *      connection becomes stderr.
 *    - If SIGSEGV or SIGBUS has no handler, it gets one that prints the task's name, or reports a
 *      stack overflow, before the process dies.
 *    - If no task of any loop can ever run again (deadlock), it writes a dump (eddy/dump.h) and
 *      aborts. Threads and signal handlers that eddy does not know disable this check.
 *    - A child of fork(2) has no loop: it execs or ends by _exit(), and functions that need a loop
 *      abort. It may run loops of its own if none ran when it was forked.
 * If there is no loop, an ERROR record says why, and what to do; without a subscriber, on stderr.
 * Return: what `fn` returned; -EPERM or -ENOSYS if the kernel refuses io_uring (see
 * eddy_ring_advice()); -ENOMEM; -EINVAL if an option is out of range, or EDDY_CHAOS in the
 * environment is invalid (docs/chaos.md); -errno. */
EDDY_API int eddy_run(const struct eddy_loop_options *options, eddy_task_fn *fn, void *arg);

/* Explain in a sentence why io_uring failed with `error` here, and what to type. Return:
 * static memory. */
EDDY_API const char *eddy_ring_advice(int error);

/* Read the monotonic clock. Any thread may call it. */
EDDY_API uint64_t eddy_now(void);

/* Get the monotonic time, as of this loop's current turn (a round of tasks and completions). Costs
 * nothing, but the first call in a turn reads the clock if no timer is armed. */
EDDY_API uint64_t eddy_loop_now(void);

/* Run `fn(arg)` on the thread's own stack, for library code (crypto, encoders) that needs more than
 * a task's stack. `fn` must not suspend. */
EDDY_API void eddy_on_loop_stack(void (*fn)(void *arg), void *arg);

/* Get the loop of this thread. Return: NULL if it runs none. */
EDDY_API struct eddy_loop *eddy_loop_self(void);

/* Counters of a loop. */
struct eddy_loop_stats {
	uint64_t turns;         /* rounds of tasks, messages, timers and completions */
	uint64_t enters;        /* calls of the kernel to submit or to wait */
	uint64_t resumptions;   /* switches to a task */
	uint64_t tasks;         /* alive now */
	uint64_t tasks_spawned; /* total */
	uint64_t tasks_pooled;  /* idle stacks that keep some memory */
	uint64_t ops;           /* in the kernel now, the runtime's own included */
	uint64_t ops_started;   /* total */
	uint64_t ops_completed; /* total */
	uint64_t ops_cancelled; /* requests to cancel one */
	uint64_t ops_worked;    /* that always use a kernel worker: splice, fsync, new files, … */
	uint64_t io_workers_max; /* limit of its kernel workers of both kinds; 0: unknown */
	uint64_t cq_overflows;   /* turns that found the completion queue overflowed */
	uint64_t messages;       /* delivered */
	uint64_t timers_fired;   /* those of sleeps, scopes and timeouts included */
	uint64_t stalls;         /* times that a task held the loop for longer than .stall_ns */
	uint64_t offloaded;      /* tasks that wait for the offload pool now */
	/* Deepest stack use found, in bytes rounded up to pages. Measured by dumps, by
	 * eddy_task_stack_used() and when pooled stacks are trimmed. */
	uint64_t stack_used_max;
	char stack_used_by[64]; /* the task that used it */
};

/* Read the counters of a loop; NULL means this thread's. Any thread may call it while the loop
 * exists. Each number is exact; those of another thread's loop may be from different moments. */
EDDY_API struct eddy_loop_stats eddy_loop_stats(const struct eddy_loop *loop);

/* A message to a loop. It belongs to the loop from the post until `deliver` is called with it, on
 * the loop's own stack. */
struct eddy_message {
	struct eddy_message *next;
	void (*deliver)(struct eddy_message *message);
	bool is_recorded; /* of eddy: posted by a thread that a recording knows */
};

/* Post `message` to `loop`. Any thread may call it. Never suspends, never fails. The loop must
 * exist when this is called; it does not end before this returns. A plain thread wakes a sleeping
 * loop at once; another loop's thread wakes it at the end of its own turn. A signal handler may
 * post to the loop of its own thread and, on a thread without a loop, to any. On a loop's thread it
 * must not post to another loop: the wake-up uses this thread's ring, which the signal may have
 * interrupted. */
EDDY_API void eddy_loop_post(struct eddy_loop *loop, struct eddy_message *message);

EDDY_END_DECLS

#endif
