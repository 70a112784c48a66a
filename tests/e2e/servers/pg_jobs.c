/* pg_jobs: the job queue of examples/pg, a case of test_pg.py at a time. */
#include "pg_cases.h"

#include <eddy/app.h>
#include <eddy/json_text.h>
#include <eddy_pg_jobs.h>
#include <unistd.h>

/* ---- shown in README.md of examples/pg ---- */

static int deliver(struct eddy_str to)
{
	printf("mail to %.*s\n", EDDY_FMT(to));
	return 0;
}

struct mail {
	struct eddy_str to;
};

static const struct eddy_member mail_members[] = { EDDY_MEMBER(struct mail, to) };

static int send_mail(const struct eddy_pg_job *job, void *arg)
{
	struct eddy_json_reader reader = { 0 };
	struct mail mail;

	(void)arg;
	if (eddy_json_read(&reader, job->payload, mail_members, &mail) < 0)
		return -EBADMSG; /* no attempt would succeed */
	return deliver(mail.to); /* another -errno: again, later */
}

static int sweep(const struct eddy_pg_job *job, void *pg)
{
	(void)job;
	return eddy_pg_query(pg, NULL, "delete from carts where at < now() - interval '1 day'",
			     EDDY_PG());
}

/* An order and its mail: both, or none. */
static int order(struct eddy_pg *pg, int64_t article, struct eddy_str mail)
{
	EDDY_AUTO(eddy_pg_end) struct eddy_pg tx = { 0 };
	int r = eddy_pg_begin(pg, NULL, &tx);

	if (r == 0)
		r = eddy_pg_query(&tx, NULL, "insert into orders values ($1)", EDDY_PG(article));
	if (r == 0)
		r = eddy_pg_jobs_add(&tx,
				     &(struct eddy_pg_new_job){ .kind = "mail", .payload = mail });
	return r == 0 ? eddy_pg_commit(&tx) : r;
}

static const struct eddy_pg_job_kind shop_kinds[] = {
	{ .name = "mail", .run = send_mail, .attempts_max = 5 },
	{ .name = "sweep", .run = sweep, .arg = &pool, .every_ns = 3600 * EDDY_SECOND },
	{ .name = NULL },
};

static struct eddy_pg_jobs shop_jobs = { .pg = &pool, .kinds = shop_kinds };

/* ---- cases ---- */

static const char waiting[] = "select count(*) from eddy_jobs";

/* Work until a query gives this number. */
static int work_until(struct eddy_pg_jobs *jobs, const char *sql, int64_t wanted)
{
	struct eddy_scope scope;
	int r;

	EXPECT_EQ(run_sql(&pool, eddy_pg_jobs_sql), 0);
	jobs->pg = &pool;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "jobs", eddy_pg_jobs_run, jobs);
	r = eventually(sql, wanted);
	eddy_scope_end(&scope);
	return r;
}

static int shown(void)
{
	EXPECT_EQ(run_sql(&pool, eddy_pg_jobs_sql), 0);
	EXPECT_EQ(run_sql(&pool, "create table orders (a int)"), 0);
	EXPECT_EQ(run_sql(&pool, "create table carts (at timestamptz)"), 0);
	EXPECT_EQ(order(&pool, 7, EDDY_STR("{\"to\": \"Ada\"}")), 0);
	EXPECT_EQ(order(&pool, 7, EDDY_STR("{\"to\": 1}")), 0);
	EXPECT_EQ(order(&pool, 7, EDDY_STR("{")), -EINVAL);
	EXPECT_EQ(work_until(&shop_jobs,
			     "select count(*) from eddy_jobs where failed_at is null or error <> "
			     "'Bad message'",
			     1),
		  0);
	EXPECT_EQ(number(&pool, "select count(*) from eddy_jobs where key = 'periodic'"), 1);
	EXPECT_EQ(number(&pool, "select count(*) from orders"), 2);
	return 0;
}

/* Insert the payload into a table, after sleeping for so many milliseconds. */
static int insert(const struct eddy_pg_job *job, void *arg)
{
	int r = eddy_sleep((uintptr_t)arg * EDDY_MS);

	return r < 0 ? r :
		       eddy_pg_query(&pool, NULL, "insert into done values ($1::text::int, $2)",
				     EDDY_PG(job->payload, job->attempt));
}

static int begin_and_insert(const struct eddy_pg_job *job, void *arg)
{
	int r = eddy_pg_query(&pool, NULL, "insert into begun values ($1::text::int)",
			      EDDY_PG(job->payload));

	return r < 0 ? r : insert(job, arg);
}

static int tables(void)
{
	EXPECT_EQ(run_sql(&pool, eddy_pg_jobs_sql), 0);
	EXPECT_EQ(run_sql(&pool, "create table begun (a int)"), 0);
	EXPECT_EQ(run_sql(&pool, "create table done (a int, attempt int)"), 0);
	return 0;
}

static int work_with(eddy_pg_job_fn *fn, uintptr_t ms, uint64_t lease_ns, const char *sql,
		     int64_t wanted)
{
	const struct eddy_pg_job_kind kinds[] = { { .name = "job", .run = fn, .arg = (void *)ms },
						  { .name = NULL } };
	struct eddy_pg_jobs jobs = { .kinds = kinds, .lease_ns = lease_ns };

	return work_until(&jobs, sql, wanted);
}

static int creates(void)
{
	return run_sql(&pool, eddy_pg_jobs_sql);
}

/* One of two processes that share jobs. */
static int shares(void)
{
	return work_with(insert, 0, 0, waiting, 0);
}

static int adds(void)
{
	struct eddy_pg_new_job job = { .kind = "job", .payload = EDDY_STR("1"), .key = "k" };
	struct eddy_pg tx;

	EXPECT_EQ(tables(), 0);
	EXPECT_EQ(run_sql(&pool, eddy_pg_jobs_sql), 0);
	EXPECT_EQ(eddy_pg_begin(&pool, NULL, &tx), 0);
	EXPECT_EQ(eddy_pg_jobs_add(&tx, &job), 0);
	EXPECT_EQ(eddy_pg_jobs_add(&tx, &job), -EEXIST);
	eddy_pg_end(&tx);
	EXPECT_EQ(number(&pool, waiting), 0);
	EXPECT_EQ(eddy_pg_begin(&pool, NULL, &tx), 0);
	EXPECT_EQ(eddy_pg_jobs_add(&tx, &job), 0);
	EXPECT_EQ(eddy_pg_jobs_add(&tx, &job), -EEXIST);
	EXPECT_EQ(eddy_pg_commit(&tx), 0);
	eddy_pg_end(&tx);
	EXPECT_EQ(eddy_pg_jobs_add(&pool, &job), -EEXIST);
	job.key = NULL;
	job.delay_ns = 3600 * EDDY_SECOND;
	EXPECT_EQ(eddy_pg_jobs_add(&pool, &job), 0);
	EXPECT_EQ(eddy_pg_jobs_add(&pool, &job), 0);
	job.payload = EDDY_STR("{]");
	EXPECT_EQ(eddy_pg_jobs_add(&pool, &job), -EINVAL);
	EXPECT_EQ(work_with(insert, 0, 0, "select count(*) from done", 1), 0);
	EXPECT_EQ(number(&pool, waiting), 2);
	return 0;
}

static int add_later(void *arg)
{
	struct eddy_pg_new_job job = { .kind = "job", .payload = EDDY_STR("1") };
	int r = eventually("select count(*) from pg_stat_activity where query like 'listen%'", 1);

	(void)arg;
	if (r == 0)
		r = eddy_pg_jobs_add(&pool, &job);
	job.delay_ns = 200 * EDDY_MS;
	return r < 0 ? r : eddy_pg_jobs_add(&pool, &job);
}

/* Jobs that are added later are noticed long before the poll. */
static int notifies(void)
{
	struct eddy_scope scope;

	EXPECT_EQ(tables(), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "add", add_later, NULL);
	EXPECT_EQ(work_with(insert, 0, 0, "select count(*) from done", 2), 0);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	return 0;
}

/* Fail as the payload says: with a status, so many times. */
static int fails(const struct eddy_pg_job *job, void *arg)
{
	int times = job->payload.ptr[0] - '0';

	(void)arg;
	if (times == 0)
		return -EBADMSG;
	if (times == 8)
		return eddy_sleep(3600 * EDDY_SECOND);
	return (int)job->attempt > times ? 0 : -EIO;
}

static int retries(void)
{
	const struct eddy_pg_job_kind kinds[] = {
		{ .name = "job", .run = fails, .attempts_max = 3, .timeout_ns = 50 * EDDY_MS },
		{ .name = NULL }
	};
	struct eddy_pg_jobs jobs = { .kinds = kinds, .backoff_ns = 50 * EDDY_MS };
	const char *payloads[] = { "0", "1", "2", "3", "8" };

	EXPECT_EQ(tables(), 0);
	for (size_t i = 0; i < 5; i++)
		EXPECT_EQ(eddy_pg_jobs_add(&pool,
					   &(struct eddy_pg_new_job){
						   .kind = "job",
						   .payload = eddy_str_from(payloads[i]) }),
			  0);
	/* The worker has died in all attempts. */
	EXPECT_EQ(run_sql(&pool, "insert into eddy_jobs (kind, payload, run_at, attempts) values "
				 "('job', '1', now(), 3)"),
		  0);
	EXPECT_EQ(work_until(&jobs, "select count(*) from eddy_jobs where failed_at is null", 0),
		  0);
	EXPECT_EQ(
		number(&pool,
		       "select count(*) from eddy_jobs where "
		       "(payload::text = '0' and attempts = 1 and error = 'Bad message') or "
		       "(payload::text = '1' and attempts = 4 and error = 'Owner died') or "
		       "(payload::text = '3' and attempts = 3 and error = 'Input/output error') or "
		       "(payload::text = '8' and attempts = 3 and error = 'Connection timed out')"),
		4);
	EXPECT_EQ(number(&pool, waiting), 4);
	EXPECT(counts("eddy_pg_job_runs_total{outcome=\"done\"} 2\n"));
	EXPECT(counts("eddy_pg_job_runs_total{outcome=\"retried\"} 7\n"));
	EXPECT(counts("eddy_pg_job_runs_total{outcome=\"failed\"} 4\n"));
	return 0;
}

static int ticks(const struct eddy_pg_job *job, void *arg)
{
	(void)arg;
	/* One fails, and the next period comes all the same. */
	return job->attempt == 1 && number(&pool, "insert into ticks values (default) returning "
						  "(floor(extract(epoch from at) / 0.2))::bigint") %
						    3 ==
					    0 ?
		       -EBADMSG :
		       0;
}

/* One of two processes. */
static int periodic(void)
{
	const struct eddy_pg_job_kind kinds[] = {
		{ .name = "tick", .run = ticks, .every_ns = 200 * EDDY_MS }, { .name = NULL }
	};
	struct eddy_pg_jobs jobs = { .kinds = kinds };

	return work_until(&jobs, "select least(count(*), 8) from ticks", 8);
}

static unsigned slept, cut;

static int sleeps(const struct eddy_pg_job *job, void *arg)
{
	int r = eddy_sleep((uintptr_t)arg * EDDY_MS);

	(void)job;
	*(r == 0 ? &slept : &cut) += 1;
	return r;
}

/* Running jobs end, and others are not begun. */
static int stops(void)
{
	struct eddy_pg_job_kind kinds[] = { { .name = "job", .run = sleeps, .arg = (void *)300 },
					    { .name = NULL } };
	struct eddy_pg_jobs jobs = { .kinds = kinds,
				     .concurrency = 1,
				     .grace_ns = 30 * EDDY_SECOND };
	const char *running = "select count(*) from eddy_jobs where runs = 1";

	EXPECT_EQ(tables(), 0);
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(eddy_pg_jobs_add(&pool, &(struct eddy_pg_new_job){ .kind = "job" }), 0);
	EXPECT_EQ(work_until(&jobs, running, 1), 0);
	EXPECT_EQ(slept, 1);
	EXPECT_EQ(cut, 0);
	EXPECT_EQ(number(&pool, waiting), 1);
	/* What does not end is given back. */
	kinds[0].arg = (void *)3600000;
	jobs.grace_ns = 100 * EDDY_MS;
	EXPECT_EQ(work_until(&jobs, running, 1), 0);
	EXPECT_EQ(cut, 1);
	EXPECT_EQ(number(&pool,
			 "select count(*) from eddy_jobs where runs = 1 and attempts = 0 and "
			 "run_at <= now()"),
		  1);
	return 0;
}

/* Jobs that are due are begun, too. */
static int drains(void)
{
	struct eddy_pg_job_kind kinds[] = { { .name = "job", .run = sleeps, .arg = (void *)300 },
					    { .name = NULL } };
	struct eddy_pg_jobs jobs = {
		.kinds = kinds, .concurrency = 1, .grace_ns = 30 * EDDY_SECOND, .drain = true
	};
	struct eddy_pg_new_job later = { .kind = "job", .delay_ns = 3600 * EDDY_SECOND };

	EXPECT_EQ(tables(), 0);
	EXPECT_EQ(eddy_pg_jobs_add(&pool, &later), 0);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(eddy_pg_jobs_add(&pool, &(struct eddy_pg_new_job){ .kind = "job" }), 0);
	EXPECT_EQ(work_until(&jobs, "select count(*) from eddy_jobs where runs = 1", 1), 0);
	EXPECT_EQ(slept, 3);
	EXPECT_EQ(number(&pool, waiting), 1);
	return 0;
}

static struct eddy_app *app;

static int shut_down(const struct eddy_pg_job *job, void *arg)
{
	eddy_app_shutdown(app);
	return insert(job, arg);
}

/* An app ends when its jobs have ended. */
static int serves(void)
{
	const struct eddy_pg_job_kind kinds[] = {
		{ .name = "job", .run = shut_down, .arg = (void *)300 }, { .name = NULL }
	};
	struct eddy_pg_jobs jobs = {
		.pg = &pool, .kinds = kinds, .concurrency = 1, .grace_ns = 30 * EDDY_SECOND
	};

	EXPECT_EQ(tables(), 0);
	EXPECT_EQ(run_sql(&pool, "insert into eddy_jobs (kind, payload, run_at) select 'job', "
				 "'1', now() from generate_series(1, 2)"),
		  0);
	app = eddy_app_new();
	eddy_app_add_bind(app, "127.0.0.1:0", NULL);
	eddy_app_add_task(app, "jobs", eddy_pg_jobs_run, &jobs);
	EXPECT_EQ(eddy_app_run(app), 0);
	eddy_app_free(app);
	EXPECT_EQ(number(&pool, "select count(*) from done"), 1);
	EXPECT_EQ(number(&pool, "select count(*) from eddy_jobs where runs = 0"), 1);
	return 0;
}

/* A lease is renewed; a run that has lost it is cancelled. */
static int leases(void)
{
	const struct eddy_pg_job_kind kinds[] = {
		{ .name = "job", .run = sleeps, .arg = (void *)3600000 }, { .name = NULL }
	};
	struct eddy_pg_jobs jobs = { .pg = &pool, .kinds = kinds, .lease_ns = 3 * EDDY_SECOND };
	struct eddy_scope scope;

	EXPECT_EQ(tables(), 0);
	EXPECT_EQ(eddy_pg_jobs_add(&pool, &(struct eddy_pg_new_job){ .kind = "job" }), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "jobs", eddy_pg_jobs_run, &jobs);
	EXPECT_EQ(eventually(
			  "select count(*) from eddy_jobs where runs = 1 and run_at > created_at + "
			  "interval '3.5 seconds'",
			  1),
		  0);
	/* As another worker would. */
	EXPECT_EQ(run_sql(&pool, "update eddy_jobs set runs = runs + 1, run_at = 'infinity'"), 0);
	for (int i = 0; i < 400 && !cut; i++)
		eddy_sleep(50 * EDDY_MS);
	eddy_scope_end(&scope);
	EXPECT(cut && counts("eddy_pg_job_runs_total{outcome=\"lost\"}"));
	EXPECT_EQ(number(&pool, "select count(*) from eddy_jobs where run_at = 'infinity'"), 1);
	return 0;
}

/* test_pg.py kills the process or the server. */
static int holds(void)
{
	EXPECT_EQ(tables(), 0);
	EXPECT_EQ(eddy_pg_jobs_add(&pool, &(struct eddy_pg_new_job){ .kind = "job",
								     .payload = EDDY_STR("1") }),
		  0);
	return work_with(begin_and_insert, 3600000, EDDY_SECOND, waiting, 0);
}

static int survives(void)
{
	EXPECT_EQ(tables(), 0);
	EXPECT_EQ(run_sql(&pool, "insert into eddy_jobs (kind, payload, run_at) select 'job', "
				 "to_json(a), now() from generate_series(1, 8) as a"),
		  0);
	return work_with(begin_and_insert, 500, EDDY_SECOND, waiting, 0);
}

static const struct pg_case cases[] = {
	{ "shown", shown },       { "creates", creates },   { "shares", shares },
	{ "adds", adds },         { "notifies", notifies }, { "retries", retries },
	{ "periodic", periodic }, { "stops", stops },       { "serves", serves },
	{ "drains", drains },     { "leases", leases },     { "holds", holds },
	{ "survives", survives }, { NULL, NULL },
};

int main(int argc, char **argv)
{
	return pg_main(argc, argv, cases);
}
