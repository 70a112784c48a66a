/* Tests of http/src/app/router.h, and with it of the methods of target.h. */
#include "app/router.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct eddyi_arena arena;
static struct eddyi_router *router;

static void setup(void)
{
	router = eddyi_router_new();
	cr_assert(router != NULL);
}

static void teardown(void)
{
	eddyi_router_free(router);
	eddyi_arena_deinit(&arena);
	eddyi_arena_trim();
}

TestSuite(router, .init = setup, .fini = teardown);

static int add(enum eddyi_method method, const char *pattern)
{
	const char *reason = NULL;
	int err =
		eddyi_router_add(router, method, eddy_str_from(pattern), (void *)pattern, &reason);

	cr_assert(err == 0 || reason, "%s: no reason", pattern);
	return err;
}

static void find(enum eddyi_method method, const char *target, struct eddyi_router_match *match)
{
	struct eddyi_path path;

	cr_assert(eq(int, eddyi_path_split(&arena, eddy_str_from(target), &path), 0));
	eddyi_router_find(router, method, &path, match);
}

/* The route found, and its parameters as "name=value,…". */
static const char *found(enum eddyi_method method, const char *target)
{
	static char text[4096];
	struct eddyi_router_match match;
	int len;

	find(method, target, &match);
	if (!match.route) {
		char set[EDDYI_METHOD_SET_SIZE];

		eddyi_method_format_set(match.methods, set);
		snprintf(text, sizeof(text), "%s", match.methods ? set : "none");
		return text;
	}
	len = snprintf(text, sizeof(text), "%s", (char *)match.route->value);
	for (size_t i = 0; i < match.route->param_count; i++)
		len += snprintf(text + len, sizeof(text) - len, " %.*s=%.*s",
				EDDY_FMT(match.route->param_names[i]), EDDY_FMT(match.params[i]));
	return text;
}

Test(router, finds)
{
	static const char *const patterns[] = {
		"/",
		"/a",
		"/a/{id}",
		"/a/{id}/b",
		"/a/x/c",
		"/a/{other}/d/{id}",
		"/files/{path...}",
		"/files/readme",
		"/a//b",
		"/caf%C3%A9",
		"/%7Braw%7D",
		"/{any}/z",
		"/deep/{a}/{b...}",
		"/slash%2Fin",
	};
	static const struct {
		const char *target, *want;
	} cases[] = {
		{ "", "/" },
		{ "/", "/" },
		{ "/a", "/a" },
		{ "/a/", "/a" },
		{ "/a//", "none" },
		{ "//a", "none" },
		{ "/A", "none" },
		{ "/%61", "/a" },
		{ "/a/7", "/a/{id} id=7" },
		{ "/a/7/", "/a/{id} id=7" },
		{ "/a/b%2Fc", "/a/{id} id=b/c" },
		{ "/a/x", "/a/{id} id=x" },
		{ "/a/x/b", "/a/{id}/b id=x" },
		{ "/a/x/c", "/a/x/c" },
		{ "/a/y/c", "none" },
		{ "/a/x/d/9", "/a/{other}/d/{id} other=x id=9" },
		{ "/a//b", "/a//b" },
		{ "/a//d/9", "none" },
		{ "/files", "/files/{path...} path=" },
		{ "/files/", "/files/{path...} path=" },
		{ "/files//", "/files/{path...} path=" },
		{ "/files/a", "/files/{path...} path=a" },
		{ "/files/a/b%20c/d/", "/files/{path...} path=a/b c/d" },
		{ "/files//a", "/files/{path...} path=/a" },
		{ "/files/../a", "/files/{path...} path=../a" },
		{ "/files/readme", "/files/readme" },
		{ "/files/readme/x", "/files/{path...} path=readme/x" },
		{ "/files/z", "/files/{path...} path=z" },
		{ "/other/z", "/{any}/z any=other" },
		{ "/a/z", "/a/{id} id=z" },
		{ "//z", "none" },
		{ "/caf%c3%a9", "/caf%C3%A9" },
		{ "/%7braw%7D", "/%7Braw%7D" },
		{ "/slash%2fin", "/slash%2Fin" },
		{ "/slash/in", "none" },
		{ "/deep/1/2/3", "/deep/{a}/{b...} a=1 b=2/3" },
		{ "/deep/1", "/deep/{a}/{b...} a=1 b=" },
		{ "/deep", "none" },
	};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		cr_assert(eq(int, add(EDDYI_METHOD_GET, patterns[i]), 0), "%s", patterns[i]);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(found(EDDYI_METHOD_GET, cases[i].target), cases[i].want, "%s",
				 cases[i].target);
}

Test(router, refuses_patterns)
{
	static const struct {
		const char *pattern;
		int want;
	} cases[] = {
		{ "", -EINVAL },
		{ "a", -EINVAL },
		{ "{a}", -EINVAL },
		{ "/{}", -EINVAL },
		{ "/{...}", -EINVAL },
		{ "/{a", -EINVAL },
		{ "/a}", -EINVAL },
		{ "/{", -EINVAL },
		{ "/}", -EINVAL },
		{ "/x{a}", -EINVAL },
		{ "/{a}x", -EINVAL },
		{ "/{a}{b}", -EINVAL },
		{ "/{a b}", -EINVAL },
		{ "/{a.}", -EINVAL },
		{ "/{a...}/b", -EINVAL },
		{ "/{a}/{a}", -EINVAL },
		{ "/{a}/{a...}", -EINVAL },
		{ "/%zz", -EINVAL },
		{ "/%00", -EINVAL },
		{ "/%", -EINVAL },
		{ "/{a...}/", 0 },
		{ "/{b...}", -EEXIST },
		{ "/p/{a}", 0 },
		{ "/p/{b}/", -EEXIST },
		{ "/p/{b}/{a}", 0 },
		{ "/s", 0 },
		{ "/s/", -EEXIST },
		{ "/%73", -EEXIST },
		{ "/s//", 0 },
		{ "/", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect(eq(int, add(EDDYI_METHOD_GET, cases[i].pattern), cases[i].want), "%s",
			  cases[i].pattern);
	cr_expect(eq(int, add(EDDYI_METHOD_OTHER, "/other"), -EINVAL));
}

static const char *reason_of(enum eddyi_method method, const char *pattern)
{
	const char *reason = "";
	int err = eddyi_router_add(router, method, eddy_str_from(pattern), router, &reason);

	return err ? reason : "none";
}

/* Taken as text, parameters of other frameworks would not match what their author means. */
Test(router, refuses_parameters_as_others_write_them)
{
	static const char *const cases[][2] = {
		{ "/c/:id", "write a parameter as {id} instead of :id; a literal : is %3A" },
		{ "/:user_id/posts",
		  "write a parameter as {user_id} instead of :user_id; a literal : is %3A" },
		{ "/:", "write a parameter as {name} instead of :; a literal : is %3A" },
		{ "/:id?", "write a parameter as {name} instead of :id?; a literal : is %3A" },
		{ "/d/*",
		  "write the rest of a path as {path...}, at the end, instead of *; a literal * is "
		  "%2A" },
		{ "/**",
		  "write the rest of a path as {path...}, at the end, instead of **; a literal * "
		  "is %2A" },
		{ "/*/x",
		  "write the rest of a path as {path...}, at the end, instead of *; a literal * is "
		  "%2A" },
		{ "/*file",
		  "write the rest of a path as {file...}, at the end, instead of *file; a literal "
		  "* is %2A" },
		{ "/g/<id>", "write a parameter as {id} instead of <id>; a literal < is %3C" },
		{ "/<int:n>/", "write a parameter as {n} instead of <int:n>; a literal < is %3C" },
		{ "/<>", "write a parameter as {name} instead of <>; a literal < is %3C" },
		{ "/<:>", "write a parameter as {name} instead of <:>; a literal < is %3C" },
		{ "/[id]", "write a parameter as {id} instead of [id]; a literal [ is %5B" },
		{ "/[...path]/",
		  "write a parameter as {name} instead of [...path]; a literal [ is %5B" },
		{ "/(.*)", "write a parameter as {name} instead of (.*); a literal ( is %28" },
		{ "a", "a pattern begins with /" },
		{ "/%0", "an escape is %XX with two hexadecimal digits, and not %00" },
		{ "/%00", "an escape is %XX with two hexadecimal digits, and not %00" },
		{ "/{id:int}", "a parameter has no type here: write {name}, and read it into a "
			       "variable of the type" },
		{ "/q?x=1", "a pattern has no query: read it by eddy_req_query_into()" },
		{ "/q#x",
		  "a pattern has no fragment, which clients never send; a literal # is %23" },
		{ "/{a...}/:b", "{name...} must be the last segment" },
		/* Static text. */
		{ "/a:b", "none" },
		{ "/a:", "none" },
		{ "/a*", "none" },
		{ "/a**b", "none" },
		{ "/<", "none" },
		{ "/<a", "none" },
		{ "/a>", "none" },
		{ "/a<b>", "none" },
		{ "/%3Aid", "none" },
		{ "/%2A", "none" },
		{ "/%3Cid>", "none" },
		{ "/(a", "none" },
		{ "/f(x)", "none" },
		{ "/q%3Fx=1", "none" },
		{ "/", "none" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(reason_of(EDDYI_METHOD_GET, cases[i][0]), cases[i][1], "%s",
				 cases[i][0]);
	cr_assert(eq(int, add(EDDYI_METHOD_GET, "/t/x:y"), 0));
	cr_assert(eq(int, add(EDDYI_METHOD_GET, "/t/%3Aid"), 0));
	cr_expect_str_eq(found(EDDYI_METHOD_GET, "/t/x:y"), "/t/x:y");
	cr_expect_str_eq(found(EDDYI_METHOD_GET, "/t/:id"), "/t/%3Aid");
}

/* The reason for rejecting a duplicate names the route that it collides with. */
Test(router, names_the_route_that_is_there)
{
	add(EDDYI_METHOD_GET, "/a/{x}");
	add(EDDYI_METHOD_PUT, "/a/{z}");
	cr_expect_str_eq(reason_of(EDDYI_METHOD_GET, "/a/{y}/"),
			 "it conflicts with the route GET \"/a/{x}\": parameter names and a "
			 "trailing slash make no difference");
	cr_expect_str_eq(reason_of(EDDYI_METHOD_PUT, "/a/{y}"),
			 "it conflicts with the route PUT \"/a/{z}\": parameter names and a "
			 "trailing slash make no difference");
}

Test(router, methods)
{
	add(EDDYI_METHOD_GET, "/get");
	add(EDDYI_METHOD_GET, "/both");
	add(EDDYI_METHOD_HEAD, "/both/");
	add(EDDYI_METHOD_HEAD, "/head");
	add(EDDYI_METHOD_POST, "/a/b");
	add(EDDYI_METHOD_GET, "/a/{x}");
	add(EDDYI_METHOD_PUT, "/{y...}");
	cr_expect_str_eq(found(EDDYI_METHOD_HEAD, "/get"), "/get");
	cr_expect_str_eq(found(EDDYI_METHOD_HEAD, "/both"), "/both/");
	cr_expect_str_eq(found(EDDYI_METHOD_GET, "/both"), "/both");
	cr_expect_str_eq(found(EDDYI_METHOD_HEAD, "/head"), "/head");
	/* A pattern without the method is passed over. */
	cr_expect_str_eq(found(EDDYI_METHOD_GET, "/a/b"), "/a/{x} x=b");
	cr_expect_str_eq(found(EDDYI_METHOD_PUT, "/a/b"), "/{y...} y=a/b");
	/* 405: every method that the path would answer. */
	cr_expect_str_eq(found(EDDYI_METHOD_DELETE, "/a/b"), "GET, HEAD, POST, PUT");
	cr_expect_str_eq(found(EDDYI_METHOD_OTHER, "/get"), "GET, HEAD, PUT");
	cr_expect_str_eq(found(EDDYI_METHOD_GET, "/head"), "HEAD, PUT");
	cr_expect(eq(uint, eddyi_router_methods(router),
		     EDDYI_METHOD_BIT(EDDYI_METHOD_GET) | EDDYI_METHOD_BIT(EDDYI_METHOD_HEAD) |
			     EDDYI_METHOD_BIT(EDDYI_METHOD_POST) |
			     EDDYI_METHOD_BIT(EDDYI_METHOD_PUT)));
}

Test(router, method_names)
{
	char set[EDDYI_METHOD_SET_SIZE];

	for (int i = 0; i < EDDYI_METHOD_COUNT; i++) {
		struct eddy_str name = eddyi_method_format_set(EDDYI_METHOD_BIT(i), set);

		cr_expect(eq(int, eddyi_method_from(name), i));
	}
	cr_expect(eq(int, eddyi_method_from(eddy_str_from("get")), EDDYI_METHOD_OTHER));
	cr_expect(eq(int, eddyi_method_from(eddy_str_from("")), EDDYI_METHOD_OTHER));
	cr_expect(eq(int, eddyi_method_from(eddy_str_from("PROPFIND")), EDDYI_METHOD_OTHER));
	cr_expect(eq(sz, eddyi_method_format_set(0, set).len, 0));
	cr_expect_str_eq(eddyi_method_format_set(~0u, set).ptr,
			 "GET, HEAD, POST, PUT, DELETE, CONNECT, OPTIONS, TRACE, PATCH");
}

Test(router, many_parameters)
{
	char pattern[1024] = "", target[1024] = "";
	struct eddyi_router_match match;

	for (int i = 0; i < EDDYI_PATTERN_PARAMS_MAX; i++) {
		sprintf(pattern + strlen(pattern), "/{p%d}", i);
		sprintf(target + strlen(target), "/%d", i);
	}
	cr_assert(eq(int, add(EDDYI_METHOD_GET, pattern), 0));
	find(EDDYI_METHOD_GET, target, &match);
	cr_assert(match.route != NULL);
	cr_expect(eq(sz, match.route->param_count, EDDYI_PATTERN_PARAMS_MAX));
	cr_expect(eddy_str_eq_z(match.params[31], "31"));
	strcat(pattern, "/{more...}");
	cr_expect(eq(int, add(EDDYI_METHOD_GET, pattern), -EINVAL));
	strcpy(strrchr(pattern, '/'), "/{more}");
	cr_expect(eq(int, add(EDDYI_METHOD_GET, pattern), -EINVAL));
}

Test(router, long_patterns)
{
	char pattern[1024] = "";

	for (int i = 0; i < EDDYI_PATTERN_SEGMENTS_MAX; i++)
		strcat(pattern, "/s");
	cr_expect(eq(int, add(EDDYI_METHOD_GET, pattern), 0));
	cr_expect_str_eq(found(EDDYI_METHOD_GET, pattern), pattern);
	strcat(pattern, "/s");
	cr_expect(eq(int, add(EDDYI_METHOD_GET, pattern), -EINVAL));
	cr_expect_str_eq(found(EDDYI_METHOD_GET, pattern), "none");
}

/* Each route keeps its own names, whatever was added first. */
Test(router, names_per_route)
{
	add(EDDYI_METHOD_GET, "/u/{id}");
	add(EDDYI_METHOD_PUT, "/u/{name}");
	add(EDDYI_METHOD_GET, "/u/{user}/{post}");
	cr_expect_str_eq(found(EDDYI_METHOD_GET, "/u/1"), "/u/{id} id=1");
	cr_expect_str_eq(found(EDDYI_METHOD_PUT, "/u/1"), "/u/{name} name=1");
	cr_expect_str_eq(found(EDDYI_METHOD_GET, "/u/1/2"), "/u/{user}/{post} user=1 post=2");
}

/* The worst tree: at each of 10 levels a static segment and a parameter, and no route fits. Every
 * way is tried, each node once: a path of any length costs at most the nodes of the tree. */
Test(router, backtracking_is_bounded)
{
	enum { LEVELS = 10 };
	struct eddyi_router_match match;
	char *hostile = malloc(2 * 100000 + 1);
	size_t nodes = (2u << LEVELS) - 1 + (1u << LEVELS);

	for (unsigned bits = 0; bits < 1u << LEVELS; bits++) {
		char pattern[256] = "";
		const char *reason;

		for (int level = 0; level < LEVELS; level++)
			if (bits >> level & 1)
				sprintf(pattern + strlen(pattern), "/{p%d}", level);
			else
				strcat(pattern, "/a");
		strcat(pattern, "/end");
		cr_assert(eq(int,
			     eddyi_router_add(router, EDDYI_METHOD_GET, eddy_str_from(pattern),
					      router, &reason),
			     0));
	}
	for (size_t length = 1; length <= 100000; length = length * 3 + 1) {
		for (size_t i = 0; i < length; i++)
			memcpy(hostile + 2 * i, "/a", 2);
		hostile[2 * length] = 0;
		find(EDDYI_METHOD_GET, hostile, &match);
		cr_expect(match.route == NULL);
		cr_expect(le(sz, match.nodes_visited, nodes), "%zu segments", length);
	}
	free(hostile);
}

/* A hit costs the same among ten routes and among a hundred thousand. */
Test(router, cost_does_not_grow)
{
	struct eddyi_router_match match;
	const char *reason;
	char pattern[64];

	for (int i = 0; i < 100000; i++) {
		snprintf(pattern, sizeof(pattern), "/group%d/item%d/{id}", i % 10, i);
		cr_assert(eq(int,
			     eddyi_router_add(router, EDDYI_METHOD_GET, eddy_str_from(pattern),
					      (void *)(intptr_t)(i + 1), &reason),
			     0));
	}
	for (int i = 0; i < 100000; i += 777) {
		snprintf(pattern, sizeof(pattern), "/group%d/item%d/7", i % 10, i);
		find(EDDYI_METHOD_GET, pattern, &match);
		cr_assert(match.route != NULL);
		cr_expect(eq(int, (int)(intptr_t)match.route->value, i + 1));
		cr_expect(eq(sz, match.nodes_visited, 4));
		cr_expect(eddy_str_eq_z(match.params[0], "7"));
	}
}
