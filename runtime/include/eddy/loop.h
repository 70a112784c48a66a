/* eddy/loop.h: a loop is one thread's ring, and the tasks that run on it.
 *
 *     return eddy_run(NULL, hello, "world");
 *
 * Everything of a loop belongs to its thread: the others reach it by messages, and by nothing else.
 */
#ifndef EDDY_LOOP_H
#define EDDY_LOOP_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_loop;

/* What a task runs. Return: 0 or above, or -errno: a failure, which the task's scope takes note of. */
typedef int eddy_task_fn(void *arg);

struct eddy_loop_options {
	/* Address space of a task's stack in bytes; default 256 KiB; 32 KiB to 1 GiB. Below it is a guard of
	 * 64 KiB, which larger local variables step over unless -fstack-clash-protection compiles them. */
	size_t stack_size;
	unsigned sq_entries;     /* submissions that fit between two enters; default 1024 */
	unsigned io_workers_max; /* as of eddy_loop_set_io_workers_max(); default 8 */
	/* A task or completion function that holds the loop for longer is told of in a WARN record of target
	 * "eddy::stall", with a backtrace, and in another one when it lets go; default 0: nobody looks. The
	 * thread is interrupted by SIGURG, which goes unnoticed. */
	uint64_t stall_ns;
	/* Leave SIGQUIT alone. By default the process's first loop answers it with a dump of all loops on
	 * stderr, for as long as it runs, where the program neither handles, ignores nor blocks it. The loop's
	 * thread and those that are made later block it; one that was there before passes it on by a handler
	 * with SA_RESTART. */
	bool no_dump_signal;
	/* Have the ring refuse with EACCES what Landlock can't judge: sockets (eddy_socket()), attributes by path
	 * (eddy_setxattr(), eddy_getxattr()), commands of devices, and operations newer than this library.
	 * eddy_sandbox_enter() of sandbox.h wants it of every loop. Default: the ring does all that the kernel can. */
	bool confined;
	const char *name; /* of the loop and its root task; default "main"; borrowed */
};

/* Run `fn(arg)` as the root task of a new loop on this thread, until it and every task below it
 * have ended. SIGPIPE and SIGXFSZ are ignored from here on (a broken connection is -EPIPE, a file that
 * ulimit -f finds too large -EFBIG). Those of the descriptors 0 to 2 that are closed are opened to /dev/null, once a
 * process: no connection becomes its stderr.
 * Where SIGSEGV and SIGBUS have no handler they get one that names the task before the process dies of
 * them as ever: a task that runs off its stack is told so.
 * A child of fork(2) has no loop, also where its parent has one: it execs or ends by _exit(), and whatever
 * needs a loop panics there. It may run loops of its own where it was forked while none ran.
 * When no task of any loop can ever run again, the process says so with a dump (see eddy/dump.h) and
 * aborts. No such verdict comes while there are threads or signal handlers that eddy does not know.
 * Return: what `fn` returned; -errno when the loop can't be had: -EPERM and -ENOSYS when the kernel
 * refuses io_uring (eddy_ring_advice() says what to do), -ENOMEM; -EINVAL for an option that is out of
 * range, or for an EDDY_CHAOS in the environment that is not understood (docs/chaos.md). */
EDDY_API int eddy_run(const struct eddy_loop_options *options, eddy_task_fn *fn, void *arg);

/* Say in a sentence why io_uring was refused with `error` on this machine and what to type.
 * Return: a string that is never freed. */
EDDY_API const char *eddy_ring_advice(int error);

/* The monotonic clock, read now. Any thread. */
EDDY_API uint64_t eddy_now(void);

/* The monotonic clock as this loop's current turn has read it, at most a turn old. Where no timer waits a turn
 * reads it when it is first asked; else this costs nothing. */
EDDY_API uint64_t eddy_loop_now(void);

/* Run `fn(arg)` on the thread's own stack and come back: for deep library code (crypto, encoders)
 * that would not fit a task's stack. `fn` must not suspend. */
EDDY_API void eddy_on_loop_stack(void (*fn)(void *arg), void *arg);

/* The loop of this thread; NULL where none runs. */
EDDY_API struct eddy_loop *eddy_loop_self(void);

/* Limit the kernel's worker threads (io-wq) of this loop: `max` for calls on regular files, and as many for all
 * others; 1 to 1024, 0 is the default of 8. A worker makes a call that would block, such as a write to a slow disk.
 * Further calls wait for a free worker, and a file system that hangs keeps those that it has. No call of eddy/io.h waits
 * for a peer in a worker. Never suspends. Return: 0; -EINVAL, also of a kernel that refuses. */
EDDY_API int eddy_loop_set_io_workers_max(unsigned max);

/* What a loop has done since it began, and what it has. */
struct eddy_loop_stats {
	uint64_t turns;         /* rounds of tasks, messages, timers and completions */
	uint64_t enters;        /* times that the kernel was entered to submit, or to wait */
	uint64_t resumptions;   /* times that a task was switched to */
	uint64_t tasks;         /* alive now */
	uint64_t tasks_spawned; /* ever */
	uint64_t tasks_pooled;  /* stacks that wait for a task now */
	uint64_t ops;           /* with the kernel now; the runtime's own are among them */
	uint64_t ops_started;   /* ever */
	uint64_t ops_completed; /* of those */
	uint64_t ops_cancelled; /* times that the kernel was asked to cancel one */
	uint64_t ops_worked; /* started, and sure to go to a thread of the kernel's: splice, fsync, new files, … */
	uint64_t io_workers_max; /* worker threads that the kernel may use for it, of both kinds; 0: it does not say */
	uint64_t cq_overflows; /* turns that found more completions than the queue holds */
	uint64_t messages;     /* delivered */
	uint64_t timers_fired; /* those of sleeps, scopes and timeouts included */
	uint64_t stalls;       /* times that a task held the loop for longer than .stall_ns */
	uint64_t offloaded;    /* tasks that wait for a thread of the pool now */
	uint64_t stack_used_max; /* bytes, to whole pages: the most that was found when looked at, which
	                             dumps, eddy_task_stack_used() and the trimming of the pool do */
	char stack_used_by[64]; /* the task whose stack that was */
};

/* Read the counters of a loop, NULL for this thread's. Any thread, as long as the loop is there: each
 * number is right, and those of another thread's loop may be from different moments. */
EDDY_API struct eddy_loop_stats eddy_loop_stats(const struct eddy_loop *loop);

/* A message from any thread to a loop. It belongs to the loop from the post until `deliver` is
 * called with it, on the loop's own stack. */
struct eddy_message {
	struct eddy_message *next;
	void (*deliver)(struct eddy_message *message);
};

/* Hand `message` to `loop`, from any thread. Never suspends, never fails. The caller makes sure that the
 * loop is still there when this is called; it does not end before this returns. A loop that sleeps is
 * woken at once by a plain thread, and by another loop's at the end of that one's turn. A signal handler may
 * call it for the loop of its own thread, and for any loop on a thread that runs none. For another loop on a loop's
 * thread it must not: the wake-up goes through this thread's ring, whose work the signal may have interrupted. */
EDDY_API void eddy_loop_post(struct eddy_loop *loop, struct eddy_message *message);

/* What a part of a program keeps for a loop, from its first use there to the loop's end. */
struct eddy_at_end {
	struct eddy_at_end *next;
	void (*fn)(struct eddy_at_end *at_end);
};

/* Call `fn(at_end)` on this thread when its loop ends and nothing of it is in flight any more; who came
 * last goes first. `fn` must not suspend. `*at_end` is kept, not copied, and may be freed by `fn`. */
EDDY_API void eddy_loop_at_end(struct eddy_at_end *at_end, void (*fn)(struct eddy_at_end *at_end));

EDDY_END_DECLS

#endif
