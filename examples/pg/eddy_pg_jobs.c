#include "eddy_pg_jobs.h"

#include <eddy/event.h>
#include <eddy/internal/figure.h>
#include <eddy/log.h>
#include <eddy/loop.h>
#include <eddy/mutex.h>
#include <eddy/scope.h>
#include <eddy/select.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TARGET "eddy::pg"
#define SETTLE_NS (5 * EDDY_SECOND) /* to store how a run has ended */
#define RETRY_NS EDDY_SECOND        /* after an error of the database */

/* ---- statements ---- */

/* Workers may take a job from `run_at` on. That is the time of .delay_ns or of the period at first,
 * the end of the lease while it runs, and the time of the next attempt after a failure. `runs` only
 * grows, so a worker whose lease has ended changes nothing any more. */
const char eddy_pg_jobs_sql[] =
	"do $$ begin\n"
	"perform pg_advisory_xact_lock(hashtext('eddy_jobs'));\n"
	"if to_regclass('eddy_jobs') is null then\n"
	"create table eddy_jobs (id bigint generated always as identity primary key,\n"
	"	kind text not null, key text, payload json not null,\n"
	"	created_at timestamptz not null default now(), run_at timestamptz not null,\n"
	"	runs bigint not null default 0, attempts int not null default 0,\n"
	"	error text, failed_at timestamptz);\n"
	"create index on eddy_jobs (run_at) where failed_at is null;\n"
	"create unique index on eddy_jobs (kind, key) where failed_at is null;\n"
	"end if;\n"
	"end $$";

#define AFTER(n) "now() + " n "::float8 * interval '1 second'"
#define NEXT(n) "to_timestamp((floor(extract(epoch from now()) / " n "::float8) + 1) * " n ")"
#define ADD(run_at)                                                                                \
	"with new as (insert into eddy_jobs (kind, key, payload, run_at) "                         \
	"values ($1, $2, coalesce($3::json, 'null'), " run_at ") "                                 \
	"on conflict (kind, key) where failed_at is null do nothing returning id) "                \
	"select id, pg_notify('eddy_jobs', '') from new"
#define OURS "failed_at is null and kind = any(string_to_array($1, ' '))"
#define THIS_RUN " where id = $1 and runs = $2"
#define NOTIFY " returning pg_notify('eddy_jobs', '')" /* others learn of the new `run_at` */

/* clang-format off */
static const char take_sql[] =
	"update eddy_jobs set runs = runs + 1, attempts = attempts + 1, run_at = " AFTER("$2")
	" where id = (select id from eddy_jobs where " OURS " and run_at <= now() order by run_at limit 1 "
	"for update skip locked) returning id, kind, payload, attempts, runs";
static const char due_sql[] =
	"select greatest(0.1, least($2::float8, extract(epoch from min(run_at) - clock_timestamp()))) "
	"from eddy_jobs where " OURS;
static const char renew_sql[] = "update eddy_jobs set run_at = " AFTER("$3") THIS_RUN;
static const char done_sql[] = "delete from eddy_jobs" THIS_RUN;
static const char next_sql[] =
	"update eddy_jobs set attempts = 0, error = $3, run_at = " NEXT("$4") THIS_RUN NOTIFY;
static const char again_sql[] =
	"update eddy_jobs set attempts = $3::int, error = $4, failed_at = case when $6 then now() end, "
	"run_at = now() + least(3600, $5::float8 * 2 ^ least($3 - 1, 30)) * (0.5 + random() / 2) "
	"* interval '1 second'" THIS_RUN NOTIFY;
/* clang-format on */

static double seconds(uint64_t ns)
{
	return (double)ns / (double)EDDY_SECOND;
}

int eddy_pg_jobs_add(struct eddy_pg *pg, const struct eddy_pg_new_job *job)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	int r = eddy_pg_query(pg, &rows, ADD(AFTER("$4")),
			      EDDY_PG(job->kind, job->key, job->payload, seconds(job->delay_ns)));

	return r == 0 && rows.count == 0 ? -EEXIST : r;
}

/* ---- a run ---- */

/* Workers take turns to look for a job: only the one that holds `looks` asks and waits. */
struct queue {
	struct eddy_pg_jobs options;
	char names[2048]; /* of the kinds, with spaces between */
	struct eddy_mutex looks;
	struct eddy_chan news;
	struct eddy_event stops;
	bool has_periodic; /* the periodic jobs are in the table */
};

struct run {
	struct queue *queue;
	const struct eddy_pg_job_kind *kind;
	struct eddy_pg_job job;
	int64_t number;    /* `runs` */
	uint64_t until_ns; /* end of the lease; 0: lost */
	struct eddy_scope scope;
};

enum outcome { DONE, RETRIED, FAILED, RETURNED, LOST, RUNNING, FIGURES };

#define RUNS "eddy_pg_job_runs_total", "Runs of jobs, by outcome.", "outcome"
static struct eddyi_figure figures[FIGURES] = {
	[DONE] = { RUNS, .value = "done" },
	[RETRIED] = { RUNS, .value = "retried" },
	[FAILED] = { RUNS, .value = "failed" },
	[RETURNED] = { RUNS, .value = "returned" },
	[LOST] = { RUNS, .value = "lost" },
	[RUNNING] = { "eddy_pg_jobs_running", "Jobs that run.", .is_gauge = true },
};

/* Renew the lease until the run has ended. Cancel it if the lease ends first. */
static int renew(void *arg)
{
	struct run *run = arg;
	uint64_t lease_ns = run->queue->options.lease_ns, now;

	while (eddy_sleep(lease_ns / 3) == 0 && (now = eddy_now()) < run->until_ns) {
		EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
		struct eddy_scope_options options = { .timeout_ns = run->until_ns - now };
		struct eddy_scope scope;
		int r;

		eddy_scope_begin(&scope, &options);
		r = eddy_pg_query(run->queue->options.pg, &rows, renew_sql,
				  EDDY_PG(run->job.id, run->number, seconds(lease_ns)));
		eddy_scope_end(&scope);
		if (r == 0)
			run->until_ns = rows.affected ? now + lease_ns : 0;
	}
	eddy_scope_cancel(&run->scope);
	return 0;
}

static unsigned attempts_max(const struct run *run)
{
	return run->kind->attempts_max ? run->kind->attempts_max : 10;
}

/* Store how a run has ended. */
static enum outcome settle(const struct run *run, int result)
{
	bool is_last = result == -EBADMSG || run->job.attempt >= attempts_max(run);
	enum outcome outcome = result >= 0         ? DONE :
			       eddy_is_cancelled() ? RETURNED :
			       is_last             ? FAILED :
						     RETRIED;
	uint64_t every_ns = run->kind->every_ns;
	uint64_t backoff_ns = outcome == RETRIED ? run->queue->options.backoff_ns : 0;
	const char *error = result < 0 ? strerror(-result) : NULL;
	unsigned attempts = run->job.attempt - (outcome == RETURNED);
	struct eddy_pg *pg = run->queue->options.pg;
	struct eddy_scope shield;
	int r;

	if (outcome == RETRIED || outcome == FAILED)
		eddy_warn(TARGET, "job %lld (%s) has failed, attempt %u of %u: %s",
			  (long long)run->job.id, run->kind->name, attempts, attempts_max(run),
			  error);
	eddy_scope_begin(&shield,
			 &(struct eddy_scope_options){ .shielded = true, .timeout_ns = SETTLE_NS });
	do {
		if (every_ns && (outcome == DONE || outcome == FAILED))
			r = eddy_pg_query(pg, NULL, next_sql,
					  EDDY_PG(run->job.id, run->number, error,
						  seconds(every_ns)));
		else if (outcome == DONE)
			r = eddy_pg_query(pg, NULL, done_sql, EDDY_PG(run->job.id, run->number));
		else
			r = eddy_pg_query(pg, NULL, again_sql,
					  EDDY_PG(run->job.id, run->number, attempts, error,
						  seconds(backoff_ns), (bool)(outcome == FAILED)));
	} while (r < 0 && eddy_sleep(100 * EDDY_MS) == 0);
	eddy_scope_end(&shield);
	return r < 0 ? LOST : outcome;
}

static void run_job(struct run *run)
{
	const struct eddy_pg_job_kind *kind = run->kind;
	struct eddy_scope_options options = { .timeout_ns = kind->timeout_ns ? kind->timeout_ns :
									       3600 * EDDY_SECOND };
	enum outcome outcome = LOST;
	int r = -EOWNERDEAD; /* the workers of all attempts */

	eddyi_figure_add(&figures[RUNNING], 1);
	eddy_scope_begin(&run->scope, &options);
	if (run->job.attempt <= attempts_max(run))
		r = eddy_scope_spawn(&run->scope, "renew", renew, run);
	if (r == 0)
		r = kind->run(&run->job, kind->arg);
	if (eddy_scope_end(&run->scope) == -ETIMEDOUT && r < 0)
		r = -ETIMEDOUT;
	if (eddy_now() < run->until_ns)
		outcome = settle(run, r);
	if (outcome == LOST)
		eddy_warn(TARGET, "job %lld (%s) runs again: its lease has ended",
			  (long long)run->job.id, kind->name);
	eddyi_figure_add(&figures[outcome], 1);
	eddyi_figure_add(&figures[RUNNING], -1);
}

/* ---- workers ---- */

/* Take a job that is due. `*ret_rows` owns its payload. Return: 0; -ENOENT, and how long to wait;
 * -errno. */
static int take(struct run *run, struct eddy_pg_rows *ret_rows, uint64_t *wait_ns)
{
	const struct eddy_pg_jobs *options = &run->queue->options;
	const char *names = run->queue->names;
	struct eddy_pg_statement both[] = {
		{ .sql = take_sql, .params = EDDY_PG(names, seconds(options->lease_ns)) },
		{ .sql = due_sql, .params = EDDY_PG(names, seconds(options->poll_ns)) },
	};
	struct eddy_str kind;
	double wait_s;
	int r;

	run->until_ns = eddy_now() + options->lease_ns;
	r = eddy_pg_pipeline(options->pg, both, 2);
	if (r < 0)
		return r;
	*ret_rows = both[0].rows;
	r = eddy_pg_row(&both[1].rows, 0, EDDY_TO(&wait_s));
	eddy_pg_rows_deinit(&both[1].rows);
	if (r == 0)
		*wait_ns = (uint64_t)(wait_s * (double)EDDY_SECOND);
	if (!ret_rows->count) {
		eddy_pg_rows_deinit(ret_rows);
		return -ENOENT;
	}
	r = eddy_pg_row(ret_rows, 0, EDDY_TO(&run->job.id), EDDY_TO(&kind),
			EDDY_TO(&run->job.payload), EDDY_TO(&run->job.attempt),
			EDDY_TO(&run->number));
	run->kind = options->kinds;
	while (r == 0 && !eddy_str_eq_z(kind, run->kind->name))
		run->kind++;
	return r;
}

static int add_periodic(struct queue *queue)
{
	const struct eddy_pg_job_kind *kind = queue->options.kinds;
	int r = 0;

	for (; r == 0 && kind->name; kind++)
		if (kind->every_ns)
			r = eddy_pg_query(queue->options.pg, NULL, ADD(NEXT("$4")),
					  EDDY_PG(kind->name, "periodic", NULL,
						  seconds(kind->every_ns)));
	queue->has_periodic = r == 0;
	return r;
}

/* Wait for a job, and take it. Return: 0; -ECANCELED. */
static int look(struct run *run, struct eddy_pg_rows *ret_rows)
{
	struct queue *queue = run->queue;
	struct eddy_pg_notification item;

	while (!queue->stops.is_set || queue->options.drain) {
		uint64_t wait_ns = RETRY_NS;
		int r = queue->has_periodic ? 0 : add_periodic(queue);

		if (r == 0)
			r = take(run, ret_rows, &wait_ns);
		if (r == 0)
			return 0;
		if (queue->stops.is_set)
			break;
		eddy_select((struct eddy_case[]){ eddy_case_event(&queue->stops),
						  eddy_case_chan_recv(&queue->news, &item),
						  eddy_case_after(wait_ns) },
			    3);
	}
	return -ECANCELED;
}

static int work(void *arg)
{
	int r;

	do {
		EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
		struct run run = { .queue = arg };

		r = eddy_mutex_lock(&run.queue->looks);
		if (r < 0)
			return r;
		r = look(&run, &rows);
		eddy_mutex_unlock(&run.queue->looks);
		if (r == 0)
			run_job(&run);
	} while (r == 0);
	return r;
}

static int await_stop(void *arg)
{
	struct queue *queue = arg;
	struct eddy_event never;
	int r;

	eddy_event_init(&never);
	r = eddy_event_wait(&never);
	eddy_event_set(&queue->stops);
	return r;
}

static int queue_init(struct queue *queue)
{
	const struct eddy_pg_job_kind *kind = queue->options.kinds;
	size_t len = 0;

#define DEFAULT(field, value)                                                                      \
	if (!queue->options.field)                                                                 \
	queue->options.field = (value)
	DEFAULT(concurrency, 4);
	DEFAULT(lease_ns, 30 * EDDY_SECOND);
	DEFAULT(poll_ns, 30 * EDDY_SECOND);
	DEFAULT(backoff_ns, EDDY_SECOND);
	DEFAULT(grace_ns, 10 * EDDY_SECOND);
#undef DEFAULT
	for (; kind->name && len < sizeof(queue->names) && !strchr(kind->name, ' '); kind++)
		len += (size_t)snprintf(queue->names + len, sizeof(queue->names) - len, "%s%s",
					len ? " " : "", kind->name);
	if (kind->name || len >= sizeof(queue->names))
		return -EINVAL;
	eddy_mutex_init(&queue->looks);
	eddy_event_init(&queue->stops);
	eddyi_figure_offer(figures, FIGURES);
	return eddy_chan_init(&queue->news, sizeof(struct eddy_pg_notification), 1);
}

int eddy_pg_jobs_run(void *arg)
{
	struct queue queue = { .options = *(const struct eddy_pg_jobs *)arg };
	struct eddy_pg_listener listener = { .pg = queue.options.pg,
					     .channels = EDDY_LIST("eddy_jobs"),
					     .to = &queue.news };
	struct eddy_scope outer, workers, grace;
	int r = queue_init(&queue);

	if (r < 0)
		return r;
	eddy_scope_begin(&outer, NULL);
	r = eddy_scope_spawn(&outer, "listen", eddy_pg_listen, &listener);
	if (r == 0)
		r = eddy_scope_spawn(&outer, "stop", await_stop, &queue);
	eddy_scope_begin(&workers, &(struct eddy_scope_options){ .shielded = true });
	for (unsigned i = 0; r == 0 && i < queue.options.concurrency; i++)
		r = eddy_scope_spawn(&workers, "work", work, &queue);
	if (r == 0)
		r = eddy_event_wait(&queue.stops);
	eddy_event_set(&queue.stops);
	eddy_scope_begin(&grace,
			 &(struct eddy_scope_options){ .timeout_ns = queue.options.grace_ns });
	eddy_scope_join(&workers);
	eddy_scope_end(&grace);
	eddy_scope_end(&workers);
	eddy_scope_end(&outer);
	eddy_chan_deinit(&queue.news);
	return r < 0 ? r : -ECANCELED;
}
