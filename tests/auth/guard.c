/* Tests of eddy/bearer.h: who gets in, and what the others are told. */
#include "leap.h"
#include "shop.h"

#include <criterion/new/assert.h>
#include <eddy/auth.h>
#include <eddy/client.h>
#include <eddy/cors.h>
#include <eddy/loop.h>
#include <eddy/task.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str sub = { NULL, 0 };
	const struct eddy_jwt *token = eddy_req_token(req);

	if (token)
		sub = eddy_jwt_str(token, "sub");
	return eddy_res_ok(res, "hello %.*s", EDDY_FMT(sub));
}

static int kept(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_res_set_z(res, "cache-control", "max-age=7");
	return eddy_res_ok(res, "kept");
}

struct person {
	struct eddy_str sub;
	unsigned age;
};

static int person(struct eddy_req *req, struct eddy_res *res)
{
	static const struct eddy_member members[] = {
		EDDY_MEMBER(struct person, sub),
		EDDY_MEMBER(struct person, age, .range = { 1, 150 }),
	};
	struct person person;
	char why[EDDY_WHY_SIZE] = "";
	int r = eddy_req_claims_into(req, members, &person, why);

	return r < 0 ? eddy_res_ok(res, "%d %s", r == -EINVAL, why) :
		       eddy_res_ok(res, "%.*s %u", EDDY_FMT(person.sub), person.age);
}

static bool is_even(const struct eddy_jwt *token, void *data)
{
	(void)data;
	return json_integer_value(json_object_get(eddy_jwt_claims(token), "n")) % 2 == 0;
}

static struct eddy_app *app_with(const struct eddy_bearer_options *options)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *api = eddy_app_group(app, "/api"), *inner;

	eddy_app_with_bearer_auth(app, options);
	eddy_app_map_get(app, "/open", hello);
	eddy_app_authorize(eddy_app_map_get(app, "/me", hello), NULL);
	eddy_app_authorize(eddy_app_map_get(app, "/kept", kept), NULL);
	eddy_app_authorize(eddy_app_map_get(app, "/person", person), NULL);
	eddy_app_map_get(app, "/nobody", person);
	eddy_app_authorize(eddy_app_map_get(app, "/admin", hello), eddy_roles("admin", "root"));
	eddy_app_authorize(eddy_app_map_get(app, "/read", hello), eddy_scopes("read", "list"));
	eddy_app_authorize(eddy_app_map_get(app, "/even", hello), eddy_predicate(is_even, NULL));
	eddy_app_authorize(eddy_app_map_get(app, "/both", hello),
			   eddy_all_of(eddy_scopes("read"), eddy_roles("admin")));
	eddy_app_authorize(api, eddy_scopes("api"));
	inner = eddy_app_group(api, "/inner");
	eddy_app_map_get(inner, "/later", hello);
	eddy_app_authorize(eddy_app_map_get(inner, "/twice", hello), eddy_roles("admin"));
	return app;
}

static struct eddy_app *shop(void)
{
	return app_with(
		&(struct eddy_bearer_options){ .secret = eddy_str_from(SECRET), .realm = "shop" });
}

Test(guard, lets_in_who_has_a_good_token)
{
	struct eddy_app *app = shop();

	expect(app, "GET /open", NULL, "200 hello ");
	expect(app, "GET /me", GOOD(",'sub':'ann'"), "200 hello ann");
	expect(app, "HEAD /me", GOOD(""), "200 ");
	eddy_app_free(app);
}

Test(guard, asks_for_a_token)
{
	struct eddy_app *app = shop();

	expect(app, "GET /me", NULL, "401 Bearer realm=\"shop\"|{");
	expect(app, "HEAD /me", NULL, "401 Bearer realm=\"shop\"|");
	expect(app, "GET /me", "Basic YTpi", "401 Bearer realm=\"shop\"|{");
	expect(app, "GET /read", NULL, "401 Bearer realm=\"shop\", scope=\"read list\"|{");
	expect(app, "GET /both", NULL, "401 Bearer realm=\"shop\", scope=\"read\"|{");
	expect(app, "GET /me", "Bearer",
	       "400 Bearer realm=\"shop\", error=\"invalid_request\", error_description=\"");
	expect(app, "GET /me", "Bearer a b",
	       "400 Bearer realm=\"shop\", error=\"invalid_request\", error_description=\"");
	eddy_app_free(app);
}

Test(guard, says_what_is_wrong_with_a_token)
{
	struct eddy_app *app = shop();

	expect(app, "GET /me", "Bearer abc", INVALID("malformed token"));
	expect(app, "GET /me", token_by(OTHERS, "{'exp':%ld}", IN(60)), INVALID("bad signature"));
	expect(app, "GET /me", token_by(SECRET, "{'exp':%ld}", IN(-61)), INVALID("token expired"));
	expect(app, "GET /me", token_by(SECRET, "{'exp':%ld,'nbf':%ld}", IN(99), IN(90)),
	       INVALID("token not yet valid"));
	expect(app, "GET /me", token_by(SECRET, "{}"), INVALID("claim missing"));
	expect(app, "GET /me", GOOD(",'aud':'x'"), INVALID("audience not accepted"));
	/* {"alg":"none"} and {"alg":"RS256"} of {} */
	expect(app, "GET /me", "Bearer eyJhbGciOiJub25lIn0.e30.",
	       INVALID("algorithm not accepted"));
	expect(app, "GET /me", "Bearer eyJhbGciOiJSUzI1NiJ9.e30.AAAA",
	       INVALID("algorithm not accepted"));
	/* {"alg":"HS256","crit":["x"]} */
	expect(app, "GET /me", "Bearer eyJhbGciOiJIUzI1NiIsImNyaXQiOlsieCJdfQ.e30.AAAA",
	       INVALID("critical header not understood"));
	eddy_app_free(app);
}

Test(guard, forbids_by_rules)
{
	struct eddy_app *app = shop();

	expect(app, "GET /admin", GOOD(",'role':'admin'"), "200 ");
	expect(app, "GET /admin", GOOD(",'roles':['x','root']"), "200 ");
	expect(app, "GET /admin", GOOD(",'role':'guest'"),
	       "403 Bearer realm=\"shop\", error=\"insufficient_scope\"|{");
	expect(app, "GET /read", GOOD(",'scope':'list read'"), "200 ");
	expect(app, "GET /read", GOOD(",'scope':'read'"),
	       "403 Bearer realm=\"shop\", error=\"insufficient_scope\", scope=\"read list\"|{");
	expect(app, "GET /even", GOOD(",'n':4"), "200 ");
	expect(app, "GET /even", GOOD(",'n':3"), "403 ");
	expect(app, "GET /both", GOOD(",'role':'admin','scope':'read'"), "200 ");
	expect(app, "GET /both", GOOD(",'role':'guest','scope':'read'"),
	       "403 Bearer realm=\"shop\", error=\"insufficient_scope\"|{");
	eddy_app_free(app);
}

Test(guard, stands_around_a_group)
{
	struct eddy_app *app = shop();

	expect(app, "GET /api/inner/later", NULL, "401 Bearer realm=\"shop\", scope=\"api\"|");
	expect(app, "GET /api/inner/later", GOOD(",'scope':'api'"), "200 ");
	expect(app, "GET /api/nothing", NULL, "401 ");
	expect(app, "GET /api/nothing", GOOD(",'scope':'api'"), "404 ");
	expect(app, "DELETE /api/inner/later", NULL, "401 ");
	/* Of two guards both count. */
	expect(app, "GET /api/inner/twice", GOOD(",'scope':'api'"), "403 ");
	expect(app, "GET /api/inner/twice", GOOD(",'role':'admin'"), "403 ");
	expect(app, "GET /api/inner/twice", GOOD(",'role':'admin','scope':'api'"), "200 ");
	eddy_app_free(app);
}

Test(guard, stands_around_an_app_but_for_its_metadata)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_bearer_auth(app,
				  &(struct eddy_bearer_options){ .secret = eddy_str_from(SECRET) });
	eddy_app_authorize(app, NULL);
	eddy_app_map_get(app, "/later", hello);
	eddy_app_set_oauth_resource_metadata(app, "https://api.example/v1");
	eddy_app_use_oauth_resource_metadata(app);
	expect(app, "GET /later", NULL,
	       "401 Bearer resource_metadata=\"https://api.example/.well-known/"
	       "oauth-protected-resource/v1\"|");
	expect(app, "GET /later", GOOD(""), "200 ");
	expect(app, "GET /nothing", NULL, "401 ");
	expect(app, "GET /.well-known/oauth-protected-resource/v1", NULL, "200 {");
	eddy_app_free(app);
}

/* Return: as asked_with(), for a request with these two fields; NULL: without. */
static const char *ask_with_cookie(struct eddy_app *app, const char *line,
				   const char *authorization, const char *token, const char *field)
{
	static char cookie[8192];
	struct eddy_header headers[3] = { { "cookie", cookie }, { 0 } };
	const struct eddy_client_request request = { .headers = headers };

	/* That of token_by() begins with its scheme. */
	snprintf(cookie, sizeof(cookie), "__Host-id=%s", token + strlen("Bearer "));
	if (authorization)
		headers[1] = (struct eddy_header){ "authorization", authorization };
	return asked_with(app, line, &request, field);
}

static void expect_with_cookie(struct eddy_app *app, const char *line, const char *authorization,
			       const char *token, const char *expected)
{
	const char *got = ask_with_cookie(app, line, authorization, token, "www-authenticate");

	cr_expect(strncmp(got, expected, strlen(expected)) == 0, "%.60s: %.400s", line, got);
}

static struct eddy_app *shop_with_cookie(void)
{
	struct eddy_app *app = app_with(&(struct eddy_bearer_options){
		.secret = eddy_str_from(SECRET), .realm = "shop", .cookie = "__Host-id" });

	eddy_app_authorize(eddy_app_map_post(app, "/me", hello), NULL);
	return app;
}

#define TWICE                                                                                      \
	"400 Bearer realm=\"shop\", error=\"invalid_request\", error_description=\"expected one "  \
	"bearer token, in the Authorization field or in the cookie\"|{"

Test(guard, takes_a_token_of_a_cookie)
{
	struct eddy_app *app = shop_with_cookie();

	expect_with_cookie(app, "GET /me", NULL, GOOD(",'sub':'ann'"), "200 hello ann");
	expect_with_cookie(app, "HEAD /me", NULL, GOOD(""), "200 ");
	expect_with_cookie(app, "GET /admin", NULL, GOOD(",'role':'guest'"),
			   "403 Bearer realm=\"shop\", error=\"insufficient_scope\"|{");
	expect_with_cookie(app, "GET /me", NULL, token_by(OTHERS, "{'exp':%ld}", IN(60)),
			   INVALID("bad signature"));
	expect_with_cookie(app, "GET /me", NULL, "Bearer not a token", INVALID("malformed token"));
	expect_with_cookie(app, "GET /me", NULL, "Bearer ", "401 Bearer realm=\"shop\"|{");
	expect(app, "GET /me", NULL, "401 Bearer realm=\"shop\"|{");
	expect(app, "GET /me", GOOD(""), "200 ");
	expect_with_cookie(app, "GET /me", GOOD(""), GOOD(""), TWICE);
	expect_with_cookie(app, "GET /me", "Basic YTpi", GOOD(""), "200 ");
	eddy_app_free(app);
}

Test(guard, takes_no_cookie_unless_one_is_named)
{
	struct eddy_app *app = shop();

	expect_with_cookie(app, "GET /me", NULL, GOOD(""), "401 Bearer realm=\"shop\"|{");
	expect_with_cookie(app, "GET /me", GOOD(""), GOOD(""), "200 ");
	eddy_app_free(app);
}

/* Any site's page can have a form sent with the cookie. */
Test(guard, takes_a_cookie_where_nothing_changes)
{
	struct eddy_app *app = shop_with_cookie();
	const char *got;

	expect_with_cookie(app, "POST /me", NULL, GOOD(""), "401 Bearer realm=\"shop\"|{");
	got = ask_with_cookie(app, "POST /me", NULL, GOOD(""), NULL);
	cr_expect(
		strstr(got,
		       "this method requires the bearer token in the Authorization field, not in a "
		       "cookie") != NULL,
		"%s", got);
	expect_with_cookie(app, "POST /me", GOOD(",'sub':'ann'"), GOOD(",'sub':'bob'"),
			   "200 hello ann");
	eddy_app_free(app);
}

/* A cache that is shared would have one response for all, which no Authorization field tells it not to. */
Test(guard, tells_caches_of_the_cookie)
{
	struct eddy_app *app = shop_with_cookie();

	cr_expect(zero(strncmp(ask_with_cookie(app, "GET /kept", NULL, GOOD(""), "vary"),
			       "200 cookie|", 11)));
	cr_expect(zero(strncmp(ask(app, "GET /kept", GOOD(""), "vary"), "200 cookie|", 11)));
	cr_expect(zero(strncmp(ask(app, "GET /me", GOOD(""), "vary"), "200 hello", 9)));
	eddy_app_free(app);
	app = shop();
	cr_expect(zero(strncmp(ask(app, "GET /kept", GOOD(""), "vary"), "200 kept", 8)));
	eddy_app_free(app);
}

Test(guard, keeps_answers_out_of_caches)
{
	struct eddy_app *app = shop();

	cr_expect(
		zero(strncmp(ask(app, "GET /me", GOOD(""), "cache-control"), "200 no-store|", 13)));
	cr_expect(zero(strncmp(ask(app, "GET /me", NULL, "cache-control"), "401 no-store|", 13)));
	cr_expect(zero(
		strncmp(ask(app, "GET /admin", GOOD(""), "cache-control"), "403 no-store|", 13)));
	cr_expect(zero(
		strncmp(ask(app, "GET /kept", GOOD(""), "cache-control"), "200 max-age=7|", 14)));
	cr_expect(zero(strncmp(ask(app, "GET /open", GOOD(""), "cache-control"), "200 hello", 9)));
	eddy_app_free(app);
}

/* ---- beside others ---- */

static int mine(struct eddy_req *req, struct eddy_res *res, int status, const char *detail)
{
	(void)req;
	return eddy_res_ok(res, "mine: %d, %s", status, detail ? detail : "-");
}

Test(guard, has_errors_rendered_as_others_are)
{
	struct eddy_app *app = shop();

	eddy_app_map_err(app, mine);
	expect(app, "GET /me", NULL,
	       "401 Bearer realm=\"shop\"|mine: 401, a bearer token is required");
	expect(app, "GET /me", "Bearer abc",
	       INVALID("malformed token") "mine: 401, malformed token");
	expect(app, "GET /admin", GOOD(""),
	       "403 Bearer realm=\"shop\", error=\"insufficient_scope\"|mine: 403, ");
	cr_expect(
		zero(strncmp(ask(app, "GET /me", NULL, "cache-control"), "401 no-store|mine", 17)));
	eddy_app_free(app);
}

static int fail(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_res_set_z(res, "cache-control", "public");
	return -ENOENT;
}

static struct eddy_app *guarded_shop(void)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_bearer_auth(app,
				  &(struct eddy_bearer_options){ .secret = eddy_str_from(SECRET) });
	eddy_app_authorize(app, NULL);
	eddy_app_map_get(app, "/me", hello);
	eddy_app_map_get(app, "/fails", fail);
	return app;
}

Test(guard, stands_around_whatever_is_answered)
{
	struct eddy_app *app = guarded_shop();

	expect(app, "OPTIONS /me", NULL, "401 Bearer|");
	expect(app, "OPTIONS /me", GOOD(""), "204 ");
	expect(app, "POST /me", NULL, "401 Bearer|");
	expect(app, "POST /me", GOOD(""), "405 ");
	expect(app, "GET /none", NULL, "401 Bearer|");
	eddy_app_map_fallback(app, hello);
	expect(app, "GET /none", NULL, "401 Bearer|");
	expect(app, "GET /none", GOOD(""), "200 hello");
	/* What the handler has said of its body is not said of an error. */
	cr_expect(zero(
		strncmp(ask(app, "GET /fails", GOOD(""), "cache-control"), "404 no-store|", 13)));
	eddy_app_free(app);
}

/* A token that is too long is not one that is missing. */
Test(guard, leaves_heads_that_are_refused_to_the_server)
{
	char *field = malloc(17 * EDDY_KIB + 1);
	struct eddy_app *app = guarded_shop();
	uint64_t before = eddy_bearer_stats().refused;

	memset(field, 'a', 17 * EDDY_KIB);
	memcpy(field, "Bearer ", 7);
	field[17 * EDDY_KIB] = '\0';
	expect(app, "GET /me", field, "431 {");
	cr_expect(zero(u64, eddy_bearer_stats().refused - before));
	eddy_app_free(app);
	free(field);
}

Test(guard, lets_cors_answer_before_it)
{
	static const char *const origins[] = { "https://app.example", NULL };
	const struct eddy_header headers[] = { { "origin", "https://app.example" },
					       { "access-control-request-method", "GET" },
					       { "access-control-request-headers",
						 "authorization" },
					       { 0 } };
	const struct eddy_client_request preflight = { .headers = headers };
	const struct eddy_client_request request = { .headers = (const struct eddy_header[]){
							     headers[0], { 0 } } };
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_bearer_auth(app,
				  &(struct eddy_bearer_options){ .secret = eddy_str_from(SECRET) });
	eddy_app_use_cors(app, &(struct eddy_cors_options){ .origins = origins,
							    .exposed = "www-authenticate" });
	eddy_app_authorize(app, NULL);
	eddy_app_map_get(app, "/me", hello);
	cr_expect_str_eq(asked_with(app, "OPTIONS /me", &preflight, "access-control-allow-headers"),
			 "204 authorization|");
	cr_expect(strncmp(asked_with(app, "GET /me", &request, "access-control-allow-origin"),
			  "401 https://app.example|", 24) == 0);
	cr_expect(strncmp(asked_with(app, "GET /me", &request, "access-control-expose-headers"),
			  "401 www-authenticate|", 21) == 0);
	eddy_app_free(app);
}

struct two_apps {
	struct eddy_app *apps[2];
	const char *token;
};

static int ask_both(void *arg)
{
	struct two_apps *two = arg;

	for (int i = 0; i < 2; i++) {
		expect(two->apps[0], "GET /me", two->token, "200 ");
		expect(two->apps[1], "GET /me", two->token, INVALID("audience not accepted"));
	}
	return 0;
}

/* What one of them has found good is not good for the other, which has the same key. */
Test(guard, knows_its_own_tokens_alone)
{
	const char *const ours[] = { "ours", NULL }, *const theirs[] = { "theirs", NULL };
	const struct eddy_bearer_options options[] = {
		{ .secret = eddy_str_from(SECRET), .audiences = ours },
		{ .secret = eddy_str_from(SECRET), .audiences = theirs, .realm = "shop" },
	};
	struct two_apps two = { { app_with(&options[0]), app_with(&options[1]) },
				GOOD(",'aud':'ours'") };
	uint64_t before = eddy_bearer_stats().cached;

	cr_assert(zero(eddy_run(NULL, ask_both, &two)));
	cr_expect(eq(u64, eddy_bearer_stats().cached - before, 1));
	eddy_app_free(two.apps[0]);
	eddy_app_free(two.apps[1]);
}

Test(guard, wants_tls_from_afar)
{
	const char *const unix_peers[] = { "unix", NULL };
	const struct eddy_server_options server = { .trusted_proxies = unix_peers,
						    .forwarded = EDDY_FORWARDED_X };
	const char *token = GOOD("");
	const struct eddy_header plain[] = { { "authorization", token },
					     { "x-forwarded-for", "192.0.2.1" },
					     { "x-forwarded-proto", "http" },
					     { 0 } };
	const struct eddy_header secure[] = { { "authorization", token },
					      { "x-forwarded-for", "192.0.2.1" },
					      { "x-forwarded-proto", "https" },
					      { 0 } };
	const struct eddy_client_request by_http = { .headers = plain };
	const struct eddy_client_request by_https = { .headers = secure };
	struct eddy_app *app = shop();
	const char *got;

	eddy_app_with_server(app, &server);
	got = asked_with(app, "GET /me", &by_http, "www-authenticate");
	cr_expect(zero(strncmp(got,
			       "400 Bearer realm=\"shop\", error=\"invalid_request\", "
			       "error_description=\"HTTPS required\"|",
			       82)),
		  "%s", got);
	got = asked_with(app, "GET /me", &by_https, NULL);
	cr_expect(zero(strncmp(got, "200 ", 4)), "%s", got);
	eddy_app_free(app);

	app = app_with(&(struct eddy_bearer_options){ .secret = eddy_str_from(SECRET),
						      .allow_plain_http = true });
	eddy_app_with_server(app, &server);
	got = asked_with(app, "GET /me", &by_http, NULL);
	cr_expect(zero(strncmp(got, "200 ", 4)), "%s", got);
	eddy_app_free(app);
}

/* ---- what is told later ---- */

Test(guard, stands_where_it_was_put_after_a_test)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_route *route;

	eddy_app_with_bearer_auth(app,
				  &(struct eddy_bearer_options){ .secret = eddy_str_from(SECRET) });
	route = eddy_app_map_get(app, "/me", hello);
	expect(app, "GET /me", NULL, "200 ");
	eddy_app_authorize(route, NULL);
	expect(app, "GET /me", NULL, "401 ");
	expect(app, "GET /me", GOOD(""), "200 ");
	eddy_app_free(app);
}

/* ---- claims ---- */

Test(guard, gives_claims_to_the_handler)
{
	struct eddy_app *app = shop();

	expect(app, "GET /person", GOOD(",'sub':'ann','age':44"), "200 ann 44");
	expect(app, "GET /person", GOOD(",'sub':'ann','age':200"), "200 1 \"age\"");
	expect(app, "GET /person", GOOD(",'age':44"), "200 1 \"sub\"");
	expect(app, "GET /nobody", GOOD(",'sub':'ann','age':44"), "200 0 ");
	eddy_app_free(app);
}

/* ---- what is known already ---- */

struct visits {
	struct eddy_app *app;
	const char *token;
};

static int visit_twice(void *arg)
{
	struct visits *visits = arg;

	for (int i = 0; i < 2; i++)
		expect(visits->app, "GET /me", visits->token, "200 ");
	return 0;
}

Test(guard, verifies_a_token_once)
{
	struct eddy_bearer_options options = { .secret = eddy_str_from(SECRET) };
	struct visits visits = { app_with(&options), GOOD(",'sub':'bob'") };
	uint64_t before = eddy_bearer_stats().cached;

	cr_assert(zero(eddy_run(NULL, visit_twice, &visits)));
	cr_expect(eq(u64, eddy_bearer_stats().cached - before, 1));
	eddy_app_free(visits.app);

	options.no_cache = true;
	visits.app = app_with(&options);
	before = eddy_bearer_stats().cached;
	cr_assert(zero(eddy_run(NULL, visit_twice, &visits)));
	cr_expect(zero(u64, eddy_bearer_stats().cached - before));
	eddy_app_free(visits.app);
}

static int visit_until_it_expires(void *arg)
{
	struct visits *visits = arg;

	visit_twice(visits);
	leap(60 * EDDY_SECOND);
	/* The loop's own time is that of its turn: what begins now would be over at the next one. */
	eddy_sleep(EDDY_MS);
	expect(visits->app, "GET /me", visits->token,
	       "401 Bearer error=\"invalid_token\", error_description=\"token expired\"");
	return 0;
}

Test(guard, keeps_no_token_past_its_time)
{
	struct visits visits = {
		app_with(&(struct eddy_bearer_options){ .secret = eddy_str_from(SECRET),
							.leeway_ns = EDDY_JWT_NO_LEEWAY }),
		GOOD(""),
	};
	uint64_t before = eddy_bearer_stats().cached;

	cr_assert(zero(eddy_run(NULL, visit_until_it_expires, &visits)));
	cr_expect(eq(u64, eddy_bearer_stats().cached - before, 1));
	eddy_app_free(visits.app);
}

Test(guard, counts)
{
	struct eddy_bearer_stats before = eddy_bearer_stats(), after;
	struct eddy_app *app = shop();

	expect(app, "GET /api/inner/twice", GOOD(",'role':'admin','scope':'api'"), "200 ");
	expect(app, "GET /api/inner/twice", GOOD(",'scope':'api'"), "403 ");
	expect(app, "GET /me", "Bearer abc", "401 ");
	expect(app, "GET /me", "Bearer", "400 ");
	expect(app, "GET /open", NULL, "200 ");
	after = eddy_bearer_stats();
	cr_expect(eq(u64, after.let_in - before.let_in, 1));
	cr_expect(eq(u64, after.forbidden - before.forbidden, 1));
	cr_expect(eq(u64, after.refused - before.refused, 2));
	cr_expect(eq(u64, after.unknown - before.unknown, 0));
	eddy_app_free(app);
}
