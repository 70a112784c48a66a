/* Tests of http/src/server/req_client.c. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <errno.h>
#include <stdio.h>

/* GET /agent: who asks. */
static int agent(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_res_ok(res, "%.*s", EDDY_FMT(eddy_req_header(req, "user-agent")));
}

/* GET /asked/{port}: what the server there says of us. */
static int asked(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_response *response;
	struct eddy_str body;
	char url[64];
	uint16_t port;
	int r;

	if (eddy_req_path(req, EDDY_TO(&port)) < 0)
		return 400;
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/agent", port);
	r = eddy_client_get(eddy_req_client(req), url, &response);
	if (r < 0)
		return r;
	r = eddy_response_body(response, &body);
	if (r == 0)
		r = eddy_res_ok(res, "%.*s", EDDY_FMT(body));
	eddy_response_free(response);
	return r;
}

static struct eddy_app *make_app(unsigned workers)
{
	struct eddy_app *app = eddy_app_new();
	char name[] = "handlers";

	eddy_app_bind(app, "127.0.0.1:0");
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers = workers,
								 .no_signals = true });
	eddy_app_with_client(app, &(struct eddy_client_options){ .user_agent = name });
	memset(name, 'x', sizeof(name) - 1);
	eddy_app_map_get(app, "/agent", agent);
	eddy_app_map_get(app, "/asked/{port}", asked);
	return app;
}

struct asking {
	struct eddy_app *app;
	unsigned times, answered;
	uint64_t accepted;
};

#define TIMES_MAX 12

/* Each time by a connection of its own, and all stay open, so that each loop gets some. */
static int ask(void *arg)
{
	struct asking *asking = arg;
	struct eddy_client *clients[TIMES_MAX];
	uint16_t port;
	char line[64];

	while (!(port = eddy_app_port(asking->app)) && eddy_sleep(EDDY_MS) == 0)
		;
	snprintf(line, sizeof(line), "http://127.0.0.1:%u/asked/%u", port, port);
	for (unsigned i = 0; i < asking->times; i++) {
		struct eddy_response *response = NULL;
		struct eddy_str body = { 0 };

		clients[i] = eddy_client_new(NULL);
		if (eddy_client_get(clients[i], line, &response) == 0 &&
		    eddy_response_body(response, &body) == 0)
			asking->answered += eddy_str_eq_z(body, "handlers");
		eddy_response_free(response);
	}
	for (unsigned i = 0; i < asking->times; i++)
		eddy_client_free(clients[i]);
	asking->accepted = eddy_app_stats(asking->app).accepted;
	eddy_app_shutdown(asking->app);
	return 0;
}

static int run_asked(void *arg)
{
	struct asking *asking = arg;
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "ask", ask, asking);
	r = eddy_app_run(asking->app);
	eddy_scope_end(&scope);
	return r;
}

/* Connections are kept from one request to the next: with one loop there is one. */
Test(req_client, keeps_connections)
{
	struct asking asking = { make_app(1), .times = 8 };

	cr_expect(eq(int, eddy_run(NULL, run_asked, &asking), 0));
	cr_expect(eq(uint, asking.answered, 8));
	cr_expect(eq(u64, asking.accepted, 8 + 1));
	eddy_app_free(asking.app);
}

Test(req_client, is_one_of_each_loop)
{
	struct asking asking = { make_app(3), .times = TIMES_MAX };

	cr_expect(eq(int, eddy_run(NULL, run_asked, &asking), 0));
	cr_expect(eq(uint, asking.answered, 12));
	cr_expect(ge(u64, asking.accepted, 12 + 2));
	cr_expect(le(u64, asking.accepted, 12 + 3));
	eddy_app_free(asking.app);
}

/* Also of an app that does not run, and nobody is there to be asked. */
Test(req_client, is_there_in_tests)
{
	struct eddy_app *app = make_app(1);
	struct eddy_response *response;

	cr_assert(eq(int, eddy_app_test(app, "GET /asked/1", NULL, &response), 0));
	cr_expect(eq(int, eddy_response_status(response), 502));
	eddy_response_free(response);
	eddy_app_free(app);
}

/* What was described before is forgotten. */
Test(req_client, options_may_be_null)
{
	struct asking asking = { make_app(1), .times = 1 };

	eddy_app_with_server(asking.app, &(struct eddy_server_options){ .workers = 3 });
	eddy_app_with_server(asking.app, NULL);
	eddy_app_with_client(asking.app, NULL);
	cr_expect(eq(int, eddy_run(NULL, run_asked, &asking), 0));
	cr_expect(eq(uint, asking.answered, 0), "it is called eddy again");
	cr_expect(eq(u64, asking.accepted, 1 + 1));
	eddy_app_free(asking.app);
}

Test(req_client, may_be_missing)
{
	struct eddy_response *response;

	cr_expect(eq(int, eddy_client_get(NULL, "http://localhost/", &response), -ENOMEM));
	cr_expect_str_eq(eddy_client_error(NULL), "out of memory");
}
