/* eddy_pg_jobs.h: a queue of background jobs in a table of PostgreSQL, which all processes of a
 * service share: retries with back-off, delays, unique keys and periodic jobs (cron).
 *
 *     static int send_mail(const struct eddy_pg_job *job, void *arg) // returns 0, or -errno: again
 *
 *     static const struct eddy_pg_job_kind kinds[] = { { .name = "mail", .run = send_mail }, { 0 } };
 *     static struct eddy_pg_jobs jobs = { .pg = &pg, .kinds = kinds };
 *
 *     r = eddy_pg_query(&pg, NULL, eddy_pg_jobs_sql, EDDY_PG());     // once: makes the table
 *     eddy_app_add_task(app, "jobs", eddy_pg_jobs_run, &jobs);       // works
 *     …
 *     r = eddy_pg_jobs_add(&tx, &(struct eddy_pg_new_job){ .kind = "mail", .payload = text });
 *
 * A job runs at least once: its worker has a lease of the job, which it renews. If the process or
 * the database dies, another worker takes the job when the lease has ended. A job may thus have
 * been executed, in part or in whole, when it runs again: make it idempotent.
 *
 * Statements and triggers may add a job themselves: insert .kind, .payload and .run_at, then
 * `select pg_notify('eddy_jobs', '')` wakes a worker.
 *
 * Metrics: eddy_pg_jobs_running; eddy_pg_job_runs_total by outcome: done, retried, failed, returned
 * (at shutdown) and lost (the lease has ended).
 */
#ifndef EDDY_PG_JOBS_H
#define EDDY_PG_JOBS_H

#include "eddy_pg.h"

EDDY_BEGIN_DECLS

/* Creates the table eddy_jobs, unless it is there. One statement, for eddy_pg_query() or psql. A
 * job is removed when it is done. One that has failed for good is kept, with .failed_at and .error;
 * `update eddy_jobs set failed_at = null, attempts = 0, run_at = now()` repeats it. */
extern const char eddy_pg_jobs_sql[];

/* ---- adding ---- */

/* A zero field takes its default. */
struct eddy_pg_new_job {
	const char *kind;        /* required */
	struct eddy_str payload; /* JSON text; default: null */
	/* While a job of this kind with the same key waits or runs, no other is added. Default: any
	 * number of jobs is. */
	const char *key;
	uint64_t delay_ns; /* not before this time has passed; default: at once */
};

/* Add a job, and wake a worker. Suspends. In a transaction, the job exists from its commit on.
 * Return: 0; -EEXIST if there is one with the key, which does not abort a transaction; -EINVAL if
 * the payload is not JSON; otherwise as eddy_pg_query(). */
EDDY_CHECKED int eddy_pg_jobs_add(struct eddy_pg *pg, const struct eddy_pg_new_job *job);

/* ---- working ---- */

struct eddy_pg_job {
	int64_t id;
	struct eddy_str payload; /* JSON text */
	unsigned attempt;        /* 1 for the first */
};

/* Run a job. It may suspend for as long as it takes. It is cancelled after .timeout_ns, when the
 * grace period of a shutdown has passed, and when the lease could not be renewed in time.
 * Return: 0: the job is done; -EBADMSG: it has failed for good; other negative values: it runs again
 * later, unless this was the last attempt. */
typedef int eddy_pg_job_fn(const struct eddy_pg_job *job, void *arg);

/* A zero field takes its default. */
struct eddy_pg_job_kind {
	const char *name; /* without spaces; NULL ends a list */
	eddy_pg_job_fn *run;
	void *arg;
	unsigned attempts_max; /* then the job has failed for good; default 10 */
	uint64_t timeout_ns;   /* of an attempt; default 1 h */
	/* Periodic: one job of this kind runs at each multiple of this time since 1970, in one of all
	 * processes. A run that takes longer skips the next ones; one that has failed for good is
	 * followed by the next period's. A new value applies from the next run on. To end it, delete
	 * the row. Default 0: only jobs that are added. */
	uint64_t every_ns;
};

/* A zero field takes its default. */
struct eddy_pg_jobs {
	struct eddy_pg *pg;
	const struct eddy_pg_job_kind *kinds; /* that this process runs; ends with a NULL name */
	unsigned concurrency;                 /* jobs at a time; default 4 */
	uint64_t lease_ns; /* renewed each third of it; a dead worker's job waits for it; default 30 s */
	/* Workers are notified of new jobs. They also look at intervals, should a notification be
	 * lost; default 30 s. */
	uint64_t poll_ns;
	uint64_t backoff_ns; /* after the first failure, doubled by each, up to 1 h; 50 to 100 % of it
			      * at random; default 1 s */
	uint64_t grace_ns;   /* for running jobs at shutdown; default 10 s */
	bool drain; /* at shutdown run those that wait, too, if they are due; default: leave them */
};

/* Work until the scope is cancelled. Suspends. No job is taken any more then, unless .drain is set;
 * running jobs have .grace_ns to end. After that they are cancelled and given back to other workers
 * at once, which does not count as an attempt. A task for eddy_app_add_task() or
 * eddy_scope_spawn(); it needs a listener's connection, and those of the pool for moments only.
 * Return: -ECANCELED; -EINVAL if a name has a space, or all are longer than 2 KiB; -ENOMEM. */
int eddy_pg_jobs_run(void *jobs);

EDDY_END_DECLS

#endif
