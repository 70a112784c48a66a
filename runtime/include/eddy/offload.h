/* eddy/offload.h: blocking code on threads of its own, so that it holds no loop.
 *
 *     r = eddy_offload(sign, &signature);
 *
 * For what has no ring entry and takes long: name resolution, private keys, compression of large
 * bodies. The pool belongs to the process and serves all loops; its threads start when they are
 * first needed, live as long as the process, and receive no signals. Jobs are begun in the order in
 * which they came. The threads are nicer than the loops by 5, so that loops that share their processors
 * go on without waiting for them.
 *
 * Short jobs, those of eddy_offload_short(), never wait for a long one to end. The pool has one thread more
 * than long jobs may use, which is left to short jobs: a TLS handshake begins at once while folders are listed
 * and bodies compressed.
 *
 * When jobs come faster than they are done, a bounded queue fills. Beyond it eddy_offload() is the
 * back-pressure: its callers wait in the same line, first come, first served, until a thread is free, a
 * deadline passes or they are cancelled. Such a caller is a suspended task whose job lies on its own
 * stack, so that the line takes no memory and is as long as there are tasks. Who must not wait, or can
 * do without the result, uses eddy_offload_detached(): it returns -EAGAIN when the queue is full.
 */
#ifndef EDDY_OFFLOAD_H
#define EDDY_OFFLOAD_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* Called on a thread of the pool: it must not use the loop, and it must not suspend. */
typedef int eddy_offload_fn(void *arg);

/* Run `fn(arg)` on a thread of the pool and wait until it has returned. Suspends. However full the queue
 * is, the caller waits for its turn. Cancellation takes
 * back a job that no thread has begun yet; one that has begun is awaited whatever happens: `arg` may
 * live on the caller's stack. What must be done, such as a close, is offloaded in a shielded scope
 * without a timeout. When not even one thread can be had, `fn` runs in place.
 * Return: what `fn` returned; -ECANCELED, and `fn` was not called. */
EDDY_API int eddy_offload(eddy_offload_fn *fn, void *arg);

/* Run `fn(arg)` like eddy_offload(), as a short job: one that computes for some milliseconds at most and
 * waits neither for a disk, nor for a peer, nor for a lock that a long job holds. Suspends. Short jobs begin in
 * the order of all jobs, and on any thread; where long jobs have all threads that they may use, on the one
 * that is left to short jobs.
 * Return: as eddy_offload(). */
EDDY_API int eddy_offload_short(eddy_offload_fn *fn, void *arg);

/* Run `fn(arg)` like eddy_offload(), but return -ECANCELED at once when the current scope is
 * cancelled. Then `fn` may go on for as long as it likes: `arg` belongs to the pool, which calls
 * `destroy(arg)`, on any thread, once nobody uses it any more. After any other result `arg` is the
 * caller's again. Suspends. Such jobs never take the last thread of a pool that has several, so that a
 * resolver that hangs holds up nobody else.
 * Return: what `fn` returned, which must not be -ECANCELED; -ECANCELED, `arg` is gone; -ENOMEM, or
 * -EAGAIN when the queue is full, and `fn` was not called. */
EDDY_API int eddy_offload_detached(eddy_offload_fn *fn, void *arg, void (*destroy)(void *arg));

/* Let long jobs use at most `count` threads, 1 or more; default: as many as there are processors, but
 * 2 to 4. The pool starts one more when a short job finds all of them busy. Threads that run already stay. Any
 * thread. */
EDDY_API void eddy_offload_set_threads(unsigned count);

/* Let eddy_offload_detached() fail when `count` jobs of any kind, 1 or more, wait for a thread
 * already; default: 1024. Any thread. */
EDDY_API void eddy_offload_set_queue_max(unsigned count);

struct eddy_offload_stats {
	unsigned threads;       /* that the pool has now */
	unsigned running;       /* jobs that a thread is busy with now */
	unsigned queued;        /* jobs that wait for one now */
	uint64_t begun;         /* jobs that a thread has begun, ever */
	uint64_t refused;       /* times that eddy_offload_detached() found the queue full, ever */
	unsigned short_running; /* of `running`, those of eddy_offload_short() */
	unsigned short_queued;  /* of `queued` */
	uint64_t short_begun;   /* of `begun` */
};

/* Read what the pool does. Any thread; never suspends. */
EDDY_API struct eddy_offload_stats eddy_offload_stats(void);

EDDY_END_DECLS

#endif
