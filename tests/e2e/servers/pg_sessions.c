/* pg_sessions: the store of sessions of examples/pg, a case of test_pg.py at a time. */
#include "pg_cases.h"

#include <eddy/http.h>
#include <eddy/test.h>
#include <eddy_pg_sessions.h>

/* GET /{value}: set it, unless it is "-", and answer with the one before. Every byte is kept. */
static int swap(struct eddy_req *req, struct eddy_res *res)
{
	char bytes[256];
	struct eddy_session *session;
	struct eddy_str value, old;
	int r = eddy_req_path(req, EDDY_TO(&value));

	if (r == 0)
		r = eddy_req_session(req, &session);
	if (r < 0)
		return r;
	for (int i = 0; i < 256; i++)
		bytes[i] = (char)i;
	old = eddy_session_get(session, "value");
	if (old.ptr && !eddy_str_eq(eddy_session_get(session, "bytes"), eddy_str(bytes, 256)))
		return 500;
	if (is(value, "end"))
		r = eddy_session_end(session);
	else if (is(value, "renew"))
		r = eddy_session_renew(session);
	else if (!is(value, "-"))
		r = eddy_session_set(session, "value", value);
	if (r == 0 && is(value, "Ada"))
		r = eddy_session_set(session, "bytes", eddy_str(bytes, 256));
	return r < 0 ? r : eddy_res_ok(res, "%.*s", EDDY_FMT(old));
}

/* README.md of examples/pg shows this. */
static int use_sessions(struct eddy_app *app, struct eddy_pg *pg)
{
	int r = eddy_pg_query(pg, NULL, eddy_pg_sessions_sql, EDDY_PG());

	eddy_app_use_same_origin(app, NULL);
	eddy_app_use_sessions(app, &(struct eddy_sessions_options){ .store = &eddy_pg_sessions,
								    .store_data = pg });
	eddy_app_add_task(app, "sessions", eddy_pg_sessions_expire, pg);
	return r;
}

static char cookie[200];

/* Ask as a browser does. Return: the status; -errno. */
static int ask(struct eddy_app *app, const char *line, const char *wanted)
{
	const struct eddy_header headers[] = { { "cookie", cookie }, { 0 } };
	struct eddy_response *response;
	struct eddy_str body, set;
	int status;

	EXPECT_EQ(eddy_app_test(app, line, &(struct eddy_client_request){ .headers = headers },
				&response),
		  0);
	status = eddy_response_status(response);
	EXPECT_EQ(eddy_response_body(response, &body), 0);
	EXPECT(!wanted || is(body, wanted));
	set = eddy_response_header(response, "set-cookie");
	if (set.ptr)
		snprintf(cookie, sizeof(cookie), "%.*s",
			 (int)((const char *)memchr(set.ptr, ';', set.len) - set.ptr), set.ptr);
	eddy_response_free(response);
	return status;
}

static struct eddy_app *app_with(void)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/{value}", swap);
	return use_sessions(app, &pool) == 0 ? app : NULL;
}

static const char count[] = "select count(*) from eddy_sessions";

static int sessions(void)
{
	struct eddy_app *app = app_with(), *other = app_with();
	char old[sizeof(cookie)];

	EXPECT(app && other);
	EXPECT_EQ(ask(app, "GET /-", ""), 200);
	EXPECT_EQ(number(&pool, count), 0);
	EXPECT_EQ(ask(app, "GET /Ada", ""), 200);
	EXPECT_EQ(ask(app, "GET /Bob", "Ada"), 200);
	EXPECT_EQ(number(&pool, count), 1);
	EXPECT_EQ(number(&pool,
			 "select count(*) from eddy_sessions where expires_at between now() + "
			 "interval '28 min' and now() + interval '30 min'"),
		  1);
	/* Another process, or the next one. */
	EXPECT_EQ(ask(other, "GET /-", "Bob"), 200);
	/* It is extended. */
	EXPECT_EQ(run_sql(&pool, "update eddy_sessions set expires_at = now() + interval '1 min'"),
		  0);
	EXPECT_EQ(ask(other, "GET /-", "Bob"), 200);
	EXPECT_EQ(number(&pool, "select count(*) from eddy_sessions where expires_at > now() + "
				"interval '28 min'"),
		  1);
	/* It is ended, and can't be used again. */
	strcpy(old, cookie);
	EXPECT_EQ(ask(app, "GET /end", "Bob"), 200);
	EXPECT_EQ(number(&pool, count), 0);
	strcpy(cookie, old);
	EXPECT_EQ(ask(app, "GET /-", ""), 200);
	/* It expires. */
	EXPECT_EQ(ask(app, "GET /Ada", ""), 200);
	EXPECT_EQ(run_sql(&pool, "update eddy_sessions set expires_at = now()"), 0);
	EXPECT_EQ(ask(app, "GET /-", ""), 200);
	eddy_app_free(other);
	eddy_app_free(app);
	return 0;
}

static int end_it(void *app)
{
	return ask(app, "GET /end", "Ada") == 200 ? 0 : -1;
}

static int renew_it(void *app)
{
	return ask(app, "GET /renew", "Ada") == 200 ? 0 : -1;
}

/* Two requests at once: the renewal, which comes second, does not bring the session back. */
static int ended_and_renewed(void)
{
	static const char waiting[] = "select count(*) from pg_stat_activity where "
				      "wait_event_type = 'Lock'";
	struct eddy_app *app = app_with();
	struct eddy_scope scope;
	struct eddy_pg tx;
	int r;

	EXPECT(app);
	EXPECT_EQ(ask(app, "GET /Ada", ""), 200);
	EXPECT_EQ(eddy_pg_begin(&pool, NULL, &tx), 0);
	EXPECT_EQ(run_sql(&tx, "select 1 from eddy_sessions for update"), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "end", end_it, app);
	r = eventually(waiting, 1);
	eddy_scope_spawn(&scope, "renew", renew_it, app);
	if (r == 0)
		r = eventually(waiting, 2);
	eddy_pg_end(&tx);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	eddy_scope_end(&scope);
	EXPECT_EQ(r, 0);
	EXPECT_EQ(number(&pool, count), 0);
	eddy_app_free(app);
	return 0;
}

static int expires(void)
{
	struct eddy_scope scope;
	int r;

	EXPECT_EQ(run_sql(&pool, eddy_pg_sessions_sql), 0);
	EXPECT_EQ(run_sql(&pool, "insert into eddy_sessions select int4send(a), '', now() + "
				 "interval '1 hour' * (a % 2) from generate_series(1, 5000) as a"),
		  0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "expire", eddy_pg_sessions_expire, &pool);
	r = eventually(count, 2500);
	eddy_scope_end(&scope);
	return r;
}

/* Without a database there is no session, and no wrong one. */
static int unavailable(void)
{
	struct eddy_app *app = app_with();

	EXPECT(app);
	EXPECT_EQ(ask(app, "GET /Ada", ""), 200);
	conninfo = "host=127.0.0.1 port=1";
	EXPECT_EQ(open_with((struct eddy_pg_options){ .wait_ns = 100 * EDDY_MS }), 0);
	EXPECT_EQ(ask(app, "GET /-", NULL), 503);
	eddy_app_free(app);
	return 0;
}

static const struct pg_case cases[] = {
	{ "sessions", sessions }, { "ended_and_renewed", ended_and_renewed },
	{ "expires", expires },   { "unavailable", unavailable },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return pg_main(argc, argv, cases);
}
