/* offload_pool.h: the offload pool (worker threads for blocking calls) and its queues.
 *
 * Invariants:
 * 1. A job is in one of the queues, run by one thread, or `done`. Only its loop's thread takes it
 *    back from a queue, with the lock held: then `fn` is never called.
 * 2. `loop` is set until the job is given up. Only its loop's thread gives it up, before it is done
 *    and with the lock held. A job that is done and was not given up is posted to its loop, where a
 *    task or an op waits for it, so the loop exists. A job that was given up posts nothing.
 * 3. A job of eddy_offload() is on its task's stack; the pool's thread does not touch it after
 *    posting it. A job for a file is part of the executor's entry. A detached job is on the heap. The
 *    task frees it, or after it was given up, its current holder.
 * 4. The heap holds at most `queue_max` waiting detached jobs, in addition to those that idle
 *    threads will take. Further jobs of eddy_offload() are backpressure: each is one suspended
 *    task.
 * 5. Jobs for files have threads of their own. A thread takes the oldest job that may run on it. Each
 *    submission wakes one thread. A job that may
 *    not run yet can run once a long job has ended, whose thread checks the queues next. So no job
 *    waits while a thread sleeps that could take it.
 */
#ifndef EDDYI_OFFLOAD_POOL_H
#define EDDYI_OFFLOAD_POOL_H

#include <eddy/list.h>
#include <eddy/loop.h>
#include <eddy/offload.h>

struct eddy_scope;
struct eddyi_waiter;

enum eddyi_job_kind {
	EDDYI_JOB_SHORT,    /* of eddy_offload_short(): any thread but those for files */
	EDDYI_JOB_LONG,     /* of eddy_offload(): all threads except one reserved for short jobs */
	EDDYI_JOB_DETACHED, /* of eddy_offload_detached(): one fewer, but at least one */
	EDDYI_JOB_FILE, /* a blocking call of the executor without a ring: threads of their own */
	EDDYI_JOB_KINDS,
};

/* When a job was queued, and by which task; of the observer, all 0 if it records nothing. */
struct eddyi_job_trace {
	uint64_t queued_ns;
	uint64_t began_ns;
	uint32_t track;
	uint32_t group;
	unsigned generation; /* the timeline that `track` belongs to */
};

struct eddyi_job {
	struct eddy_message message;
	struct eddy_node node; /* in a queue; node.next is NULL otherwise */
	uint64_t number;       /* in order of arrival */
	struct eddy_loop *loop;
	struct eddyi_waiter *waiter;
	const struct eddy_scope *scope; /* provides the fields of log records; NULL if detached */
	enum eddyi_job_kind kind;
	eddy_offload_fn *fn;
	void *arg;
	void (*destroy)(void *arg); /* of a detached job */
	int result;
	bool done;
	struct eddyi_job_trace traced;
};

struct eddyi_job_observer {
	void (*queued)(struct eddyi_job *job); /* called by its task */
	/* Called by the pool's thread before and after it runs. */
	void (*begins)(struct eddyi_job *job);
	void (*ended)(struct eddyi_job *job);
};

/* Set the observer of all jobs. There is one; it stays. */
void eddyi_offload_observe(const struct eddyi_job_observer *observer);

/* Queue the job. Only detached jobs are limited: a task that waits for its job costs the same
 * inside and outside the queue.
 * Return: 0; -EAGAIN if the queue is full; -ENOENT if there is no thread to run it. */
int eddyi_offload_submit(struct eddyi_job *job);

/* Let up to this many threads run jobs of EDDYI_JOB_FILE, which are not in the statistics. The largest number
 * counts. */
void eddyi_offload_limit_files(unsigned max);

/* Remove a job from its queue. Return: false if a thread has taken it. */
bool eddyi_offload_take_back(struct eddyi_job *job);

/* Give up a job unless it is done. Its loop gets no message from it. `*ret_taken_back` is true if
 * no thread had taken it.
 * Return: whether it was given up; if not, nothing is written. */
bool eddyi_offload_give_up(struct eddyi_job *job, bool *ret_taken_back);

/* Whether a job, given up or not, is queued, running or not yet posted. Any thread may call it. */
bool eddyi_offload_is_busy(void);

#endif
