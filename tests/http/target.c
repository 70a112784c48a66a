/* Tests of http/src/message/target.h. */
#include "message/target.h"

#include "vectors.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#define GET EDDYI_METHOD_GET
#define OPTIONS EDDYI_METHOD_OPTIONS
#define CONNECT EDDYI_METHOD_CONNECT
#define OTHER EDDYI_METHOD_OTHER

/* The target as "form path[?query] [@authority]", or "EINVAL". */
static const char *parse(enum eddyi_method method, struct eddy_str text)
{
	static const char *const forms[] = { "origin", "absolute", "authority", "asterisk" };
	static char out[4096];
	char *exact = malloc(text.len ? text.len : 1);
	struct eddyi_target target;
	char *at = out;

	if (text.len)
		memcpy(exact, text.ptr, text.len);
	if (eddyi_target_parse(eddy_str(exact, text.len), method, &target) < 0) {
		free(exact);
		return "EINVAL";
	}
	at += sprintf(at, "%s %.*s", forms[target.form], EDDY_FMT(target.path));
	if (target.query.ptr)
		at += sprintf(at, "?%.*s", EDDY_FMT(target.query));
	if (target.authority.ptr)
		sprintf(at, " @%.*s", EDDY_FMT(target.authority));
	free(exact);
	return out;
}

Test(target, parses)
{
	/* clang-format off */
	static const struct {
		enum eddyi_method method;
		const char *text, *want;
	} cases[] = {
		{ GET, "", "EINVAL" },
		{ GET, "/", "origin /" },
		{ GET, "/a/b", "origin /a/b" },
		{ GET, "/?", "origin /?" },
		{ GET, "/?a=b", "origin /?a=b" },
		{ GET, "/?a?b", "origin /?a?b" },
		{ GET, "/a?/b", "origin /a?/b" },
		{ GET, "//host/path", "origin //host/path" },
		{ GET, "/a|b{c}\"<>^`[]", "origin /a|b{c}\"<>^`[]" },
		{ GET, "/?a=\\b", "origin /?a=\\b" },
		{ GET, "/a\\b", "EINVAL" },
		{ GET, "\\a", "EINVAL" },
		{ GET, "http://localhost/..\\a", "EINVAL" },
		{ GET, "/%zz", "origin /%zz" }, /* eddyi_path_split refuses it */
		{ GET, "/a#", "EINVAL" },
		{ GET, "/a?b#c", "EINVAL" },
		{ GET, "/a b", "EINVAL" },
		{ GET, "/a\tb", "EINVAL" },
		{ GET, "/a\x01", "EINVAL" },
		{ GET, "/a\x7f", "EINVAL" },
		{ GET, "/caf\xc3\xa9", "EINVAL" },
		{ GET, "/a\xff", "EINVAL" },
		{ GET, "*", "EINVAL" },
		{ OTHER, "*", "EINVAL" },
		{ OPTIONS, "*", "asterisk *" },
		{ OPTIONS, "*/", "EINVAL" },
		{ OPTIONS, "*?a", "EINVAL" },
		{ OPTIONS, "/", "origin /" },
		{ GET, "a", "EINVAL" },
		{ GET, "?a", "EINVAL" },
		{ GET, "localhost:80", "EINVAL" },
		{ GET, "localhost", "EINVAL" },
		{ GET, "http://localhost/", "absolute / @localhost" },
		{ GET, "HTTP://localhost/a?b", "absolute /a?b @localhost" },
		{ GET, "https://localhost:1/", "absolute / @localhost:1" },
		{ GET, "hTTps://localhost", "absolute / @localhost" },
		{ GET, "http://localhost", "absolute / @localhost" },
		{ GET, "http://localhost?q", "absolute /?q @localhost" },
		{ GET, "http://localhost?", "absolute /? @localhost" },
		{ GET, "http://localhost//x", "absolute //x @localhost" },
		{ GET, "http://[::1]:81/", "absolute / @[::1]:81" },
		{ GET, "http://foo_bar/", "absolute / @foo_bar" },
		{ GET, "http://a/b@c:d", "absolute /b@c:d @a" },
		{ OPTIONS, "http://localhost", "asterisk * @localhost" },
		{ OPTIONS, "http://localhost/", "absolute / @localhost" },
		{ OPTIONS, "http://localhost?a", "absolute /?a @localhost" },
		{ GET, "http://", "EINVAL" },
		{ GET, "http:///", "EINVAL" },
		{ GET, "http:///path", "EINVAL" },
		{ GET, "http://:80/", "EINVAL" },
		{ GET, "http:/localhost", "EINVAL" },
		{ GET, "http:localhost", "EINVAL" },
		{ GET, "http//localhost", "EINVAL" },
		{ GET, "http://u@localhost/", "EINVAL" },
		{ GET, "http://u:p@localhost/", "EINVAL" },
		{ GET, "http://a,b/", "EINVAL" },
		{ GET, "http://localhost:80x/", "EINVAL" },
		{ GET, "http://localhost:80:80/", "EINVAL" },
		{ GET, "http://localhost\\@evil/", "EINVAL" },
		{ GET, "http://localhost#@evil/", "EINVAL" },
		{ GET, "http://127.1/", "EINVAL" },
		{ GET, "http://%3127.0.0.1/", "EINVAL" },
		{ GET, "ftp://localhost/", "EINVAL" },
		{ GET, "ws://localhost/", "EINVAL" },
		{ GET, "javascript:alert(1)", "EINVAL" },
		{ GET, "httpss://localhost/", "EINVAL" },
		{ CONNECT, "example.com:443", "authority  @example.com:443" },
		{ CONNECT, "[::1]:443", "authority  @[::1]:443" },
		{ CONNECT, "example.com", "EINVAL" },
		{ CONNECT, "example.com:", "EINVAL" },
		{ CONNECT, "example.com:0", "EINVAL" },
		{ CONNECT, "example.com:443/", "EINVAL" },
		{ CONNECT, "u@example.com:443", "EINVAL" },
		{ CONNECT, "http://example.com:443", "EINVAL" },
		{ CONNECT, "/", "EINVAL" },
		{ CONNECT, "*", "EINVAL" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(parse(cases[i].method, eddy_str_from(cases[i].text)),
				 cases[i].want, "\"%s\"", cases[i].text);
	cr_expect_str_eq(parse(GET, EDDY_STR("/\0")), "EINVAL");
}

/* What httpd says of targets in its strict mode. */
Test(target, vectors)
{
	json_t *root = vectors_load("http1/apache_http_strict.json"), *test;
	size_t i, seen = 0;

	json_array_foreach(json_object_get(root, "cases"), i, test)
	{
		const char *send = json_string_value(json_object_get(test, "send"));
		const char *strict = json_string_value(json_object_get(test, "strict"));
		struct eddyi_target target;
		struct eddy_str text;

		/* Other reasons for a 400 stand in the version or behind. */
		if (strncmp(send, "GET ", 4) || !strncmp(send + 4, "/ ", 2) ||
		    !strstr(send, " HTTP/1.0\r\n"))
			continue;
		text = eddy_str(send + 4, strcspn(send + 4, " "));
		cr_expect(eq(int, eddyi_target_parse(text, EDDYI_METHOD_GET, &target) < 0,
			     !strcmp(strict, "400")),
			  "%s", send);
		seen++;
	}
	cr_expect(gt(sz, seen, 20));
	json_decref(root);
}
