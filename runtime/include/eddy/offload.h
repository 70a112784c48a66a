/* eddy/offload.h: run blocking calls on a pool of worker threads, so that they do not block a loop.
 *
 *     r = eddy_offload(sign, &signature);
 *
 * For long work that io_uring can't do: name resolution, private keys, compression of large bodies.
 * The pool belongs to the process and serves all loops. Its threads start when they are first
 * needed, live as long as the process, receive no signals, and have a niceness 5 above the loops',
 * so that loops on the same processors need not wait for them. Jobs start in the order in which
 * they came.
 *
 * Short jobs (eddy_offload_short()) never wait for a long one: one thread more than long jobs
 * may use is reserved for them. A TLS handshake starts at once while folders are listed and
 * bodies compressed.
 *
 * Backpressure: when jobs come faster than they are done, callers of eddy_offload() wait in line,
 * first come, first served, until a thread is free, a deadline passes or they are cancelled. A
 * waiting caller is a suspended task with the job on its own stack, so the line takes no memory and
 * has no limit. eddy_offload_detached() returns -EAGAIN instead when the queue is full.
 */
#ifndef EDDY_OFFLOAD_H
#define EDDY_OFFLOAD_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* Run on a thread of the pool. Must not use the loop, and must not suspend. */
typedef int eddy_offload_fn(void *arg);

/* Run `fn(arg)` on a thread of the pool and wait until it has returned. Suspends. Waits for its
 * turn however full the queue is. Cancellation takes back a job that no thread has started; a job
 * that has started is always awaited, so `arg` may be on the caller's stack. Run work that must be
 * done, such as a close, in a shielded scope without a timeout. If no thread can be started, `fn`
 * runs on the loop's thread.
 * Return: what `fn` returned; -ECANCELED, and `fn` was not called. */
EDDY_API int eddy_offload(eddy_offload_fn *fn, void *arg);

/* Run `fn(arg)` like eddy_offload(), as a short job. Suspends. A short job computes for some
 * milliseconds at most, and waits neither for a disk, nor a peer, nor a lock that a long job holds.
 * It starts in the order of all jobs, on any thread; if long jobs occupy all threads that they may
 * use, it runs on the reserved thread.
 * Return: as eddy_offload(). */
EDDY_API int eddy_offload_short(eddy_offload_fn *fn, void *arg);

/* Run `fn(arg)` like eddy_offload(), but return -ECANCELED at once if the current scope is
 * cancelled. Suspends. `fn` may then still run: `arg` belongs to the pool, which calls
 * `destroy(arg)`, on any thread, when it is no longer used. After any other result `arg` belongs to
 * the caller. Such jobs never take the last thread of a pool that has several, so that a hanging
 * resolver delays no other job.
 * Return: what `fn` returned, which must not be -ECANCELED; -ECANCELED, and the pool owns `arg`;
 * -ENOMEM, or -EAGAIN if the queue is full, and `fn` was not called. */
EDDY_API int eddy_offload_detached(eddy_offload_fn *fn, void *arg, void (*destroy)(void *arg));

#define EDDY_OFFLOAD_THREADS_MAX 1024

/* Limits of the pool. A zero field keeps its current value, at first the default: the pool belongs
 * to the process, and several parts of a program may set limits. */
struct eddy_offload_options {
	/* Threads that long jobs use, at most EDDY_OFFLOAD_THREADS_MAX; default: as many as there
	 * are processors, but 2 to 4. The pool starts one more if a short job finds all of them
	 * busy. Threads that already run stay. */
	unsigned threads;
	/* Jobs of any kind that wait for a thread before eddy_offload_detached() fails; default
	 * 1024. */
	unsigned queue_max;
};

/* Set the limits of the pool, at any time; NULL changes nothing. Any thread may call it. Never
 * suspends. Return: 0; -EINVAL if an option is out of range. */
EDDY_API int eddy_offload_configure(const struct eddy_offload_options *options);

struct eddy_offload_stats {
	unsigned threads; /* in the pool now */
	unsigned running; /* jobs that run now */
	unsigned queued;  /* jobs that wait now */
	uint64_t begun;   /* jobs started, total */
	uint64_t refused; /* calls of eddy_offload_detached() that found the queue full, total */
	unsigned short_running; /* short jobs among `running` */
	unsigned short_queued;  /* short jobs among `queued` */
	uint64_t short_begun;   /* short jobs among `begun` */
};

/* Read the counters of the offload pool. Any thread may call it. Never suspends. */
EDDY_API struct eddy_offload_stats eddy_offload_stats(void);

EDDY_END_DECLS

#endif
