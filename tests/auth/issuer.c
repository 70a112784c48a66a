/* Tests of auth/src/issuer.h: the state table, row by row. "v1[a]#2" is version 1 with the key "a", at the second
 * look at the issuer. */
#include "issuer_rig.h"
#include "oauth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOUR (3600 * EDDY_SECOND)
/* Always over, as an hour never is. */
#define NOTHING 1

#define FAILING ANSWERS({ OAUTH, "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n", OK })

static void note_current(struct rig *rig, unsigned version)
{
	rig_note(rig, "%s", eddyi_issuer_is_current(rig->issuer, version) ? "current" : "stale");
}

/* ---- loading ---- */

static int load(struct rig *rig)
{
	rig_note(rig, "#%u", rig->looks);
	note_current(rig, 0);
	rig_keys(rig);
	rig_keys(rig);
	note_current(rig, 1);
	note_current(rig, 0);
	note_current(rig, 2);
	return 0;
}

Test(issuer, is_asked_when_it_is_needed)
{
	struct rig rig = { .answers = GOOD(KEY_A "," KEY_B) };
	struct eddy_oauth_stats stats;

	EXPECT_NOTED(&rig, load, "#0 stale v1[ab]#1 v1[ab]#1 current stale stale ");
	cr_expect_str_eq(rig.asked, OAUTH " /keys");
	cr_expect(strncmp(rig.said, "DEBUG 2 keys of http://127.0.0.1:", 33) == 0, "%s", rig.said);
	stats = eddy_oauth_stats();
	cr_expect(stats.fetched == 1 && stats.failed == 0 && stats.waited == 1);
}

static int load_in_the_end(struct rig *rig)
{
	rig_keys(rig);
	note_current(rig, 0);
	rig_keys(rig);
	rig->answers = GOOD(KEY_A);
	rig_keys(rig);
	rig_keys(rig);
	rig->answers = FAILING;
	return rig_newer(rig, 1) == -ENOKEY ? 0 : -EPROTO;
}

/* Who needs keys, and there are none, tries at once. What goes wrong is told when it begins, and when it ends. */
Test(issuer, is_asked_again_until_it_answers)
{
	struct rig rig = {
		.answers = FAILING,
		.options.refresh_cooldown_ns = HOUR,
	};

	EXPECT_NOTED(&rig, load_in_the_end, "EAGAIN#1 stale EAGAIN#2 v1[a]#3 v1[a]#3 ENOKEY#3 ");
	cr_expect(rig_count_said(&rig, "WARN ") == 1 && rig_count_said(&rig, "INFO ") == 1, "%s",
		  rig.said);
	cr_expect(strstr(rig.said, "answers 503 until they can") != NULL, "%s", rig.said);
	cr_expect(strstr(rig.said, "INFO The keys of http://") != NULL, "%s", rig.said);
	cr_expect(eddy_oauth_stats().failed == 2);
}

/* ---- unknown keys ---- */

static int miss_twice(struct rig *rig)
{
	rig_keys(rig);
	rig->answers = GOOD(KEY_B);
	rig_newer(rig, 1);
	return rig_newer(rig, 1) == -ENOKEY ? 0 : -EPROTO;
}

/* The first load counts for the cooldown. */
Test(issuer, is_left_alone_in_the_cooldown)
{
	struct rig rig = {
		.answers = GOOD(KEY_A),
		.options.refresh_cooldown_ns = HOUR,
	};

	EXPECT_NOTED(&rig, miss_twice, "v1[a]#1 ENOKEY#1 ENOKEY#1 ");
}

static int rotate(struct rig *rig)
{
	rig_keys(rig);
	rig_newer(rig, 1); /* the same text */
	note_current(rig, 1);
	rig->answers = GOOD(KEY_B);
	rig_newer(rig, 1);
	rig_newer(rig, 1); /* there is one already */
	note_current(rig, 1);
	note_current(rig, 2);
	rig->answers = FAILING;
	rig_newer(rig, 2);
	rig_newer(rig, 2); /* a failure counts for the cooldown, which is short here */
	return rig_keys(rig);
}

Test(issuer, is_asked_for_unknown_keys)
{
	struct rig rig = {
		.answers = GOOD(KEY_A),
		.options.refresh_cooldown_ns = NOTHING,
	};

	EXPECT_NOTED(&rig, rotate,
		     "v1[a]#1 ENOKEY#2 current v2[b]#3 v2[b]#3 stale current ENOKEY#4 ENOKEY#5 "
		     "v2[b]#5 ");
	cr_expect(strstr(rig.said, "go on serving") != NULL, "%s", rig.said);
}

#define COOLDOWN (60 * EDDY_MS)

/* Ask until the issuer is asked, and note whether that was too early. */
static void miss_until_asked(struct rig *rig)
{
	unsigned looks = rig->looks;
	uint64_t ended_ns = rig->answered_ns;
	struct eddy_keyset *set;
	unsigned version;

	while (rig->looks == looks)
		if (eddyi_issuer_newer_keys(rig->issuer, 1, &set, &version) == -ENOKEY)
			eddy_sleep(EDDY_MS);
	rig_note(rig, rig->asked_ns - ended_ns >= COOLDOWN ? "kept" : "early");
}

static int miss_for_long(struct rig *rig)
{
	rig_keys(rig);
	miss_until_asked(rig);
	rig->answers = FAILING;
	miss_until_asked(rig);
	miss_until_asked(rig);
	return 0;
}

static int let_go_later(void *arg)
{
	struct rig *rig = arg;

	/* The fetch takes longer than the cooldown. */
	eddy_sleep(COOLDOWN + COOLDOWN / 2);
	eddy_event_set(&rig->let_go);
	return 0;
}

static int miss_after_a_long_fetch(struct rig *rig)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "later", let_go_later, rig);
	rig_keys(rig);
	miss_until_asked(rig);
	return eddy_scope_end(&scope);
}

/* It is the end of the last fetch that counts, good or bad. */
Test(issuer, cooldown_begins_at_the_end_of_a_fetch)
{
	struct rig rig = {
		.answers = GOOD(KEY_A),
		.options.refresh_cooldown_ns = COOLDOWN,
	};
	struct rig slow = {
		.answers = ANSWERS({ OAUTH, METADATA, HOLD }, { "/keys", KEYS(KEY_A), OK }),
		.options.refresh_cooldown_ns = COOLDOWN,
	};

	EXPECT_NOTED(&rig, miss_for_long, "v1[a]#1 kept kept kept ");
	EXPECT_NOTED(&slow, miss_after_a_long_fetch, "v1[a]#1 kept ");
}

/* ---- age ---- */

static int grow_old(struct rig *rig)
{
	rig_keys(rig);
	note_current(rig, 1);
	rig_keys(rig);
	rig->answers = GOOD(KEY_OTHER_A);
	rig_keys(rig);
	rig->answers = GOOD(KEY_B);
	return rig_keys(rig);
}

/* Max age holds where the cooldown is longer. A kid that was revoked is gone, and one that has another key. */
Test(issuer, old_keys_are_fetched_again)
{
	struct rig rig = {
		.answers = GOOD(KEY_A),
		.options = { .refresh_cooldown_ns = HOUR, .max_key_age_ns = NOTHING },
	};

	EXPECT_NOTED(&rig, grow_old, "v1[a]#1 stale v1[a]#2 v2[a]#3 v3[b]#4 ");
}

static int fail_to_look_again(struct rig *rig)
{
	rig_keys(rig);
	note_current(rig, 1);
	rig->answers = FAILING;
	rig_keys(rig);
	rig_keys(rig);
	note_current(rig, 1);
	return rig_newer(rig, 1) == -ENOKEY ? 0 : -EPROTO;
}

/* While the issuer is down the last keys serve, and it is not asked before the cooldown is over. */
Test(issuer, old_keys_serve_while_there_are_no_others)
{
	struct rig rig = {
		.answers = GOOD(KEY_A),
		.options = { .refresh_cooldown_ns = HOUR, .max_key_age_ns = NOTHING },
	};

	EXPECT_NOTED(&rig, fail_to_look_again, "v1[a]#1 stale v1[a]#2 v1[a]#2 current ENOKEY#2 ");
	cr_expect(rig_count_said(&rig, "WARN ") == 1, "%s", rig.said);
	rig = (struct rig){
		.answers = GOOD(KEY_A),
		.options = { .refresh_cooldown_ns = NOTHING, .max_key_age_ns = NOTHING },
	};
	EXPECT_NOTED(&rig, fail_to_look_again, "v1[a]#1 stale v1[a]#2 v1[a]#3 stale ENOKEY#4 ");
	cr_expect(rig_count_said(&rig, "WARN ") == 1, "%s", rig.said);
}

static int fail_before_age(struct rig *rig)
{
	rig_keys(rig);
	rig->answers = FAILING;
	rig_newer(rig, 1);
	while (eddyi_issuer_is_current(rig->issuer, 1))
		eddy_sleep(EDDY_MS);
	rig_keys(rig);
	return rig_keys(rig);
}

/* A look for an unknown key that has failed is not the one that the keys' age asks for. */
Test(issuer, old_keys_are_looked_at_once_at_least)
{
	struct rig rig = {
		.answers = GOOD(KEY_A),
		.options = { .max_key_age_ns = 300 * EDDY_MS, .refresh_cooldown_ns = 1 },
	};

	EXPECT_NOTED(&rig, fail_before_age, "v1[a]#1 ENOKEY#2 v1[a]#3 v1[a]#4 ");
}

/* ---- many who wait ---- */

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
	rig->answers = ANSWERS({ OAUTH, METADATA, HOLD }, { "/keys", KEYS(KEY_B), OK });
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

Test(issuer, one_fetch_is_for_all_who_wait)
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
	rig->answers = ANSWERS({ OAUTH, METADATA, HOLD }, { "/keys", KEYS(KEY_B), OK });
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
Test(issuer, fetches_are_joined)
{
	struct rig rig = {
		.answers = GOOD(KEY_A),
		.options = { .max_key_age_ns = NOTHING,
			     .refresh_cooldown_ns = HOUR,
			     .timeout_ns = 30 * EDDY_SECOND },
	};

	EXPECT_NOTED(&rig, miss_while_it_is_asked, "v1[a]#1 0 v2, 0 v2 #2 ");
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

Test(issuer, who_waits_may_go)
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
		rig->answers = GOOD(KEY_A);
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
Test(issuer, may_end_while_it_fetches)
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

static int handle_first(struct eddy_req *req, struct eddy_res *res)
{
	struct rig *rig = eddy_req_context(req);

	while (rig_await_waiters(rig, 1) == 0 && !rig->looks)
		eddy_sleep(EDDY_MS);
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

static int test_second(void *arg)
{
	struct rig *rig = arg;
	struct eddy_response *response = NULL;
	int r = eddy_app_test(rig->app, "GET /second", NULL, &response);

	eddy_response_free(response);
	return r;
}

/* The first test fetches, and is over before that is. */
static int test_both(struct rig *rig)
{
	struct eddy_response *response = NULL;
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "second", test_second, rig);
	r = eddy_app_test(rig->app, "GET /first", NULL, &response);
	eddy_response_free(response);
	rig_note(rig, "over#%u", rig->looks);
	eddy_event_set(&rig->let_go);
	if (r == 0)
		r = eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return r;
}

/* Another task takes over what one has to leave. */
Test(issuer, tests_at_once_help_each_other)
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

Test(issuer, one_task_at_a_time_fetches)
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
Test(issuer, nobody_waits_for_ever)
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
