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
	database.options.conninfo = conninfo;
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

static const struct pg_case cases[] = {
	{ "rows", rows },
	{ "starts", starts },
	{ "events", events },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return pg_main(argc, argv, cases);
}
