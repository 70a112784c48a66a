/* Tests of auth/src/issuer/issuer.h: the state table, row by row. "v1[a]#2" is version 1 with the key "a", at the second
 * look at the issuer. */
#include "issuer_rig.h"
#include "leap.h"

#include <stdio.h>
#include <string.h>

#define HOUR (3600 * EDDY_SECOND)
#define MINUTE (60 * EDDY_SECOND)
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

static int change_issuers(struct rig *rig)
{
	struct eddy_oauth_options options = { .timeout_ns = EDDY_SECOND, .allow_http = true };

	rig_keys(rig);
	options.issuer = rig->url;
	eddyi_issuer_start(rig->issuer, &options);
	rig_keys(rig);
	note_current(rig, 1);
	/* Nobody answers there. */
	options.issuer = "http://127.0.0.1:1";
	eddyi_issuer_start(rig->issuer, &options);
	note_current(rig, 1);
	rig_keys(rig);
	options.issuer = rig->url;
	eddyi_issuer_start(rig->issuer, &options);
	rig_keys(rig);
	return 0;
}

Test(issuer, has_its_own_keys_alone)
{
	struct rig rig = { .answers = GOOD(KEY_A) };

	EXPECT_NOTED(&rig, change_issuers, "v1[a]#1 v1[a]#1 current stale EAGAIN#1 v4[a]#2 ");
}

static int load_in_the_end(struct rig *rig)
{
	rig_keys(rig);
	note_current(rig, 0);
	rig_keys(rig);
	rig_answer(rig, GOOD(KEY_A));
	rig_keys(rig);
	rig_keys(rig);
	rig_answer(rig, FAILING);
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
	cr_expect(strstr(rig.said, "respond with 503 until it works") != NULL, "%s", rig.said);
	cr_expect(strstr(rig.said, "INFO The keys of http://") != NULL, "%s", rig.said);
	cr_expect(eddy_oauth_stats().failed == 2);
}

/* ---- unknown keys ---- */

static int miss_twice(struct rig *rig)
{
	rig_keys(rig);
	rig_answer(rig, GOOD(KEY_B));
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
	rig_answer(rig, GOOD(KEY_B));
	rig_newer(rig, 1);
	rig_newer(rig, 1); /* there is one already */
	note_current(rig, 1);
	note_current(rig, 2);
	rig_answer(rig, FAILING);
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
	cr_expect(strstr(rig.said, "stay in use") != NULL, "%s", rig.said);
}

/* Keys that are missing are not looked for before the cooldown is over, and then they are. */
static void miss_until_asked(struct rig *rig)
{
	rig_newer(rig, 1);
	leap(HOUR - MINUTE);
	rig_newer(rig, 1);
	leap(MINUTE);
	rig_newer(rig, 1);
}

static int miss_for_long(struct rig *rig)
{
	rig_keys(rig);
	miss_until_asked(rig);
	rig_answer(rig, FAILING);
	miss_until_asked(rig);
	miss_until_asked(rig);
	return 0;
}

static int let_go_later(void *arg)
{
	struct rig *rig = arg;

	while (!rig->looks)
		eddy_sleep(EDDY_MS);
	/* The fetch takes longer than the cooldown. */
	leap(2 * HOUR);
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
		.options.refresh_cooldown_ns = HOUR,
	};
	struct rig slow = {
		.answers = ANSWERS({ OAUTH, METADATA, HOLD }, { "/keys", KEYS(KEY_A), OK }),
		.options = { .refresh_cooldown_ns = HOUR, .timeout_ns = 3 * HOUR },
	};

	EXPECT_NOTED(&rig, miss_for_long,
		     "v1[a]#1 ENOKEY#1 ENOKEY#1 ENOKEY#2 ENOKEY#2 ENOKEY#2 ENOKEY#3 "
		     "ENOKEY#3 ENOKEY#3 ENOKEY#4 ");
	EXPECT_NOTED(&slow, miss_after_a_long_fetch, "v1[a]#1 ENOKEY#1 ENOKEY#1 ENOKEY#2 ");
}

/* ---- age ---- */

static int grow_old(struct rig *rig)
{
	rig_keys(rig);
	note_current(rig, 1);
	rig_keys(rig);
	rig_answer(rig, GOOD(KEY_OTHER_A));
	rig_keys(rig);
	rig_answer(rig, GOOD(KEY_B));
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
	rig_answer(rig, FAILING);
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
	rig_answer(rig, FAILING);
	rig_newer(rig, 1);
	leap(HOUR - MINUTE);
	rig_keys(rig);
	leap(MINUTE);
	rig_keys(rig);
	return rig_keys(rig);
}

/* A look for an unknown key that has failed is not the one that the keys' age asks for. */
Test(issuer, old_keys_are_looked_at_once_at_least)
{
	struct rig rig = {
		.answers = GOOD(KEY_A),
		.options = { .max_key_age_ns = HOUR, .refresh_cooldown_ns = NOTHING },
	};

	EXPECT_NOTED(&rig, fail_before_age, "v1[a]#1 ENOKEY#2 v1[a]#2 v1[a]#3 v1[a]#4 ");
}
