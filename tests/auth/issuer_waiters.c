/* Tests of auth/src/issuer/issuer.h: who waits for a fetch, on whichever loop, and who fetches. */
#include "issuer_rig.h"
#include "guard/oauth.h"

#include <stdio.h>
#include <string.h>

#define HOUR (3600 * EDDY_SECOND)
/* Always over, as an hour never is. */
#define NOTHING 1

/* ---- many ---- */

struct waiter {
	struct rig *rig;
	struct eddy_scope *scope; /* that it waits in */
	int r;
	unsigned version;
};

static int need_keys(void *arg)
{
	struct waiter *waiter = arg;
	struct eddy_keyset *set = NULL;

	waiter->r = eddyi_issuer_keys(waiter->rig->issuer, &set, &waiter->version);
	eddy_keyset_unref(set);
	return 0;
}

static int need_newer_keys(void *arg)
{
	struct waiter *waiter = arg;
	struct eddy_keyset *set = NULL;

	waiter->r = eddyi_issuer_newer_keys(waiter->rig->issuer, 1, &set, &waiter->version);
	eddy_keyset_unref(set);
	return 0;
}

#define HALF 50

/* Half of those who wait are on another loop. */
struct crowd {
	struct rig *rig;
	eddy_task_fn *need;
	struct waiter waiters[2][HALF];
	struct eddy_shared_event ready, done;
};

static struct crowd crowd;

static int gather(struct waiter *waiters)
{
	struct eddy_scope scope;
	int r = 0;

	eddy_scope_begin(&scope, NULL);
	for (unsigned i = 0; i < HALF && r == 0; i++) {
		waiters[i] = (struct waiter){ .rig = crowd.rig, .r = -EINPROGRESS };
		r = eddy_scope_spawn(&scope, "waiter", crowd.need, &waiters[i]);
	}
	if (r == 0)
		r = eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return r;
}

static int gather_elsewhere(void *arg)
{
	int r;

	(void)arg;
	eddy_shared_event_wait(&crowd.ready);
	r = gather(crowd.waiters[1]);
	eddy_shared_event_set(&crowd.done);
	return r;
}

static void *run_elsewhere(void *arg)
{
	return (void *)(intptr_t)eddy_run(NULL, gather_elsewhere, arg);
}

static int let_go_of_all(void *arg)
{
	struct rig *rig = arg;
	int r = rig_await_waiters(rig, 2 * HALF);

	eddy_event_set(&rig->let_go);
	return r;
}

static int gather_all(struct rig *rig, eddy_task_fn *need)
{
	struct eddy_scope scope;
	int r;

	crowd.rig = rig;
	crowd.need = need;
	eddy_shared_event_set(&crowd.ready);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "let go", let_go_of_all, rig);
	r = gather(crowd.waiters[0]);
	if (r == 0)
		r = eddy_shared_event_wait(&crowd.done);
	eddy_scope_end(&scope);
	return r;
}

static int need_together(struct rig *rig)
{
	return gather_all(rig, need_keys);
}

static int miss_together(struct rig *rig)
{
	struct eddy_keyset *set;
	unsigned version;
	int r = eddyi_issuer_keys(rig->issuer, &set, &version);

	if (r < 0)
		return r;
	eddy_keyset_unref(set);
	rig->waited_before++;
	rig_answer(rig, ANSWERS({ OAUTH, METADATA, HOLD }, { "/keys", KEYS(KEY_B), OK }));
	return gather_all(rig, need_newer_keys);
}

static void expect_together(struct rig *rig, int (*scenario)(struct rig *rig), unsigned looks,
			    unsigned version)
{
	pthread_t thread;
	void *result;

	eddy_shared_event_init(&crowd.ready);
	eddy_shared_event_init(&crowd.done);
	cr_assert(pthread_create(&thread, NULL, run_elsewhere, NULL) == 0);
	rig->scenario = scenario;
	rig_run(rig);
	pthread_join(thread, &result);
	cr_expect(rig->result == 0 && !result);
	cr_expect(eq(uint, rig->looks, looks));
	for (unsigned i = 0; i < 2 * HALF; i++) {
		const struct waiter *waiter = &crowd.waiters[i / HALF][i % HALF];

		cr_expect(waiter->r == 0 && waiter->version == version, "%u: %d", i, waiter->r);
	}
}

Test(issuer_waiters, one_fetch_is_for_all_who_wait)
{
	struct rig first = {
		.answers = ANSWERS({ OAUTH, METADATA, HOLD }, { "/keys", KEYS(KEY_A), OK }),
		.options.timeout_ns = 30 * EDDY_SECOND,
	};
	struct rig missing = {
		.answers = GOOD(KEY_A),
		.options = { .refresh_cooldown_ns = NOTHING, .timeout_ns = 30 * EDDY_SECOND },
	};

	expect_together(&first, need_together, 1, 1);
	expect_together(&missing, miss_together, 2, 2);
}

static int miss_while_it_is_asked(struct rig *rig)
{
	struct waiter old = { .rig = rig }, missing = { .rig = rig };
	struct eddy_scope scope;

	rig_keys(rig);
	rig_answer(rig, ANSWERS({ OAUTH, METADATA, HOLD }, { "/keys", KEYS(KEY_B), OK }));
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "old", need_keys, &old);
	rig_await_waiters(rig, 2);
	eddy_scope_spawn(&scope, "missing", need_newer_keys, &missing);
	eddy_yield();
	eddy_event_set(&rig->let_go);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	rig_note(rig, "%d v%u, %d v%u #%u", old.r, old.version, missing.r, missing.version,
		 rig->looks);
	return 0;
}

/* A fetch that goes on is for everybody, whatever the cooldown says. */
Test(issuer_waiters, fetches_are_joined)
{
	struct rig rig = {
		.answers = GOOD(KEY_A),
		.options = { .max_key_age_ns = NOTHING,
			     .refresh_cooldown_ns = HOUR,
			     .timeout_ns = 30 * EDDY_SECOND },
	};

	EXPECT_NOTED(&rig, miss_while_it_is_asked, "v1[a]#1 0 v2, 0 v2 #2 ");
}

static int start_anew(void *arg)
{
	struct rig *rig = arg;
	struct eddy_oauth_options options = { .issuer = "http://127.0.0.1:1",
					      .timeout_ns = EDDY_SECOND,
					      .allow_http = true };

	eddyi_issuer_start(rig->issuer, &options);
	rig_note(rig, "%s", rig->let_go.is_set ? "behind it" : "in its middle");
	return 0;
}

static int change_while_it_fetches(struct rig *rig)
{
	struct waiter waiter = { .rig = rig };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "waiter", need_keys, &waiter);
	while (!rig->looks)
		eddy_sleep(EDDY_MS);
	eddy_scope_spawn(&scope, "start", start_anew, rig);
	eddy_yield();
	eddy_yield();
	eddy_event_set(&rig->let_go);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return 0;
}

/* Its options and its keys stay until it is over; they are nobody's then. */
Test(issuer_waiters, another_issuer_waits_for_a_fetch)
{
	struct rig rig = {
		.answers = ANSWERS({ OAUTH, METADATA, HOLD }, { "/keys", KEYS(KEY_A), OK }),
		.options.timeout_ns = 30 * EDDY_SECOND,
	};

	EXPECT_NOTED(&rig, change_while_it_fetches, "behind it ");
	cr_expect(strstr(rig.said, "DEBUG 1 keys of http://127.0.0.1:") != NULL, "%s", rig.said);
}

/* ---- who goes ---- */

static int need_keys_in_a_scope(void *arg)
{
	struct waiter *waiter = arg;
	struct eddy_scope scope;

	waiter->scope = &scope;
	eddy_scope_begin(&scope, NULL);
	need_keys(waiter);
	eddy_scope_end(&scope);
	return 0;
}

static int cancel_one(struct rig *rig)
{
	struct waiter gone = { .rig = rig }, stays = { .rig = rig };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "gone", need_keys_in_a_scope, &gone);
	eddy_scope_spawn(&scope, "stays", need_keys, &stays);
	rig_await_waiters(rig, 2);
	while (!rig->looks)
		eddy_sleep(EDDY_MS);
	/* Who has made the fetch begin goes, and it goes on. */
	eddy_scope_cancel(gone.scope);
	eddy_yield();
	eddy_yield();
	rig_note(rig, "%s %s", strerrorname_np(-gone.r), rig->let_go.is_set ? "late" : "at once");
	eddy_event_set(&rig->let_go);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	rig_note(rig, "%d v%u", stays.r, stays.version);
	return rig_keys(rig);
}

Test(issuer_waiters, who_waits_may_go)
{
	struct rig rig = {
		.answers = ANSWERS({ OAUTH, METADATA, HOLD }, { "/keys", KEYS(KEY_A), OK }),
		.options.timeout_ns = 30 * EDDY_SECOND,
	};

	EXPECT_NOTED(&rig, cancel_one, "ECANCELED at once 0 v1 v1[a]#1 ");
}

/* The first time it ends while a fetch goes on, which a request has begun that is over. */
static int end_while_fetching(struct rig *rig)
{
	struct waiter waiter = { .rig = rig };
	struct eddy_scope scope;

	if (rig->looks) {
		rig_answer(rig, GOOD(KEY_A));
		return rig_keys(rig);
	}
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "waiter", need_keys, &waiter);
	while (!rig->looks)
		eddy_sleep(EDDY_MS);
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	rig_note(rig, "%s", strerrorname_np(-waiter.r));
	return 0;
}

/* It is nobody's failure. */
Test(issuer_waiters, may_end_while_it_fetches)
{
	struct rig rig = {
		.answers = ANSWERS({ OAUTH, NULL, HANG }),
		.options.timeout_ns = 30 * EDDY_SECOND,
		.times = 2,
	};

	EXPECT_NOTED(&rig, end_while_fetching, "ECANCELED v1[a]#2 ");
	cr_expect(rig_count_said(&rig, "WARN ") == 0, "%s", rig.said);
	cr_expect(eddy_oauth_stats().failed == 0);
}

/* ---- several tests of an app at once ---- */

/* A request has its test's task fetch, and is over as soon as somebody waits beside it. */
static int handle_first(struct eddy_req *req, struct eddy_res *res)
{
	struct rig *rig = eddy_req_context(req);
	struct waiter waiter = { .rig = rig };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "waiter", need_keys, &waiter);
	rig_await_waiters(rig, 2);
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	rig_note(rig, "over#%u", rig->looks);
	return eddy_res_ok(res, "over");
}

static int handle_second(struct eddy_req *req, struct eddy_res *res)
{
	rig_keys(eddy_req_context(req));
	return eddy_res_ok(res, "over");
}

static void map_both(struct rig *rig)
{
	eddy_app_map_get(rig->app, "/first", handle_first);
	eddy_app_map_get(rig->app, "/second", handle_second);
}

static int test_by(struct rig *rig, const char *line)
{
	struct eddy_response *response = NULL;
	int r = eddy_app_test(rig->app, line, NULL, &response);

	eddy_response_free(response);
	return r;
}

static int test_first(void *arg)
{
	struct rig *rig = arg;
	int r = test_by(rig, "GET /first");

	eddy_event_set(&rig->let_go);
	return r;
}

static int test_second(void *arg)
{
	return test_by(arg, "GET /second");
}

/* The first test fetches, as it is alone by then, and is over before that is. */
static int test_both(struct rig *rig)
{
	struct eddy_scope scope;
	int r = 0;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "first", test_first, rig);
	while (r == 0 && !rig->looks)
		r = eddy_sleep(EDDY_MS);
	if (r == 0)
		r = test_second(rig);
	if (r == 0)
		r = eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return r;
}

/* Another task takes over what one has to leave. */
Test(issuer_waiters, tests_at_once_help_each_other)
{
	struct rig rig = {
		.answers = ANSWERS({ OAUTH, METADATA, HOLD }, { "/keys", KEYS(KEY_A), OK }),
		.options.timeout_ns = 30 * EDDY_SECOND,
		.build = map_both,
		.is_bare = true,
	};

	EXPECT_NOTED(&rig, test_both, "over#1 v1[a]#2 ");
	cr_expect(eddy_oauth_stats().failed == 0 && eddy_oauth_stats().fetched == 1);
}

/* Each has a task that could fetch. */
static int test_all(struct rig *rig)
{
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "one", test_second, rig);
	while (rig_await_waiters(rig, 1) == 0 && !rig->looks)
		eddy_sleep(EDDY_MS);
	eddy_scope_spawn(&scope, "two", test_second, rig);
	r = rig_await_waiters(rig, 2);
	/* Another look would come meanwhile. */
	eddy_sleep(20 * EDDY_MS);
	eddy_event_set(&rig->let_go);
	if (r == 0)
		r = eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return r;
}

Test(issuer_waiters, one_task_at_a_time_fetches)
{
	struct rig rig = {
		.answers = ANSWERS({ OAUTH, METADATA, HOLD }, { "/keys", KEYS(KEY_A), OK }),
		.options.timeout_ns = 30 * EDDY_SECOND,
		.build = map_both,
		.is_bare = true,
	};

	EXPECT_NOTED(&rig, test_all, "v1[a]#1 v1[a]#1 ");
}

static int need_keys_alone(void *arg)
{
	struct waiter *waiter = arg;

	need_keys(waiter);
	return waiter->r;
}

/* Nobody fetches, as the app does not run. */
Test(issuer_waiters, nobody_waits_for_ever)
{
	struct eddy_app *app = eddy_app_new();
	struct rig rig = { 0 };
	struct waiter waiter = { .rig = &rig };
	struct eddy_response *response;

	eddy_app_with_oauth(app, &(struct eddy_oauth_options){
					 .issuer = "http://127.0.0.1:1",
					 .allow_http = true,
					 .timeout_ns = 30 * EDDY_MS,
				 });
	eddy_app_use_oauth(app);
	cr_assert(eq(int, eddy_app_test(app, "GET /", NULL, &response), 0));
	eddy_response_free(response);
	rig.issuer = eddyi_oauth_of(app)->issuer;
	cr_expect(eq(int, eddy_run(NULL, need_keys_alone, &waiter), -EAGAIN));
	eddy_app_free(app);
}

/* ---- an app that runs ---- */

#define CLIENTS 20

static int handle_need(struct eddy_req *req, struct eddy_res *res)
{
	struct waiter waiter = { .rig = eddy_req_context(req) };

	need_keys(&waiter);
	return waiter.r < 0 ? waiter.r : eddy_res_ok(res, "v%u", waiter.version);
}

static void have_workers(struct rig *rig)
{
	eddy_app_bind(rig->app, "127.0.0.1:0");
	eddy_app_with_server(rig->app,
			     &(struct eddy_server_options){ .workers = 2, .no_signals = true });
	eddy_app_map_get(rig->app, "/need", handle_need);
}

static int run_app(void *arg)
{
	return eddy_app_run(arg);
}

struct client {
	struct eddy_client *client;
	const char *url;
	unsigned answered;
};

static int ask_app(void *arg)
{
	struct client *client = arg;
	struct eddy_response *response = NULL;
	struct eddy_str body;
	int r = eddy_client_get(client->client, client->url, &response);

	if (r == 0)
		r = eddy_response_body(response, &body);
	client->answered += r == 0 && eddy_str_eq_z(body, "v1");
	eddy_response_free(response);
	return 0;
}

/* Have the app run, and many ask it at once; `then` is called when all of them wait. */
static int ask_workers(struct rig *rig, void (*then)(struct rig *rig))
{
	char url[64];
	struct client client = { .client = eddy_client_new(NULL), .url = url };
	struct eddy_scope scope;
	struct eddy_join app;
	int r;

	eddy_scope_begin(&scope, NULL);
	r = eddy_scope_spawn_join(&scope, &app, "app", run_app, rig->app);
	while (r == 0 && !eddy_app_port(rig->app))
		r = eddy_sleep(EDDY_MS);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/need", eddy_app_port(rig->app));
	for (int i = 0; i < CLIENTS && r == 0; i++)
		r = eddy_scope_spawn(&scope, "client", ask_app, &client);
	if (r == 0)
		r = rig_await_waiters(rig, CLIENTS);
	while (r == 0 && !rig->looks)
		r = eddy_sleep(EDDY_MS);
	then(rig);
	if (r == 0)
		r = eddy_join_wait(&app, NULL);
	if (r == 0)
		r = eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	eddy_client_free(client.client);
	rig_note(rig, "%d: %u #%u", app.result, client.answered, rig->looks);
	return r;
}

static void answer_and_end(struct rig *rig)
{
	eddy_event_set(&rig->let_go);
	eddy_app_shutdown(rig->app);
}

/* In a hurry. */
static void end_at_once(struct rig *rig)
{
	eddy_app_shutdown(rig->app);
	eddy_app_shutdown(rig->app);
}

static int ask_and_end(struct rig *rig)
{
	return ask_workers(rig, answer_and_end);
}

static int ask_and_end_at_once(struct rig *rig)
{
	return ask_workers(rig, end_at_once);
}

/* One that ends still fetches what its requests wait for, unless it has to hurry. */
Test(issuer_waiters, workers_wait_together)
{
	struct rig rig = {
		.answers = ANSWERS({ OAUTH, METADATA, HOLD }, { "/keys", KEYS(KEY_A), OK }),
		.options.timeout_ns = 30 * EDDY_SECOND,
		.build = have_workers,
		.is_bare = true,
	};

	EXPECT_NOTED(&rig, ask_and_end, "0: 20 #1 ");
	rig = (struct rig){
		.answers = ANSWERS({ OAUTH, METADATA, HOLD }, { "/keys", KEYS(KEY_A), OK }),
		.options.timeout_ns = 30 * EDDY_SECOND,
		.build = have_workers,
		.is_bare = true,
	};
	EXPECT_NOTED(&rig, ask_and_end_at_once, "0: 0 #1 ");
	cr_expect(rig_count_said(&rig, "WARN ") == 0, "%s", rig.said);
}
