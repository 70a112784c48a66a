#include "offload_pool.h"

#include "core/fault.h"
#include "core/loop.h"
#include "core/recorded.h"
#include "core/scope.h"
#include "base/thread.h"

#include <eddy/internal/outside.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define THREADS_MIN_DEFAULT 2
#define THREADS_MAX_DEFAULT 4
#define QUEUE_MAX_DEFAULT 1024
#define NICENESS 5 /* lower priority than the loops */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wanted;
	pthread_cond_t file_wanted; /* of threads for jobs of EDDYI_JOB_FILE, which run no others */
	struct eddy_node queues[EDDYI_JOB_KINDS];
	unsigned queued[EDDYI_JOB_KINDS];
	unsigned running[EDDYI_JOB_KINDS]; /* jobs, one for each busy thread */
	unsigned threads;
	unsigned file_threads;
	unsigned file_threads_max;
	unsigned long_max; /* limit of threads for long jobs; 0: default, not yet known */
	unsigned ending;   /* threads that have run a job but not yet posted or destroyed it */
	unsigned queue_max;
	uint64_t last_number;
	uint64_t begun;
	uint64_t short_begun;
	uint64_t refused;
} pool = {
	.queue_max = QUEUE_MAX_DEFAULT,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wanted = PTHREAD_COND_INITIALIZER,
	.file_wanted = PTHREAD_COND_INITIALIZER,
#define QUEUE(kind) [kind] = { &pool.queues[kind], &pool.queues[kind] }
	.queues = { QUEUE(EDDYI_JOB_SHORT), QUEUE(EDDYI_JOB_LONG), QUEUE(EDDYI_JOB_DETACHED),
		    QUEUE(EDDYI_JOB_FILE) },
};

static _Atomic(const struct eddyi_job_observer *) observer;

void eddyi_offload_observe(const struct eddyi_job_observer *new_observer)
{
	atomic_store(&observer, new_observer);
}

static unsigned default_threads(void)
{
	cpu_set_t cpus;
	unsigned count = THREADS_MAX_DEFAULT;

	if (eddyi_sched_getaffinity_now(0, sizeof(cpus), &cpus) == 0)
		count = (unsigned)CPU_COUNT(&cpus);
	if (count < THREADS_MIN_DEFAULT)
		return THREADS_MIN_DEFAULT;
	return count < THREADS_MAX_DEFAULT ? count : THREADS_MAX_DEFAULT;
}

/* All but those for files. Lock held. */
static unsigned sum(const unsigned counts[EDDYI_JOB_KINDS])
{
	return counts[EDDYI_JOB_SHORT] + counts[EDDYI_JOB_LONG] + counts[EDDYI_JOB_DETACHED];
}

/* Lock held. */
static bool may_run(enum eddyi_job_kind kind)
{
	unsigned detached = pool.running[EDDYI_JOB_DETACHED];

	if (kind == EDDYI_JOB_SHORT)
		return true;
	if (kind == EDDYI_JOB_DETACHED && detached && detached + 1 >= pool.long_max)
		return false;
	return pool.running[EDDYI_JOB_LONG] + detached < pool.long_max;
}

static struct eddyi_job *first_of(const struct eddy_node *queue)
{
	return eddy_list_is_empty(queue) ? NULL : eddy_of(queue->next, struct eddyi_job, node);
}

/* Lock held. */
static void unqueue(struct eddyi_job *job)
{
	eddy_list_remove(&job->node);
	pool.queued[job->kind]--;
}

/* Take the oldest job that may run, so that no kind starves another; NULL if none. Lock held. */
static struct eddyi_job *take_job(void)
{
	struct eddyi_job *oldest = NULL;

	for (unsigned kind = 0; kind < EDDYI_JOB_FILE; kind++) {
		struct eddyi_job *job = may_run(kind) ? first_of(&pool.queues[kind]) : NULL;

		if (job && (!oldest || job->number < oldest->number))
			oldest = job;
	}
	if (oldest)
		unqueue(oldest);
	return oldest;
}

/* Lock held; it is released meanwhile. */
static void run_job(struct eddyi_job *job)
{
	const struct eddyi_job_observer *observed = atomic_load(&observer);
	enum eddyi_job_kind kind = job->kind;
	struct eddy_loop *loop;
	bool given_up;
	int result;

	pool.running[kind]++;
	pool.begun += kind != EDDYI_JOB_FILE;
	pool.short_begun += kind == EDDYI_JOB_SHORT;
	pthread_mutex_unlock(&pool.lock);

	eddyi_lent_scope = job->scope;
	if (observed)
		observed->begins(job);
	EDDYI_USDT(offload__begin, job->fn, job->arg);
	eddyi_in_job = true;
	result = job->fn(job->arg);
	eddyi_in_job = false;
	EDDYI_USDT(offload__end, job->fn, job->arg, result);
	if (observed)
		observed->ended(job);
	eddyi_lent_scope = NULL;

	pthread_mutex_lock(&pool.lock);
	job->result = result;
	job->done = true;
	loop = job->loop;
	given_up = !loop;
	pool.running[kind]--;
	pool.ending++;
	pthread_mutex_unlock(&pool.lock);

	if (given_up) {
		job->destroy(job->arg);
		free(job);
	} else {
		eddy_loop_post(loop, &job->message);
	}
	pthread_mutex_lock(&pool.lock);
	pool.ending--;
}

/* If a loop and a job compete for a processor, the loop gets three quarters of it, and continues as
 * soon as it has work: many clients wait for the loop, but one task for the job. With equal
 * priority each would run for milliseconds. */
static void give_way(void)
{
	/* 0 is this thread, the only one that a sandbox lets it change. */
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICENESS);
}

static void begin_thread(void)
{
	pthread_setname_np(pthread_self(), "eddy-offload");
	eddyi_fault_know_stack();
	eddyi_fault_stack_give(); /* never freed: the thread lives as long as the process */
}

static void *thread_main(void *arg)
{
	if (EDDYI_CAN_RECORD && arg)
		eddyi_recorded_thread_begin(arg);
	give_way();
	begin_thread();
	pthread_mutex_lock(&pool.lock);
	for (;;) {
		struct eddyi_job *job = take_job();

		if (job)
			run_job(job);
		else
			eddyi_cond_wait(&pool.wanted, &pool.lock);
	}
	return NULL;
}

/* Jobs for files are calls of the loop itself: their threads don't give way to it. */
static void *file_thread_main(void *arg)
{
	(void)arg;
	begin_thread();
	pthread_mutex_lock(&pool.lock);
	for (;;) {
		struct eddyi_job *job = first_of(&pool.queues[EDDYI_JOB_FILE]);

		if (job) {
			unqueue(job);
			run_job(job);
		} else {
			pthread_cond_wait(&pool.file_wanted, &pool.lock);
		}
	}
	return NULL;
}

/* Lock held. */
static void start_thread(void *(*fn)(void *arg), unsigned *count)
{
	struct eddyi_track *track = NULL;
	pthread_t thread;

	/* Jobs for files are those of an executor, which a replay does not have. */
	if (EDDYI_HAS_TRACK && fn == thread_main)
		track = eddyi_recorded_thread();
	if (eddyi_thread_start(&thread, fn, track) < 0)
		return;
	pthread_detach(thread);
	++*count;
}

/* Whether `count` jobs are queued in addition to those that idle threads will take. Lock held. */
static bool has_queued(unsigned count)
{
	return sum(pool.queued) >= (uint64_t)pool.threads - sum(pool.running) + count;
}

/* A forked child has none of the threads. */
static void in_child(void)
{
	/* Queued jobs belong to the parent. */
	pthread_mutex_init(&pool.lock, NULL);
	pthread_cond_init(&pool.wanted, NULL);
	pthread_cond_init(&pool.file_wanted, NULL);
	for (unsigned kind = 0; kind < EDDYI_JOB_KINDS; kind++) {
		eddy_list_init(&pool.queues[kind]);
		pool.queued[kind] = 0;
		pool.running[kind] = 0;
	}
	pool.threads = pool.file_threads = 0;
	pool.ending = 0;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

/* Lock held. */
static void queue_job(struct eddyi_job *job, pthread_cond_t *wanted)
{
	job->number = ++pool.last_number;
	eddy_list_append(&pool.queues[job->kind], &job->node);
	pool.queued[job->kind]++;
	pthread_cond_signal(wanted);
}

/* Lock held. */
static int submit_file(struct eddyi_job *job)
{
	unsigned idle = pool.file_threads - pool.running[EDDYI_JOB_FILE];

	if (pool.queued[EDDYI_JOB_FILE] >= idle && pool.file_threads < pool.file_threads_max)
		start_thread(file_thread_main, &pool.file_threads);
	if (!pool.file_threads)
		return -ENOENT;
	queue_job(job, &pool.file_wanted);
	return 0;
}

int eddyi_offload_submit(struct eddyi_job *job)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const struct eddyi_job_observer *observed = atomic_load(&observer);
	int r = 0;

	pthread_once(&once, watch_forks);
	if (observed)
		observed->queued(job);
	pthread_mutex_lock(&pool.lock);
	if (job->kind != EDDYI_JOB_FILE && !pool.long_max)
		pool.long_max = default_threads();
	if (job->kind != EDDYI_JOB_FILE && has_queued(0) &&
	    pool.threads < pool.long_max + (job->kind == EDDYI_JOB_SHORT))
		start_thread(thread_main, &pool.threads);
	if (job->kind == EDDYI_JOB_FILE) {
		r = submit_file(job);
	} else if (!pool.threads) {
		r = -ENOENT;
	} else if (job->kind == EDDYI_JOB_DETACHED && has_queued(pool.queue_max)) {
		pool.refused++;
		r = -EAGAIN;
	} else {
		queue_job(job, &pool.wanted);
	}
	pthread_mutex_unlock(&pool.lock);
	return r;
}

void eddyi_offload_limit_files(unsigned max)
{
	pthread_mutex_lock(&pool.lock);
	if (pool.file_threads_max < max)
		pool.file_threads_max = max;
	pthread_mutex_unlock(&pool.lock);
}

bool eddyi_offload_take_back(struct eddyi_job *job)
{
	bool taken;

	pthread_mutex_lock(&pool.lock);
	taken = job->node.next;
	if (taken)
		unqueue(job);
	pthread_mutex_unlock(&pool.lock);
	return taken;
}

bool eddyi_offload_give_up(struct eddyi_job *job, bool *ret_taken_back)
{
	bool given_up;

	pthread_mutex_lock(&pool.lock);
	given_up = !job->done;
	if (given_up) {
		job->loop = NULL;
		*ret_taken_back = job->node.next;
		if (job->node.next)
			unqueue(job);
	}
	pthread_mutex_unlock(&pool.lock);
	return given_up;
}

bool eddyi_offload_is_busy(void)
{
	bool is_busy;

	pthread_mutex_lock(&pool.lock);
	is_busy = sum(pool.queued) || sum(pool.running) || pool.ending ||
		  pool.queued[EDDYI_JOB_FILE] || pool.running[EDDYI_JOB_FILE];
	pthread_mutex_unlock(&pool.lock);
	return is_busy;
}

struct eddy_offload_stats eddy_offload_stats(void)
{
	struct eddy_offload_stats stats;

	pthread_mutex_lock(&pool.lock);
	stats = (struct eddy_offload_stats){
		.threads = pool.threads,
		.running = sum(pool.running),
		.queued = sum(pool.queued),
		.begun = pool.begun,
		.refused = pool.refused,
		.short_running = pool.running[EDDYI_JOB_SHORT],
		.short_queued = pool.queued[EDDYI_JOB_SHORT],
		.short_begun = pool.short_begun,
	};
	pthread_mutex_unlock(&pool.lock);
	return stats;
}

int eddy_offload_configure(const struct eddy_offload_options *options)
{
	if (!options)
		return 0;
	if (options->threads > EDDY_OFFLOAD_THREADS_MAX)
		return -EINVAL;
	pthread_mutex_lock(&pool.lock);
	if (options->threads)
		pool.long_max = options->threads;
	if (options->queue_max)
		pool.queue_max = options->queue_max;
	pthread_mutex_unlock(&pool.lock);
	return 0;
}
