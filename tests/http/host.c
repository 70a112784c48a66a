/* Tests of http/src/text/host.h. */
#include "text/host.h"

#include "vectors.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* The host as "kind name port", or "EINVAL". The text is given without a NUL behind it. */
static const char *parse(struct eddy_str text)
{
	static const char *const kinds[] = { "name", "v4", "v6" };
	static char out[1024];
	char *exact = malloc(text.len ? text.len : 1);
	struct eddyi_host host;
	int len;

	if (text.len)
		memcpy(exact, text.ptr, text.len);
	if (eddyi_host_parse(eddy_str(exact, text.len), &host) < 0) {
		free(exact);
		return "EINVAL";
	}
	len = sprintf(out, "%s %.*s", kinds[host.kind], EDDY_FMT(host.name));
	if (host.has_port)
		sprintf(out + len, " %d", host.port);
	free(exact);
	return out;
}

Test(host, parses)
{
	/* clang-format off */
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "EINVAL" },
		{ "localhost", "name localhost" },
		{ "LocalHost:7878", "name LocalHost 7878" },
		{ "localhost:", "name localhost" },
		{ "localhost:0", "name localhost 0" },
		{ "localhost:65535", "name localhost 65535" },
		{ "localhost:65536", "EINVAL" },
		{ "localhost:99999999999999999999", "EINVAL" },
		{ "localhost:+80", "EINVAL" },
		{ "localhost:-1", "EINVAL" },
		{ "localhost:80x", "EINVAL" },
		{ "localhost:80 ", "EINVAL" },
		{ "localhost: 80", "EINVAL" },
		{ "localhost::80", "EINVAL" },
		{ "localhost:80:80", "EINVAL" },
		{ ":80", "EINVAL" },
		{ ":", "EINVAL" },
		{ " localhost", "EINVAL" },
		{ "local host", "EINVAL" },
		{ "a.b.example.org", "name a.b.example.org" },
		{ "example.org.", "name example.org." },
		{ "example.org.:1", "name example.org. 1" },
		{ ".", "EINVAL" },
		{ "..", "EINVAL" },
		{ "a..", "EINVAL" },
		{ "a..b", "EINVAL" },
		{ ".a", "EINVAL" },
		{ "foo_bar.example", "name foo_bar.example" },
		{ "_dmarc.x--y.-a-", "name _dmarc.x--y.-a-" },
		{ "xn--bcher-kva.example", "name xn--bcher-kva.example" },
		{ "b\xc3\xbc" "cher.example", "EINVAL" },
		{ "user@host", "EINVAL" },
		{ "user:pw@host", "EINVAL" },
		{ "@host", "EINVAL" },
		{ "host@", "EINVAL" },
		{ "host/", "EINVAL" },
		{ "host/path", "EINVAL" },
		{ "host:80/path", "EINVAL" },
		{ "host\\foo", "EINVAL" },
		{ "host?q", "EINVAL" },
		{ "host#f", "EINVAL" },
		{ "a,b", "EINVAL" },
		{ "a, b", "EINVAL" },
		{ "%6cocalhost", "EINVAL" },
		{ "a%2eb", "EINVAL" },
		{ "a*b", "EINVAL" },
		{ "a!b", "EINVAL" },
		{ "a;b", "EINVAL" },
		{ "a=b", "EINVAL" },
		{ "a~b", "EINVAL" },
		{ "127.0.0.1", "v4 127.0.0.1" },
		{ "127.0.0.1:80", "v4 127.0.0.1 80" },
		{ "255.255.255.255", "v4 255.255.255.255" },
		{ "127.0.0.1.", "EINVAL" },
		{ "127.0.0.256", "EINVAL" },
		{ "127.0.0.01", "EINVAL" },
		{ "127.01.0.1", "EINVAL" },
		{ "127.1", "EINVAL" },
		{ "127.0.1", "EINVAL" },
		{ "1.2.3.4.5", "EINVAL" },
		{ "2130706433", "EINVAL" },
		{ "017700000001", "EINVAL" },
		{ "0x7f.1", "EINVAL" },
		{ "0x7f000001", "EINVAL" },
		{ "127.0.0.0x1", "EINVAL" },
		{ "example.1a", "EINVAL" },
		{ "example.0", "EINVAL" },
		{ "1.example", "name 1.example" },
		{ "1a.b2", "name 1a.b2" },
		{ "[::1]", "v6 ::1" },
		{ "[::1]:8080", "v6 ::1 8080" },
		{ "[::1]:", "v6 ::1" },
		{ "[::]", "v6 ::" },
		{ "[4712::abcd:1]", "v6 4712::abcd:1" },
		{ "[::ffff:127.0.0.1]", "v6 ::ffff:127.0.0.1" },
		{ "[2001:DB8::1]", "v6 2001:DB8::1" },
		{ "[]", "EINVAL" },
		{ "[", "EINVAL" },
		{ "]", "EINVAL" },
		{ "[::1", "EINVAL" },
		{ "::1", "EINVAL" },
		{ "::1]", "EINVAL" },
		{ "[::1]x", "EINVAL" },
		{ "[::1]80", "EINVAL" },
		{ "[::1]]", "EINVAL" },
		{ "[[::1]]", "EINVAL" },
		{ "[::1%25eth0]", "EINVAL" },
		{ "[::1%eth0]", "EINVAL" },
		{ "[fe80::1%1]", "EINVAL" },
		{ "[v1.fe80]", "EINVAL" },
		{ "[127.0.0.1]", "EINVAL" },
		{ "[4712::abcd::]", "EINVAL" },
		{ "[1:2:3:4:5:6:7:8:9]", "EINVAL" },
		{ "[00000::1]", "EINVAL" },
		{ "[::1 ]", "EINVAL" },
		{ "[localhost]", "EINVAL" },
		{ "4713::abcd:8001", "EINVAL" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(parse(eddy_str_from(cases[i].text)), cases[i].want, "\"%s\"",
				 cases[i].text);
	cr_expect_str_eq(parse(EDDY_STR("a\0b")), "EINVAL");
	cr_expect_str_eq(parse(EDDY_STR("127.0.0.1\0")), "EINVAL");
	cr_expect_str_eq(parse(EDDY_STR("[::1\0]")), "EINVAL");
}

Test(host, every_byte)
{
	char text[3] = "aba";

	for (int c = 0; c < 256; c++) {
		bool allowed = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.",
				      c) &&
			       c;

		text[1] = (char)c;
		cr_expect(eq(int, strcmp(parse(eddy_str(text, 3)), "EINVAL") != 0, allowed), "%#x",
			  c);
	}
}

Test(host, lengths)
{
	char name[300];

	memset(name, 'a', sizeof(name));
	cr_expect_str_neq(parse(eddy_str(name, 63)), "EINVAL");
	cr_expect_str_eq(parse(eddy_str(name, 64)), "EINVAL");
	for (size_t i = 50; i < sizeof(name); i += 51)
		name[i] = '.';
	cr_expect_str_neq(parse(eddy_str(name, 254)), "EINVAL");
	cr_expect_str_eq(parse(eddy_str(name, 256)), "EINVAL");
}

Test(host, local_or_ip)
{
	static const struct {
		const char *text;
		bool want;
	} cases[] = {
		{ "localhost", true },
		{ "LOCALHOST:80", true },
		{ "localhost.", true },
		{ "a.localhost", true },
		{ "a.b.LocalHost.:1", true },
		{ "127.0.0.1", true },
		{ "192.0.2.7:1", true },
		{ "[::1]", true },
		{ "evil.example", false },
		{ "notlocalhost", false },
		{ "localhost.example", false },
		{ "x-localhost", false },
		{ "host", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct eddyi_host host;

		cr_assert(eq(int, eddyi_host_parse(eddy_str_from(cases[i].text), &host), 0));
		cr_expect(eq(int, eddyi_host_is_local_or_ip(&host), cases[i].want), "%s",
			  cases[i].text);
	}
}

/* What httpd says of Host fields in its strict mode. */
Test(host, vectors)
{
	json_t *root = vectors_load("http1/apache_http_strict.json"), *test;
	size_t i, seen = 0;

	json_array_foreach(json_object_get(root, "cases"), i, test)
	{
		const char *send = json_string_value(json_object_get(test, "send"));
		const char *strict = json_string_value(json_object_get(test, "strict"));
		const char *from = strstr(send, "\r\nHost: ");
		struct eddyi_host host;
		struct eddy_str value;

		/* Other reasons for a 400: two Hosts, another version. */
		if (!from || strncmp(send, "GET / HTTP/1.0\r\n", 16) ||
		    strstr(from + 1, "\r\nHost:"))
			continue;
		from += 8;
		value = eddy_str_trim(eddy_str(from, strcspn(from, "\r\n")));
		cr_expect(eq(int, eddyi_host_parse(value, &host) < 0, !strcmp(strict, "400")), "%s",
			  from);
		seen++;
	}
	cr_expect(gt(sz, seen, 10));
	json_decref(root);
}

/* The last one is remembered. */
Test(host, again_and_again)
{
	static const char *const texts[] = { "a.example:80", "a.example:81", "a.example",
					     "1.2.3.4:80",   "1.2.3.4:8",    "[::1]:80",
					     "[::1]",        "a.exampl" };
	static const char *const wants[] = {
		"name a.example 80", "name a.example 81", "name a.example", "v4 1.2.3.4 80",
		"v4 1.2.3.4 8",      "v6 ::1 80",         "v6 ::1",         "name a.exampl"
	};
	const size_t count = sizeof(texts) / sizeof(*texts);
	char longest[256];

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++) {
			cr_expect(
				eq(str, (char *)parse(eddy_str_from(texts[i])), (char *)wants[i]));
			cr_expect(
				eq(str, (char *)parse(eddy_str_from(texts[i])), (char *)wants[i]));
			cr_expect(eq(str, (char *)parse(eddy_str_from("a.example:x")), "EINVAL"));
			cr_expect(eq(str, (char *)parse(eddy_str_from("")), "EINVAL"));
			cr_expect(
				eq(str, (char *)parse(eddy_str_from(texts[k])), (char *)wants[k]));
		}
	for (int len = 60; len <= 68; len++) {
		memset(longest, 'a', sizeof(longest));
		longest[len - 10] = '.';
		cr_expect(eq(int, strncmp(parse(eddy_str(longest, len)), "name ", 5), 0));
		longest[len - 1] = '*';
		cr_expect(eq(str, (char *)parse(eddy_str(longest, len)), "EINVAL"));
		longest[len - 1] = 'b';
		cr_expect(eq(int, parse(eddy_str(longest, len))[4 + len], 'b'));
	}
}

/* Every text of up to seven of these letters behind "1.2". */
Test(host, takes_the_addresses_that_inet_pton_takes)
{
	static const char letters[] = ".0125";
	const size_t base = sizeof(letters) - 1;
	unsigned char address[4];
	char text[16];

	for (unsigned len = 0, count = 1; len <= 7; len++, count *= base) {
		for (unsigned i = 0; i < count; i++) {
			char *at = stpcpy(text, "1.2");
			bool taken;

			for (unsigned left = i, k = 0; k < len; k++, left /= base)
				*at++ = letters[left % base];
			*at = 0;
			taken = strncmp(parse(eddy_str_from(text)), "v4", 2) == 0;
			cr_assert(taken == (inet_pton(AF_INET, text, address) == 1), "%s", text);
		}
	}
}
