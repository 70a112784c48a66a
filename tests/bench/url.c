#include "url.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char error[URL_ERROR_SIZE];

static struct url parsed(const char *text)
{
	struct url url = { 0 };

	cr_assert_eq(url_parse(text, &url, error), 0, "%s: %s", text, error);
	return url;
}

Test(url, of_tcp)
{
	struct url url = parsed("http://example.com:8080/a/b?c=d");

	cr_expect_str_eq(url.name, "example.com:8080");
	cr_expect_str_eq(url.text, "http://example.com:8080/a/b?c=d");
	cr_expect_str_eq(url.dial, "example.com:8080");
	cr_expect_str_eq(url.host, "example.com:8080");
	cr_expect_str_eq(url.path, "/a/b?c=d");
	url_deinit(&url);
	url_deinit(&url);
}

Test(url, has_defaults)
{
	struct url url = parsed("http://[::1]");

	cr_expect_str_eq(url.dial, "[::1]:80");
	cr_expect_str_eq(url.host, "[::1]");
	cr_expect_str_eq(url.path, "/");
	url_deinit(&url);
	url = parsed("http://[::1]:81/");
	cr_expect_str_eq(url.dial, "[::1]:81");
	url_deinit(&url);
}

Test(url, of_tls)
{
	struct url url = parsed("a=https://[::1]/x");

	cr_expect(url.https);
	cr_expect_str_eq(url.dial, "[::1]:443");
	cr_expect_str_eq(url.host, "[::1]");
	cr_expect_str_eq(url.text, "https://[::1]/x");
	url_deinit(&url);
	url = parsed("https://localhost:8443");
	cr_expect_str_eq(url.dial, "localhost:8443");
	cr_expect_str_eq(url.host, "localhost:8443");
	url_deinit(&url);
	url = parsed("http://localhost/");
	cr_expect_not(url.https);
	url_deinit(&url);
}

Test(url, has_a_name)
{
	struct url url = parsed("my server=http://localhost/x?a=b");

	cr_expect_str_eq(url.name, "my server");
	cr_expect_str_eq(url.text, "http://localhost/x?a=b");
	url_deinit(&url);
}

Test(url, of_a_unix_socket)
{
	struct url url = parsed("app=unix:/run/app.sock:/files/{size}");

	cr_expect_str_eq(url.name, "app");
	cr_expect_str_eq(url.dial, "unix:/run/app.sock");
	cr_expect_str_eq(url.host, "localhost");
	cr_expect_str_eq(url.path, "/files/{size}");
	url_deinit(&url);
	url = parsed("unix:@abstract:/");
	cr_expect_str_eq(url.dial, "unix:@abstract");
	cr_expect_str_eq(url.name, "unix:@abstract");
	url_deinit(&url);
}

Test(url, others_are_refused)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "not a URL" },
		{ "localhost:80/", "not a URL" },
		{ "ftp://localhost/", "not a URL" },
		{ "https://", "host" },
		{ "https://localhost:0/", "port 0" },
		{ "https:/localhost/", "not a URL" },
		{ "http://", "host" },
		{ "http:///path", "host" },
		{ "http://localhost:0/", "port 0" },
		{ "http://localhost:99999/", "port" },
		{ "http://localhost:/", "port" },
		{ "http://user@localhost/", "host" },
		{ "http://[::1/", "host" },
		{ "http://a b/", "host" },
		{ "http://localhost/a b", "%XX" },
		{ "http://localhost/a\r\nX: y", "%XX" },
		{ "http://localhost/\xc3\xa4", "%XX" },
		{ "http://localhost/#x", "fragment" },
		{ "http://localhost?x", "%XX" },
		{ "unix:/run/app.sock", "unix:SOCKET:/PATH" },
		{ "unix::/x", "host" },
		{ "http://unix/", "name unix" },
		{ "http://unix:80/", "name unix" },
		{ "http://unix:a\r\nb/", "name unix" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct url url;

		cr_expect_eq(url_parse(cases[i].text, &url, error), -EINVAL, "%s", cases[i].text);
		cr_expect(strstr(error, cases[i].why), "%s: %s", cases[i].text, error);
	}
}

Test(url, too_long_is_refused)
{
	char text[URL_MAX + 100];
	struct url url;

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	memcpy(text, "http://localhost/", 17);
	cr_expect_eq(url_parse(text, &url, error), -EINVAL);
}

Test(url, sizes_are_short)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = { { 0, "0" },       { 1000, "1000" },       { 1024, "1k" },
		      { 65536, "64k" }, { 1 << 20, "1m" },      { UINT64_C(5) << 30, "5g" },
		      { 1025, "1025" }, { 1536 << 10, "1536k" } };
	char text[24];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		url_size(cases[i].bytes, text);
		cr_expect_str_eq(text, cases[i].text);
	}
}

Test(url, is_filled_in)
{
	char text[16];

	cr_expect_eq(url_fill("/{n}/x{n}", "{n}", "12", text, sizeof(text)), 7);
	cr_expect_str_eq(text, "/12/x12");
	cr_expect_eq(url_fill("/{i}", "{n}", "12", text, sizeof(text)), 4);
	cr_expect_str_eq(text, "/{i}");
	cr_expect_eq(url_fill("/12345678901234", "{n}", "1", text, sizeof(text)), 15);
	cr_expect_eq(url_fill("/123456789012345", "{n}", "1", text, sizeof(text)), 0);
	cr_expect_eq(url_fill("/{n}{n}{n}{n}", "{n}", "1234", text, sizeof(text)), 0);
}
