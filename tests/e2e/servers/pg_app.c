/* pg_app: apps with a database (examples/pg/eddy_pg_app.h), a case of test_pg.py at a time. */
#include "pg_cases.h"

#include <eddy/http.h>
#include <eddy/test.h>
#include <eddy_pg_app.h>

/* README.md of examples/pg shows what follows. */
struct book {
	int64_t id;
	struct eddy_str title;
};

static const struct eddy_member book_members[] = { EDDY_MEMBER(struct book, id),
						   EDDY_MEMBER(struct book, title) };

static const struct eddy_pg_migration migrations[] = {
	{ "001_books", "create table books (id bigserial primary key, title text not null);" },
	{ NULL, NULL },
};

static struct eddy_pg_app database = { .migrations = migrations };

/* GET /books: [{"id":1,"title":"Emma"}] */
static int list(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_pg_respond(res, &database.pg, EDDY_SHAPE(struct book, book_members),
			       "select id, title from books order by id", EDDY_PG());
}

/* GET /books/{id}: {"id":1,"title":"Emma"}, or 404 */
static int show(struct eddy_req *req, struct eddy_res *res)
{
	int64_t id;
	int r = eddy_req_path(req, EDDY_TO(&id));

	if (r == 0)
		r = eddy_pg_respond_one(res, &database.pg, EDDY_SHAPE(struct book, book_members),
					"select id, title from books where id = $1", EDDY_PG(id));
	return r;
}

/* What the app starts with. */
static unsigned ran;

static int wait_for_job(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	for (int i = 0; i < 500 && !ran; i++)
		eddy_sleep(10 * EDDY_MS);
	return eddy_res_ok(res, "%u", ran);
}

/* Ends the channel after some events. */
static int notify(void *arg)
{
	static const char *const sql[] = { "notify news, '{\"a\":1} ada'", "notify news, 'none'",
					   "notify news, '2 bob'", "notify news, '3 ada lovelace'",
					   "notify news, '4 ada'" };
	int r = 0;

	(void)arg;
	/* The app's listener is there. */
	for (int i = 0;
	     i < 500 && number(&database.pg, "select count(*) from pg_stat_activity where "
					     "query ilike 'listen%'") != 1;
	     i++)
		eddy_sleep(10 * EDDY_MS);
	for (size_t i = 0; i < sizeof(sql) / sizeof(*sql) && r == 0; i++)
		r = run_sql(&database.pg, sql[i]);
	eddy_sleep(300 * EDDY_MS);
	eddy_events_channel_free(database.events);
	database.events = NULL;
	return r;
}

static int follow(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_scope scope;
	int r;

	(void)req;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "notify", notify, NULL);
	r = eddy_events_subscribe_to(database.events, EDDY_STR("ada"), res);
	eddy_scope_end(&scope);
	return r;
}

static struct eddy_app *app_with_books(void)
{
	struct eddy_app *app = eddy_app_new();

	eddy_pg_use(app, &database);
	eddy_app_map_get(app, "/books", list);
	eddy_app_map_get(app, "/books/{id}", show);
	eddy_app_map_get(app, "/wait", wait_for_job);
	eddy_app_map_get(app, "/follow", follow);
	return app;
}

/* Return: the status; -errno. */
static int ask(struct eddy_app *app, const char *line, const char *wanted)
{
	struct eddy_response *response;
	struct eddy_str body;
	int status, r = eddy_app_test(app, line, NULL, &response);

	if (r < 0)
		return r;
	status = eddy_response_status(response);
	EXPECT_EQ(eddy_response_body(response, &body), 0);
	EXPECT(!wanted || is(body, wanted));
	eddy_response_free(response);
	return status;
}

static int rows(void)
{
	struct eddy_app *app = app_with_books();

	database.options.conninfo = conninfo;
	EXPECT_EQ(ask(app, "GET /books", "[]"), 200);
	EXPECT_EQ(ask(app, "GET /books/1", NULL), 404);
	EXPECT_EQ(run_sql(&database.pg, "insert into books (title) values ('Emma'), ('\"')"), 0);
	EXPECT_EQ(ask(app, "GET /books",
		      "[{\"id\":1,\"title\":\"Emma\"},{\"id\":2,\"title\":\"\\\"\"}]"),
		  200);
	EXPECT_EQ(ask(app, "GET /books/2", "{\"id\":2,\"title\":\"\\\"\"}"), 200);
	EXPECT_EQ(ask(app, "GET /books/x", NULL), 400);
	/* A row that does not fit the struct is a fault of the service. */
	EXPECT_EQ(run_sql(&database.pg, "alter table books alter id type text"), 0);
	EXPECT_EQ(run_sql(&database.pg, "update books set id = 'x' where id = '2'"), 0);
	EXPECT_EQ(ask(app, "GET /books", NULL), 500);
	eddy_app_free(app);
	EXPECT(!database.pg.pool);
	return 0;
}

static int run_job(const struct eddy_pg_job *job, void *arg)
{
	(void)job;
	(void)arg;
	ran++;
	return 0;
}

/* A start that fails is tried again by the next. Then the tasks run. */
static int starts(void)
{
	static const struct eddy_pg_job_kind kinds[] = { { .name = "count", .run = run_job },
							 { .name = NULL } };
	static const struct eddy_pg_migration wrong[] = { { "001", "create table;" },
							  { NULL, NULL } };
	struct eddy_pg_jobs jobs = { .kinds = kinds };
	struct eddy_app *app;

	database = (struct eddy_pg_app){ .options = { .conninfo = "host=127.0.0.1 port=1",
						      .wait_ns = 50 * EDDY_MS },
					 .jobs = &jobs };
	app = app_with_books();
	EXPECT(ask(app, "GET /books", NULL) < 0);
	EXPECT(!database.pg.pool);
	database.options = (struct eddy_pg_options){ .conninfo = conninfo };
	database.migrations = wrong;
	EXPECT(ask(app, "GET /books", NULL) < 0);
	EXPECT(!database.pg.pool);
	database.migrations = migrations;
	EXPECT_EQ(ask(app, "GET /books", "[]"), 200);
	EXPECT_EQ(eddy_pg_jobs_add(&database.pg, &(struct eddy_pg_new_job){ .kind = "count" }), 0);
	EXPECT_EQ(ask(app, "GET /wait", "1"), 200);
	eddy_app_free(app);
	return 0;
}

static int events(void)
{
	struct eddy_response *response;
	struct eddy_app *app;
	struct eddy_str body;

	database = (struct eddy_pg_app){ .options.conninfo = conninfo, .notify = "news" };
	app = app_with_books();
	EXPECT_EQ(eddy_app_test(app, "GET /follow", NULL, &response), 0);
	EXPECT_EQ(eddy_response_body(response, &body), 0);
	EXPECT(memmem(body.ptr, body.len, "\ndata: {\"a\":1}\n\n", 16));
	EXPECT(memmem(body.ptr, body.len, "\ndata: 4\n\n", 10));
	EXPECT_EQ(memmem(body.ptr, body.len, "none", 4) || memmem(body.ptr, body.len, ": 2", 3) ||
			  memmem(body.ptr, body.len, ": 3", 3) ||
			  memmem(body.ptr, body.len, "data: \n", 7),
		  0);
	eddy_response_free(response);
	eddy_app_free(app);
	return 0;
}

/* ---- workers share a pool, jobs, a listener and a channel of events ---- */

#define TOPICS 3
#define WRITERS 4
#define POSTS 15 /* of each writer */

static struct {
	struct eddy_app *app;
	unsigned subscribed; /* readers, or those that can't be */
	unsigned received, posted, unknown;
	bool ended;
} shared;

/* POST /posts/{topic}/{n}: a row, a job and a notification, or none of them */
static int add_post(struct eddy_req *req, struct eddy_res *res)
{
	EDDY_AUTO(eddy_pg_end) struct eddy_pg tx = { 0 };
	struct eddy_str topic, n;
	int r = eddy_req_path(req, EDDY_TO(&topic), EDDY_TO(&n));

	if (r == 0)
		r = eddy_pg_begin(&database.pg, NULL, &tx);
	if (r == 0)
		r = eddy_pg_query(&tx, NULL, "insert into posts values ($1)", EDDY_PG(n));
	if (r == 0)
		r = eddy_pg_jobs_add(&tx,
				     &(struct eddy_pg_new_job){ .kind = "post", .payload = n });
	if (r == 0)
		r = eddy_pg_query(&tx, NULL, "select pg_notify('posts', $2 || ' ' || $1)",
				  EDDY_PG(topic, n));
	if (r == 0)
		r = eddy_pg_commit(&tx);
	return r < 0 ? r : eddy_res_ok(res, "posted");
}

/* GET /posts/{topic} */
static int follow_topic(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str topic;
	int r = eddy_req_path(req, EDDY_TO(&topic));

	return r < 0 ? r : eddy_events_subscribe_to(database.events, topic, res);
}

static int run_post(const struct eddy_pg_job *job, void *arg)
{
	(void)arg;
	return eddy_pg_query(&database.pg, NULL, "insert into done values ($1::text::int)",
			     EDDY_PG(job->payload));
}

static int read_posts(void *topic)
{
	struct eddy_client *client = eddy_client_new(NULL);
	struct eddy_response *response = NULL;
	char url[64], text[1024];
	ssize_t len;
	int r;

	snprintf(url, sizeof(url), "http://127.0.0.1:%u/posts/%u", eddy_app_port(shared.app),
		 (unsigned)(uintptr_t)topic);
	r = eddy_client_get(client, url, &response);
	shared.subscribed++;
	while (r == 0 && (len = eddy_response_read(response, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < len; i++)
			shared.received += text[i] == 't'; /* one in "data: 5" */
	eddy_response_free(response);
	eddy_client_free(client);
	return r;
}

static int write_posts(void *writer)
{
	const struct eddy_client_request request = { .method = "POST" };
	struct eddy_client *client = eddy_client_new(NULL);

	for (unsigned i = 0; i < POSTS; i++) {
		struct eddy_response *response = NULL;
		char url[64];
		int r;

		snprintf(url, sizeof(url), "http://127.0.0.1:%u/posts/%u/%u",
			 eddy_app_port(shared.app), i % TOPICS,
			 (unsigned)(uintptr_t)writer * POSTS + i);
		r = eddy_client_send(client, url, &request, &response);
		*(r == 0 && eddy_response_status(response) == 200 ? &shared.posted :
								    &shared.unknown) += 1;
		eddy_response_free(response);
	}
	eddy_client_free(client);
	return 0;
}

static int drive(void *arg)
{
	struct eddy_scope readers, writers;
	int r;

	(void)arg;
	for (int i = 0; i < 500 && !eddy_app_port(shared.app); i++)
		eddy_sleep(10 * EDDY_MS);
	eddy_scope_begin(&readers, NULL);
	for (uintptr_t i = 0; i < TOPICS; i++)
		eddy_scope_spawn(&readers, "read", read_posts, (void *)i);
	for (int i = 0; i < 2000 && shared.subscribed < TOPICS; i++)
		eddy_sleep(10 * EDDY_MS);
	eventually("select count(*) from pg_stat_activity where query = 'listen \"posts\"'", 1);
	eddy_scope_begin(&writers, NULL);
	for (uintptr_t i = 0; i < WRITERS; i++)
		eddy_scope_spawn(&writers, "write", write_posts, (void *)i);
	eddy_scope_join(&writers);
	eddy_scope_end(&writers);
	r = eventually("select count(*) from eddy_jobs", 0);
	for (int i = 0; i < 2000 && shared.received < shared.posted && !calls_fail(); i++)
		eddy_sleep(10 * EDDY_MS);
	eddy_scope_end(&readers);
	shared.ended = r == 0;
	eddy_app_shutdown(shared.app);
	return r;
}

static int workers(void)
{
	static const struct eddy_pg_job_kind kinds[] = { { .name = "post", .run = run_post },
							 { .name = NULL } };
	struct eddy_pg_jobs jobs = { .kinds = kinds,
				     .backoff_ns = 50 * EDDY_MS,
				     .lease_ns = 3 * EDDY_SECOND };
	struct eddy_app *app = eddy_app_new();
	int64_t count;
	int r, tries = 0;

	EXPECT_EQ(make_sure("create table if not exists posts (n int primary key)"), 0);
	EXPECT_EQ(make_sure("create table if not exists done (n int)"), 0);
	database = (struct eddy_pg_app){ .options = { .conninfo = conninfo, .connections_max = 2 },
					 .jobs = &jobs,
					 .notify = "posts" };
	shared.app = app;
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers = 3 });
	eddy_app_bind(app, "127.0.0.1:0");
	eddy_pg_use(app, &database);
	eddy_app_map_post(app, "/posts/{topic}/{n}", add_post);
	eddy_app_map_get(app, "/posts/{topic}", follow_topic);
	eddy_app_add_task(app, "drive", drive, NULL);
	do
		r = eddy_app_run(app);
	while (r < 0 && !shared.ended && calls_fail() && ++tries < 20);
	EXPECT(shared.ended && (r == 0 || calls_fail()));
	eddy_app_free(app);
	EXPECT(calls_fail() ||
	       (shared.posted == WRITERS * POSTS && shared.received == shared.posted));
	count = surely("select count(*) from posts");
	EXPECT(shared.posted > 0 && count >= shared.posted &&
	       count <= shared.posted + shared.unknown);
	EXPECT_EQ(surely("select count(*) from posts full join done using (n) "
			 "where posts.n is null or done.n is null"),
		  0);
	return 0;
}

static const struct pg_case cases[] = {
	{ "rows", rows },     { "starts", starts }, { "workers", workers },
	{ "events", events }, { NULL, NULL },
};

int main(int argc, char **argv)
{
	return pg_main(argc, argv, cases);
}
