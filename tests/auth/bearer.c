/* Tests of auth/src/guard/bearer.c: what an app is told of tokens, by the program and by its file, and when it counts. */
#include "guard/auth.h"
#include "configured.h"
#include "freed.h"
#include "ran.h"
#include "shop.h"

#include "../http/said.h"

#include <eddy/auth.h>
#include <eddy/loop.h>
#include <stdlib.h>
#include <unistd.h>

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "hello");
}

static struct eddy_app *guarded(const struct eddy_bearer_options *options)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_bearer_auth(app, options);
	eddy_app_authorize(eddy_app_map_get(app, "/me", hello), NULL);
	return app;
}

/* ---- mistakes ---- */

static void expect_mistake(struct eddy_app *app, const char *want)
{
	said_begin();
	cr_expect_str_eq(asked(app, "GET /", NULL), "-22", "%s", want);
	said_end();
	cr_expect(strstr(said, want) != NULL, "%s: %s", want, said);
	eddy_app_free(app);
}

Test(bearer, the_file_has_mistakes)
{
	static const char *const bad[][2] = {
		{ "audience = 'a'", "unknown key \"audience\"; did you mean \"audiences\"?" },
		{ "secret = 'x'", "unknown key \"secret\"" },
		{ "audiences = []", "audiences: expected" },
		{ "audiences = ''", "audiences: expected" },
		{ "audiences = ['a', '']", "audiences: expected" },
		{ "audiences = 7", "audiences: expected" },
		{ "algorithms = []", "algorithms: expected a string such as" },
		{ "algorithms = 'hs256'", "algorithms: expected" },
		{ "algorithms = ['HS256', 'none']", "algorithms: expected" },
		{ "issuer = ''", "issuer: expected" },
		{ "issuer = ['a']", "issuer: expected" },
		{ "realm = ''", "realm: expected" },
		{ "realm = \"a\\nb\"", "realm: expected a string of 1 to 255 bytes, none of them a "
				       "control byte" },
		{ "realm = \"a\\u007f\"", "realm: expected" },
		{ "leeway_secs = -1", "leeway_secs: expected" },
		{ "cookie = ''",
		  "cookie: expected a string of 1 to 255 bytes that can name a cookie, not" },
		{ "cookie = 'a b'", "cookie: expected" },
		{ "cookie = 'a;b'", "cookie: expected" },
		{ "cookie = \"a\\u0000b\"", "cookie: expected" },
		{ "cookie = 'é'", "cookie: expected" },
		{ "cookie = true", "cookie: expected" },
		{ "leeway_secs = 1.5", "leeway_secs: expected" },
		{ "allow_plain_http = 1", "allow_plain_http: expected true or false" },
		{ "secret_file = ''", "secret_file: expected" },
		{ "secret_env = ''", "secret_env: expected" },
		{ "key_file = 1", "key_file: expected" },
		{ "key_env = ''", "key_env: expected" },
		{ "cache_max = 0", "cache_max: expected an integer from 1 to 1048576" },
		{ "cache_max = 1048577", "cache_max: expected" },
		{ "no_cache = 'yes'", "no_cache: expected true or false" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct eddy_app *app = eddy_app_new();
		char text[128], want[256];

		snprintf(text, sizeof(text), "[bearer]\n%s\n", bad[i][0]);
		snprintf(want, sizeof(want), ":2: [bearer] %s", bad[i][1]);
		configure(app, text);
		eddy_auth_config(app);
		expect_mistake(app, want);
	}
}

Test(bearer, keys_are_one)
{
	static const char two[] = "set only one of secret, secret_file, secret_env, key_file and "
				  "key_env, not 2";
	struct eddy_app *app =
		guarded(&(struct eddy_bearer_options){ .secret = eddy_str_from(SECRET) });

	configure(app, "[bearer]\nkey_env = 'HOME'\n");
	expect_mistake(app, two);
	app = guarded(NULL);
	configure(app, "[bearer]\nkey_env = 'HOME'\nsecret_env = 'HOME'\n");
	expect_mistake(app, two);
	app = guarded(NULL);
	expect_mistake(app, "routes are guarded, but no key is configured");
#ifndef EDDY_NO_OAUTH_CLIENT
	app = guarded(NULL);
	eddy_app_with_oauth(app, &(struct eddy_oauth_options){ .issuer = "https://i.example" });
	eddy_app_use_oauth(app);
	configure(app, "[bearer]\nsecret_env = 'HOME'\n");
	expect_mistake(app, "a static key and an issuer are configured: remove one of them");
#endif
}

static void expect_no_start(const struct eddy_bearer_options *options, const struct eddy_rule *rule)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_bearer_auth(app, options);
	eddy_app_authorize(eddy_app_map_get(app, "/", hello), rule);
	cr_expect(eq(str, (char *)asked(app, "GET /", NULL), "-22"));
	eddy_app_free(app);
}

/* Whoever guards something later finds out at once. */
Test(bearer, a_key_that_is_named_is_one)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_bearer_auth(app,
				  &(struct eddy_bearer_options){ .secret = EDDY_STR("short") });
	eddy_app_map_get(app, "/", hello);
	expect_mistake(app, "bearer tokens: can't use the key from secret");
	app = eddy_app_new();
	eddy_app_with_bearer_auth(app,
				  &(struct eddy_bearer_options){
					  .secret = eddy_str_from("-----BEGIN PUBLIC KEY-----\n"
								  "MCowBQYDK2VwAyEA...\n") });
	expect_mistake(app, "it is a public key, not a secret");
	app = eddy_app_new();
	eddy_app_with_bearer_auth(app, NULL);
	eddy_app_map_get(app, "/", hello);
	cr_expect(eq(str, (char *)asked(app, "GET /", NULL), "200 hello"));
	eddy_app_free(app);
}

Test(bearer, needs_one_key)
{
	char path[] = "/tmp/eddy-secret-XXXXXX";
	int fd = mkstemp(path);

	cr_assert(ge(int, fd, 0));
	cr_assert(eq(int, (int)write(fd, SECRET, 31), 31));
	unsetenv("EDDY_TEST_SECRET");
	expect_no_start(NULL, NULL);
	expect_no_start(&(struct eddy_bearer_options){ .secret = eddy_str(SECRET, 31) }, NULL);
	expect_no_start(&(struct eddy_bearer_options){ .secret_file = path }, NULL);
	expect_no_start(&(struct eddy_bearer_options){ .secret_file = "/tmp" }, NULL);
	expect_no_start(&(struct eddy_bearer_options){ .secret_file = "/dev/zero" }, NULL);
	expect_no_start(&(struct eddy_bearer_options){ .secret_file = "/nowhere/at/all" }, NULL);
	expect_no_start(&(struct eddy_bearer_options){ .secret_env = "EDDY_TEST_SECRET" }, NULL);
	expect_no_start(&(struct eddy_bearer_options){ .key_file = path }, NULL);
	expect_no_start(&(struct eddy_bearer_options){ .key_env = "EDDY_TEST_SECRET" }, NULL);
	expect_no_start(&(struct eddy_bearer_options){ .secret = eddy_str_from(SECRET),
						       .secret_env = "HOME" },
			NULL);
	expect_no_start(&(struct eddy_bearer_options){ .secret = eddy_str_from(SECRET),
						       .cache_max = UINT32_MAX },
			NULL);
	expect_no_start(&(struct eddy_bearer_options){ .secret = eddy_str_from(SECRET),
						       .realm = "a\nb" },
			NULL);
	expect_no_start(&(struct eddy_bearer_options){ .secret = eddy_str_from(SECRET) },
			eddy_roles(""));
	expect_no_start(&(struct eddy_bearer_options){ .secret = eddy_str_from(SECRET) },
			eddy_scopes("a b"));
	close(fd);
	unlink(path);
}

Test(bearer, words_have_limits)
{
	const struct eddy_str secret = eddy_str_from(SECRET);
	char text[257];
	struct eddy_app *app;

	memset(text, 'a', 256);
	text[256] = '\0';
	expect_mistake(guarded(&(struct eddy_bearer_options){ .secret = secret, .realm = text }),
		       "bearer tokens: the realm has 256 bytes: at most 255");
	expect_mistake(guarded(&(struct eddy_bearer_options){ .secret = secret, .cookie = text }),
		       "aaa\" is not a valid cookie name: expected 1 to 255 characters");
	expect_mistake(guarded(&(struct eddy_bearer_options){ .secret = secret, .cookie = "" }),
		       "bearer tokens: \"\" is not a valid cookie name");
	expect_mistake(guarded(&(struct eddy_bearer_options){ .secret = secret, .cookie = "a=b" }),
		       "bearer tokens: \"a=b\" is not a valid cookie name");
	text[255] = '\0';
	app = guarded(
		&(struct eddy_bearer_options){ .secret = secret, .realm = text, .cookie = text });
	expect(app, "GET /me", NULL, "401 ");
	eddy_app_free(app);
}

/* What the file says is used. */
Test(bearer, takes_the_cookie_that_the_file_names)
{
	static char cookie[8192];
	const struct eddy_header headers[] = { { "cookie", cookie }, { 0 } };
	const struct eddy_client_request request = { .headers = headers };
	struct eddy_app *app = guarded(&(struct eddy_bearer_options){
		.secret = eddy_str_from(SECRET), .cookie = "other" });

	configure(app, "[bearer]\ncookie = '__Host-id'\n");
	snprintf(cookie, sizeof(cookie), "__Host-id=%s", GOOD("") + strlen("Bearer "));
	cr_expect_str_eq(asked_with(app, "GET /me", &request, NULL), "200 hello");
	eddy_app_free(app);
}

Test(bearer, words_are_not_empty)
{
	static const char *const none[] = { NULL }, *const empty[] = { "a", "", NULL };
	const struct eddy_str secret = eddy_str_from(SECRET);

	expect_mistake(
		guarded(&(struct eddy_bearer_options){ .secret = secret, .audiences = none }),
		"bearer tokens: audiences is empty");
	expect_mistake(
		guarded(&(struct eddy_bearer_options){ .secret = secret, .audiences = empty }),
		"bearer tokens: audiences is empty, or has an empty string");
	expect_mistake(guarded(&(struct eddy_bearer_options){ .secret = secret, .issuer = "" }),
		       "bearer tokens: issuer is empty");
}

/* ---- what holds ---- */

static uint64_t leeway_of(const struct eddy_bearer_options *options, const char *text)
{
	struct eddy_app *app = guarded(options);
	uint64_t leeway;

	configure(app, text);
	cr_expect(strncmp(asked(app, "GET /", NULL), "404 ", 4) == 0);
	leeway = eddyi_auth_of(app)->checks.leeway_ns;
	eddy_app_free(app);
	return leeway;
}

/* 0 of the program is nothing said, and of the file no time. */
Test(bearer, clocks_differ_by_a_minute)
{
	const struct eddy_bearer_options options = { .secret = eddy_str_from(SECRET) };
	struct eddy_bearer_options five = options;

	five.leeway_ns = 5 * EDDY_SECOND;
	cr_expect(leeway_of(&options, "") == 60 * EDDY_SECOND);
	cr_expect(leeway_of(&five, "") == 5 * EDDY_SECOND);
	cr_expect(leeway_of(&five, "[bearer]\nleeway_secs = 7\n") == 7 * EDDY_SECOND);
	cr_expect(leeway_of(&five, "[bearer]\nleeway_secs = 0\n") == EDDY_JWT_NO_LEEWAY);
}

Test(bearer, takes_keys_from_where_they_are)
{
	char path[] = "/tmp/eddy-secret-XXXXXX";
	int fd = mkstemp(path);
	struct eddy_app *app;

	cr_assert(ge(int, fd, 0));
	cr_assert(eq(int, (int)write(fd, SECRET, 32), 32));
	app = guarded(&(struct eddy_bearer_options){ .secret_file = path });
	expect(app, "GET /me", GOOD(""), "200 ");
	eddy_app_free(app);
	setenv("EDDY_TEST_SECRET", SECRET, 1);
	app = guarded(&(struct eddy_bearer_options){ .secret_env = "EDDY_TEST_SECRET" });
	expect(app, "GET /me", GOOD(""), "200 ");
	eddy_app_free(app);
	/* The same secret. */
	setenv("EDDY_TEST_SECRET",
	       " {\"kty\":\"oct\",\"k\":\"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY\"}", 1);
	app = guarded(&(struct eddy_bearer_options){ .key_env = "EDDY_TEST_SECRET" });
	expect(app, "GET /me", GOOD(""), "200 ");
	eddy_app_free(app);
	close(fd);
	unlink(path);
}

Test(bearer, checks_what_it_is_told_to)
{
	const char *const audiences[] = { "https://api.example", "https://old.example", NULL };
	struct eddy_app *app = guarded(&(struct eddy_bearer_options){
		.secret = eddy_str_from(SECRET),
		.audiences = audiences,
		.issuer = "https://issuer.example",
		.realm = "shop",
	});

	expect(app, "GET /me",
	       GOOD(",'iss':'https://issuer.example','aud':['x','https://old.example']"), "200 ");
	expect(app, "GET /me", GOOD(",'iss':'https://issuer.example','aud':'x'"),
	       INVALID("audience not accepted"));
	expect(app, "GET /me", GOOD(",'iss':'https://issuer.example'"), INVALID("claim missing"));
	expect(app, "GET /me", GOOD(",'iss':'https://other.example','aud':'https://api.example'"),
	       INVALID("issuer not accepted"));
	expect(app, "GET /me", GOOD(",'aud':'https://api.example'"), INVALID("claim missing"));
	eddy_app_free(app);
}

Test(bearer, leaves_no_secret_in_memory)
{
	static const char first[] = "the first secret, which is replaced";
	static const char second[] = "the second secret, which is in use.";
	const char *const secrets[] = { first, second };

	for (int i = 0; i < 2; i++) {
		struct eddy_app *app =
			guarded(&(struct eddy_bearer_options){ .secret = eddy_str_from(first) });

		eddy_app_with_bearer_auth(
			app, &(struct eddy_bearer_options){ .secret = eddy_str_from(second) });
		expect(app, "GET /me", token_by(second, "{'exp':%ld}", IN(60)), "200 ");
		freed_watch(NULL, eddy_str_from(secrets[i]));
		eddy_app_free(app);
		cr_expect_geq(freed_count, 1);
		cr_expect_not(freed_with_secret, "%s", secrets[i]);
		freed_watch(NULL, eddy_str(NULL, 0));
	}
}

/* ---- what is told later ---- */

static int change_the_secret(void *arg)
{
	struct eddy_app *app = arg;
	const char *old = GOOD(",'sub':'old'"), *new = token_by(OTHERS, "{'exp':%ld}", IN(60));
	uint64_t before = eddy_bearer_stats().cached;

	for (int i = 0; i < 2; i++)
		expect(app, "GET /me", old, "200 ");
	cr_expect(eq(u64, eddy_bearer_stats().cached - before, 1));
	eddy_app_with_bearer_auth(app, &(struct eddy_bearer_options){
					       .secret = eddy_str_from(OTHERS), .realm = "shop" });
	expect(app, "GET /me", old, INVALID("bad signature"));
	expect(app, "GET /me", new, "200 ");
	/* The key is the same, but what it may be used for is not. */
	eddy_app_with_bearer_auth(app,
				  &(struct eddy_bearer_options){ .secret = eddy_str_from(OTHERS),
								 .issuer = "https://issuer.example",
								 .realm = "shop" });
	expect(app, "GET /me", new, INVALID("claim missing"));
	return 0;
}

Test(bearer, goes_by_what_was_told_last)
{
	struct eddy_app *app = guarded(
		&(struct eddy_bearer_options){ .secret = eddy_str_from(SECRET), .realm = "shop" });

	cr_assert(zero(eddy_run(NULL, change_the_secret, app)));
	eddy_app_free(app);
}

/* ---- one run after the other ---- */

static const char *ran_with(struct ran *run, const char *text)
{
	configure(run->app, text);
	return ran(run, "/me");
}

/* The second file is as good as the first. */
Test(bearer, counts_anew_at_each_run)
{
	struct eddy_app *app = guarded(NULL);
	struct ran run;

	ran_init(&run, app);
	setenv("EDDY_TEST_SECRET", SECRET, 1);
	setenv("EDDY_TEST_OTHER", OTHERS, 1);
	run.secret = SECRET;
	cr_expect_str_eq(ran_with(&run, "[bearer]\nsecret_env = 'EDDY_TEST_SECRET'\n"),
			 "200 hello");
	cr_expect_str_eq(ran(&run, "/me"), "200 hello");
	cr_expect(strncmp(ran_with(&run, "[bearer]\nsecret_env = 'EDDY_TEST_OTHER'\n"), "401 ",
			  4) == 0);
	run.secret = OTHERS;
	cr_expect_str_eq(ran(&run, "/me"), "200 hello");
	cr_expect(strncmp(ran_with(&run, "[bearer]\naudiences = 'x'\n"), "401 ", 4) == 0);
	/* What it is made of may have changed as well. */
	run.secret = SECRET;
	cr_expect(strncmp(ran_with(&run, "[bearer]\naudiences = 'me'\n"), "401 ", 4) == 0);
	run.has_audience = true;
	setenv("EDDY_TEST_OTHER", SECRET, 1);
	cr_expect_str_eq(ran(&run, "/me"), "200 hello");
	eddy_app_free(app);
}
