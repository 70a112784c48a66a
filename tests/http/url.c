/* Tests of http/src/text/url.h. */
#include "text/url.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>

Test(url, parses)
{
	static const struct {
		const char *text, *origin, *host, *target;
	} urls[] = {
		{ "http://example.org", "http://example.org:80", "example.org", "" },
		{ "HTTP://Example.ORG:80/A?b#c", "http://example.org:80", "example.org", "/A?b" },
		{ "https://example.org:80/", "https://example.org:80", "example.org:80", "/" },
		{ "https://example.org:443?", "https://example.org:443", "example.org", "?" },
		{ "http://[::1]:8080/x", "http://[::1]:8080", "[::1]:8080", "/x" },
		{ "http://127.0.0.1:1/%2F;a=b@c", "http://127.0.0.1:1", "127.0.0.1:1",
		  "/%2F;a=b@c" },
		{ "http://xn--bcher-kva.example/?a=/?:@", "http://xn--bcher-kva.example:80",
		  "xn--bcher-kva.example", "/?a=/?:@" },
	};

	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		struct eddyi_arena arena = { 0 };
		struct eddyi_url url;

		cr_assert(eddyi_url_parse(eddy_str_from(urls[i].text), &url) == 0, "%s",
			  urls[i].text);
		cr_expect_str_eq(eddyi_url_origin(&arena, &url).ptr, urls[i].origin);
		cr_expect_str_eq(eddyi_url_host_field(&arena, &url).ptr, urls[i].host);
		cr_expect(eddy_str_eq_z(url.target, urls[i].target), "%s", urls[i].text);
		eddyi_arena_deinit(&arena);
	}
}

Test(url, refuses)
{
	static const struct {
		const char *text;
		int r;
	} urls[] = {
		{ "", -EINVAL },
		{ "example.org", -EINVAL },
		{ "/path", -EINVAL },
		{ "//example.org/", -EINVAL },
		{ "http:", -EINVAL },
		{ "http:/example.org/", -EINVAL },
		{ "http://", -EINVAL },
		{ "http:///path", -EINVAL },
		{ "http://:80/", -EINVAL },
		{ "http://user@example.org/", -EINVAL },
		{ "http://user:word@example.org/", -EINVAL },
		{ "http://@example.org/", -EINVAL },
		{ "http://example.org:0/", -EINVAL },
		{ "http://example.org:65536/", -EINVAL },
		{ "http://example.org:+80/", -EINVAL },
		{ "http://example.org/a b", -EINVAL },
		{ "http://example.org/\r\nx: y", -EINVAL },
		{ "http://example.org/\x7f", -EINVAL },
		{ "http://example.org/\xc3\xbc", -EINVAL },
		{ "http://b\xc3\xbc"
		  "cher.example/",
		  -EINVAL },
		{ "http://example.org\\@evil.example/", -EINVAL },
		{ "http://example.org/%", -EINVAL },
		{ "http://example.org/%4", -EINVAL },
		{ "http://example.org/%zz", -EINVAL },
		{ "http://example.org/?%g0", -EINVAL },
		{ "http://example.org/#%g0", -EINVAL },
		{ "http://example.org/#a#b", -EINVAL },
		{ "http://example.org/[x]", -EINVAL },
		{ "http://[::1", -EINVAL },
		{ "http://[fe80::1%25eth0]/", -EINVAL },
		{ "http://127.1/", -EINVAL },
		{ "http://0x7f.0.0.1/", -EINVAL },
		{ " http://example.org/", -EINVAL },
		{ "1http://example.org/", -EINVAL },
		{ "ftp://example.org/", -EPROTONOSUPPORT },
		{ "file:///etc/passwd", -EPROTONOSUPPORT },
		{ "httpss://example.org/", -EPROTONOSUPPORT },
		{ "javascript:alert(1)", -EPROTONOSUPPORT },
	};
	struct eddyi_url url;
	char text[EDDYI_URL_MAX + 2];

	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++)
		cr_expect(eddyi_url_parse(eddy_str_from(urls[i].text), &url) == urls[i].r, "%s",
			  urls[i].text);
	cr_expect(eddyi_url_parse(EDDY_STR("http://a\0b/"), &url) == -EINVAL);
	cr_expect(eddyi_url_parse(EDDY_STR("http://a/\0"), &url) == -EINVAL);
	memset(text, 'a', sizeof(text));
	memcpy(text, "http://a/", 9);
	cr_expect(eddyi_url_parse(eddy_str(text, EDDYI_URL_MAX), &url) == 0);
	cr_expect(eddyi_url_parse(eddy_str(text, EDDYI_URL_MAX + 1), &url) == -EINVAL);
}

/* RFC 3986 section 5.4, but for what has another scheme. */
Test(url, resolves)
{
	static const struct {
		const char *reference, *result;
	} pairs[] = {
		{ "g", "http://a/b/c/g" },
		{ "./g", "http://a/b/c/g" },
		{ "g/", "http://a/b/c/g/" },
		{ "/g", "http://a/g" },
		{ "//g", "http://g" },
		{ "?y", "http://a/b/c/d;p?y" },
		{ "g?y", "http://a/b/c/g?y" },
		{ "#s", "http://a/b/c/d;p?q" },
		{ "g#s", "http://a/b/c/g" },
		{ "g?y#s", "http://a/b/c/g?y" },
		{ ";x", "http://a/b/c/;x" },
		{ "g;x?y#s", "http://a/b/c/g;x?y" },
		{ "", "http://a/b/c/d;p?q" },
		{ ".", "http://a/b/c/" },
		{ "./", "http://a/b/c/" },
		{ "..", "http://a/b/" },
		{ "../", "http://a/b/" },
		{ "../g", "http://a/b/g" },
		{ "../..", "http://a/" },
		{ "../../g", "http://a/g" },
		{ "../../../g", "http://a/g" },
		{ "../../../../g", "http://a/g" },
		{ "/./g", "http://a/g" },
		{ "/../g", "http://a/g" },
		{ "g.", "http://a/b/c/g." },
		{ ".g", "http://a/b/c/.g" },
		{ "g..", "http://a/b/c/g.." },
		{ "..g", "http://a/b/c/..g" },
		{ "./../g", "http://a/b/g" },
		{ "./g/.", "http://a/b/c/g/" },
		{ "g/./h", "http://a/b/c/g/h" },
		{ "g/../h", "http://a/b/c/h" },
		{ "g;x=1/../y", "http://a/b/c/y" },
		{ "g?y/../x", "http://a/b/c/g?y/../x" },
		{ "https://b:1/../x?#", "https://b:1/x?" },
		{ "%2e%2E/g", "http://a/b/g" },
		{ "//[::1]:8/x", "http://[::1]:8/x" },
	};
	struct eddyi_url base, url;

	cr_assert(eddyi_url_parse(eddy_str_from("http://a/b/c/d;p?q#f"), &base) == 0);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct eddyi_arena arena = { 0 };
		struct eddy_str text;

		cr_assert(eddyi_url_resolve(&arena, &base, eddy_str_from(pairs[i].reference), &url,
					    &text) == 0,
			  "%s", pairs[i].reference);
		cr_expect(eddy_str_eq_z(text, pairs[i].result), "%s: %.*s", pairs[i].reference,
			  EDDY_FMT(text));
		eddyi_arena_deinit(&arena);
	}
}

Test(url, refuses_references)
{
	static const struct {
		const char *reference;
		int r;
	} references[] = {
		{ "http:g", -EINVAL },
		{ "//user@g/", -EINVAL },
		{ "//", -EINVAL },
		{ "g h", -EINVAL },
		{ "g:h", -EPROTONOSUPPORT },
		{ "\\\\g/", -EINVAL },
		{ "data:,x", -EPROTONOSUPPORT },
	};
	struct eddyi_arena arena = { 0 };
	struct eddyi_url base, url;
	struct eddy_str text;

	cr_assert(eddyi_url_parse(eddy_str_from("http://a"), &base) == 0);
	for (size_t i = 0; i < sizeof(references) / sizeof(*references); i++)
		cr_expect(eddyi_url_resolve(&arena, &base, eddy_str_from(references[i].reference),
					    &url, &text) == references[i].r,
			  "%s", references[i].reference);
	/* What is relative to no path begins at the root. */
	cr_assert(eddyi_url_resolve(&arena, &base, eddy_str_from("x"), &url, &text) == 0);
	cr_expect(eddy_str_eq_z(text, "http://a/x"));
	eddyi_arena_deinit(&arena);
}

Test(url, knows_origins)
{
	struct eddyi_url a, b;

	cr_assert(eddyi_url_parse(eddy_str_from("http://a.example/x"), &a) == 0);
	cr_assert(eddyi_url_parse(eddy_str_from("http://A.example:80/y"), &b) == 0);
	cr_expect(eddyi_url_is_same_origin(&a, &b));
	cr_assert(eddyi_url_parse(eddy_str_from("https://a.example:80/x"), &b) == 0);
	cr_expect(not(eddyi_url_is_same_origin(&a, &b)));
	cr_assert(eddyi_url_parse(eddy_str_from("http://a.example:81/x"), &b) == 0);
	cr_expect(not(eddyi_url_is_same_origin(&a, &b)));
	cr_assert(eddyi_url_parse(eddy_str_from("http://b.example/x"), &b) == 0);
	cr_expect(not(eddyi_url_is_same_origin(&a, &b)));
}
