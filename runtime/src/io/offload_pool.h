/* offload_pool.h: threads for jobs that block, and the line in which those wait.
 *
 * Invariants:
 * 1. A job is in one of the pool's queues, or run by one thread, or `done`. One that is in a queue can
 *    be taken back, which only its loop's thread does, with the lock held: then `fn` is never called.
 * 2. `loop` is set until the job is given up, which only its loop's thread does, only before it is
 *    done, and with the lock held. A job that is done and was not given up is posted to its loop,
 *    where a task waits for it: so the loop is there. A job that was given up posts nothing.
 * 3. A job of eddy_offload() lies on the stack of its task, and is not touched by the thread that ran
 *    it once it is posted. A detached one is on the heap and is freed by the task, or, once given up,
 *    by whoever holds it.
 * 4. The heap holds at most `queue_max` detached jobs that wait, beside those that free threads are about
 *    to take. The jobs of eddy_offload() beyond that are back-pressure: each is one suspended task.
 * 5. A thread takes the oldest job that may run. Each submission wakes one thread. A job that may not run then
 *    may run once a long job has ended, whose thread looks at the queues next: none waits while a thread
 *    sleeps that could take it.
 */
#ifndef EDDYI_OFFLOAD_POOL_H
#define EDDYI_OFFLOAD_POOL_H

#include "core/tape_job.h"

#include <eddy/list.h>
#include <eddy/loop.h>
#include <eddy/offload.h>

struct eddy_scope;
struct eddyi_waiter;

enum eddyi_job_kind {
	EDDYI_JOB_SHORT, /* of eddy_offload_short(): any thread */
	EDDYI_JOB_LONG,  /* of eddy_offload(): all threads but the one that is left to short jobs */
	EDDYI_JOB_DETACHED, /* of eddy_offload_detached(): one thread fewer, unless that leaves none */
	EDDYI_JOB_KINDS,
};

struct eddyi_job {
	struct eddy_message message;
	struct eddy_node node; /* in a queue; node.next is NULL when in none */
	uint64_t number;       /* in the order of arrival */
	struct eddy_loop *loop;
	struct eddyi_waiter *waiter;
	const struct eddy_scope *scope; /* whose fields its records have; NULL when detached */
	enum eddyi_job_kind kind;
	eddy_offload_fn *fn;
	void *arg;
	void (*destroy)(void *arg); /* of a detached one */
	int result;
	bool done;
	struct eddyi_tape_job traced;
};

/* Queue the job. A task that waits for its job costs the same in a queue as before it: it waits in the
 * one line, however long that is. Only a detached job finds the queue full.
 * Return: 0; -EAGAIN when it is full; -ENOENT when there is no thread that could ever run it. */
int eddyi_offload_submit(struct eddyi_job *job);

/* Take a job out of its queue. Return: false when a thread has it. */
bool eddyi_offload_take_back(struct eddyi_job *job);

/* Give a detached job up, unless it is done: its loop hears no more of it. `*ret_taken_back`: no thread had it yet.
 * Return: whether it was given up; if not, nothing is written. */
bool eddyi_offload_give_up(struct eddyi_job *job, bool *ret_taken_back);

/* Whether any job waits or runs, given up or not, or has yet to say that it is done. Any thread. */
bool eddyi_offload_is_busy(void);

#endif
