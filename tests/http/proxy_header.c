/* Tests of http/src/message/proxy_header.h. */
#include "message/proxy_header.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX ((size_t)(4 * EDDY_KIB))

/* Bytes with a NUL among them. */
#define B(bytes) eddy_str(bytes, sizeof(bytes) - 1)

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define IP4 "\xc0\0\2\7\xc0\0\2\1\xdc\4\1\xbb"
#define IP6 "\x20\1\r\xb8\0\0\0\0\0\0\0\0\0\0\0\7\x20\1\r\xb8\0\0\0\0\0\0\0\0\0\0\0\1\xdc\4\1\xbb"
#define BY_TLS "\x20\0\5\1\0\0\0\0"
#define NOT_BY_TLS "\x20\0\5\6\0\0\0\0"

/* They stand alone, so that nobody reads behind them unseen. */
static ssize_t parse(struct eddy_str text, size_t max, struct eddyi_proxied *proxied)
{
	char *exact = malloc(text.len + !text.len);
	ssize_t r = eddyi_proxy_header_parse(eddy_str(memcpy(exact, text.ptr, text.len), text.len),
					     max, proxied);

	free(exact);
	return r;
}

/* "CLIENT", and behind it a sign for "by TLS" or "not so". */
static const char *describe(const struct eddyi_proxied *proxied)
{
	static const char *const kinds[] = { "local", "unknown", NULL, "unix" };
	static const char *const signs[] = { "", " -", " +" };
	static char text[EDDY_SOCKADDR_TEXT_MAX + 8];
	char client[EDDY_SOCKADDR_TEXT_MAX];
	struct eddy_sockaddr addr;

	if (proxied->kind == EDDYI_PROXIED_IP) {
		eddyi_ip_to_sockaddr(&proxied->ip, proxied->port, &addr);
		eddy_sockaddr_format(&addr.addr.any, addr.len, client);
	} else {
		snprintf(client, sizeof(client), "%s", kinds[proxied->kind]);
	}
	snprintf(text, sizeof(text), "%s%s", client, signs[proxied->tls]);
	return text;
}

/* It is whole with its last byte, and what is behind it does not count. */
static void expect_header(struct eddy_str header, const char *means)
{
	char *more = malloc(header.len + 1);
	struct eddyi_proxied proxied;

	for (size_t len = 0; len < header.len; len++)
		cr_expect(eq(long, parse(eddy_str(header.ptr, len), MAX, &proxied), 0),
			  "%zu bytes for %s", len, means);
	cr_expect(eq(long, parse(header, MAX, &proxied), (ssize_t)header.len), "for %s", means);
	cr_expect(eq(str, (char *)describe(&proxied), (char *)means));
	memcpy(more, header.ptr, header.len);
	more[header.len] = '\n';
	cr_expect(eq(long, parse(eddy_str(more, header.len + 1), MAX, &proxied),
		     (ssize_t)header.len));
	free(more);
}

/* It is refused with this byte, and not before. */
static void expect_refused(struct eddy_str text, ssize_t error)
{
	struct eddyi_proxied proxied;

	for (size_t len = 0; len < text.len; len++)
		cr_expect(eq(long, parse(eddy_str(text.ptr, len), MAX, &proxied), 0),
			  "%zu of %zu bytes", len, text.len);
	cr_expect(eq(long, parse(text, MAX, &proxied), error), "%zu bytes: %.*s", text.len,
		  EDDY_FMT(text));
}

/* ---- version 1 ---- */

Test(proxy_header, lines)
{
	static const char *const good[][2] = {
		{ "PROXY TCP4 192.0.2.7 192.0.2.1 56324 443\r\n", "192.0.2.7:56324" },
		{ "PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n",
		  "255.255.255.255:65535" },
		{ "PROXY TCP4 0.0.0.0 0.0.0.0 0 0\r\n", "0.0.0.0:0" },
		{ "PROXY TCP6 2001:db8::7 2001:db8::1 56324 443\r\n", "[2001:db8::7]:56324" },
		{ "PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
		  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
		  "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535" },
		{ "PROXY TCP6 ::ffff:192.0.2.7 ::1 1 2\r\n", "192.0.2.7:1" },
		{ "PROXY UNKNOWN\r\n", "unknown" },
		{ "PROXY UNKNOWN 2001:db8::7 2001:db8::1 56324 443\r\n", "unknown" },
		{ "PROXY UNKNOWN \n what\rever\r\n", "unknown" },
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		expect_header(eddy_str_from(good[i][0]), good[i][1]);
}

Test(proxy_header, lines_that_are_none)
{
	static const char *const bad[] = {
		"PROXY \r\n",
		"PROXY TCP4\r\n",
		"PROXY TCP5 192.0.2.7 192.0.2.1 56324 443\r\n",
		"PROXY tcp4 192.0.2.7 192.0.2.1 56324 443\r\n",
		"PROXY UNKNOWNS\r\n",
		"PROXY TCP4 192.0.2.7 192.0.2.1 56324\r\n",
		"PROXY TCP4 192.0.2.7 192.0.2.1 56324 443 1\r\n",
		"PROXY TCP4 192.0.2.7 192.0.2.1 56324 443 \r\n",
		"PROXY TCP4  192.0.2.7 192.0.2.1 56324 443\r\n",
		"PROXY TCP4 192.0.2.7\t192.0.2.1 56324 443\r\n",
		"PROXY TCP4 192.0.2.07 192.0.2.1 56324 443\r\n",
		"PROXY TCP4 192.0.2 192.0.2.1 56324 443\r\n",
		"PROXY TCP4 192.0.2.7 192.0.2.256 56324 443\r\n",
		"PROXY TCP4 2001:db8::7 2001:db8::1 56324 443\r\n",
		"PROXY TCP6 192.0.2.7 192.0.2.1 56324 443\r\n",
		"PROXY TCP6 2001:db8::7 192.0.2.1 56324 443\r\n",
		"PROXY TCP6 fe80::7%eth0 2001:db8::1 56324 443\r\n",
		"PROXY TCP6 [2001:db8::7] 2001:db8::1 56324 443\r\n",
		"PROXY TCP4 192.0.2.7 192.0.2.1 65536 443\r\n",
		"PROXY TCP4 192.0.2.7 192.0.2.1 056324 443\r\n",
		"PROXY TCP4 192.0.2.7 192.0.2.1 56324 +443\r\n",
		"PROXY TCP4 192.0.2.7 192.0.2.1 -1 443\r\n",
		"PROXY TCP4 192.0.2.7 192.0.2.1  443\r\n",
		"PROXY TCP4 192.0.2.7 192.0.2.1 56324 443\n\r\n",
		/* Somebody else's. */
		"PROXYS",
		"PROXY_",
		"p",
		"G",
		"\x16",
		"\n",
		"\r\r",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_refused(eddy_str_from(bad[i]), -EBADMSG);
	expect_refused(B("PROXY TCP4 192.0.2.7 192.0.2.1 56324 443\0\r\n"), -EBADMSG);
}

/* 107 bytes are enough for all that are meant. */
Test(proxy_header, lines_of_any_length)
{
	char line[200] = "PROXY UNKNOWN ";

	memset(line + 14, 'x', sizeof(line) - 14);
	memcpy(line + 105, "\r\n", 2);
	expect_header(eddy_str(line, 107), "unknown");
	memcpy(line + 105, "x\r\n", 3);
	expect_refused(eddy_str(line, 107), -EBADMSG);
}

/* ---- version 2 ---- */

#define V2(command, family, len) SIGNATURE command family len

Test(proxy_header, every_family)
{
	static const char local_path[108] = "/run/client", path[108] = "/run/server";
	char header[16 + 216 + sizeof(BY_TLS)] = V2("\x21", "\x31", "\0\xd8");

	expect_header(B(V2("\x21", "\x11", "\0\14") IP4), "192.0.2.7:56324");
	expect_header(B(V2("\x21", "\x21", "\0\44") IP6), "[2001:db8::7]:56324");
	memcpy(header + 16, local_path, 108);
	memcpy(header + 16 + 108, path, 108);
	expect_header(eddy_str(header, 16 + 216), "unix");
	header[15] = (char)0xe0;
	memcpy(header + 16 + 216, BY_TLS, 8);
	expect_header(eddy_str(header, 16 + 216 + 8), "unix +");
	/* Whoever is not named: by a family that says nothing, or by datagrams. */
	expect_header(B(V2("\x21", "\0", "\0\0")), "unknown");
	expect_header(B(V2("\x21", "\0", "\0\3") "xyz"), "unknown");
	expect_header(B(V2("\x21", "\x01", "\0\0")), "unknown");
	expect_header(B(V2("\x21", "\x10", "\0\14") IP4), "unknown");
	expect_header(B(V2("\x21", "\x12", "\0\14") IP4), "unknown");
	expect_header(B(V2("\x21", "\x22", "\0\0")), "unknown");
	expect_header(B(V2("\x21", "\x32", "\0\0")), "unknown");
}

Test(proxy_header, local_ones_say_nothing)
{
	expect_header(B(V2("\x20", "\0", "\0\0")), "local");
	expect_header(B(V2("\x20", "\x11", "\0\14") IP4), "local");
	expect_header(B(V2("\x20", "\x11", "\0\1") "x"), "local");
	expect_header(B(V2("\x20", "\x11", "\0\24") IP4 BY_TLS), "local");
}

Test(proxy_header, unknown_versions_and_families)
{
	expect_refused(B(SIGNATURE "\x11"), -EBADMSG);
	expect_refused(B(SIGNATURE "\x31"), -EBADMSG);
	expect_refused(B(SIGNATURE "\x01"), -EBADMSG);
	expect_refused(B(SIGNATURE "\x22"), -EBADMSG);
	expect_refused(B(SIGNATURE "\x2f"), -EBADMSG);
	expect_refused(B(SIGNATURE "\x21\x41"), -EBADMSG);
	expect_refused(B(SIGNATURE "\x21\xf1"), -EBADMSG);
	expect_refused(B(SIGNATURE "\x21\x13"), -EBADMSG);
	expect_refused(B(SIGNATURE "\x20\xff"), -EBADMSG);
	for (size_t i = 0; i < 12; i++) {
		char wrong[] = SIGNATURE;

		wrong[i] ^= 1;
		expect_refused(eddy_str(wrong, i + 1), -EBADMSG);
	}
}

Test(proxy_header, addresses_that_are_cut)
{
	char header[16 + 216] = V2("\x21", "\x31", "\0\xd7");

	expect_refused(B(V2("\x21", "\x11", "\0\0")), -EBADMSG);
	expect_refused(eddy_str(V2("\x21", "\x11", "\0\13") IP4, 16 + 11), -EBADMSG);
	expect_refused(eddy_str(V2("\x21", "\x21", "\0\43") IP6, 16 + 35), -EBADMSG);
	expect_refused(B(V2("\x21", "\x21", "\0\14") IP4), -EBADMSG);
	expect_refused(eddy_str(header, 16 + 215), -EBADMSG);
}

Test(proxy_header, extensions)
{
	expect_header(B(V2("\x21", "\x11", "\0\17") IP4 "\4\0\0"), "192.0.2.7:56324");
	expect_header(B(V2("\x21", "\x11", "\0\24") IP4 BY_TLS), "192.0.2.7:56324 +");
	expect_header(B(V2("\x21", "\x11", "\0\24") IP4 NOT_BY_TLS), "192.0.2.7:56324 -");
	/* Ones of its own in it, others in front and behind. */
	expect_header(B(V2("\x21", "\x11", "\0\41") IP4
			"\1\0\2h2\x20\0\10\1\0\0\0\0!\0\0\xea\0\2zz"),
		      "192.0.2.7:56324 +");
	/* What ends elsewhere than it says, or is there twice. */
	expect_refused(B(V2("\x21", "\x11", "\0\15") IP4 "\4"), -EBADMSG);
	expect_refused(B(V2("\x21", "\x11", "\0\16") IP4 "\4\0"), -EBADMSG);
	expect_refused(B(V2("\x21", "\x11", "\0\17") IP4 "\4\0\1"), -EBADMSG);
	expect_refused(B(V2("\x21", "\x11", "\0\20") IP4 "\4\xff\xff\0"), -EBADMSG);
	expect_refused(B(V2("\x21", "\x11", "\0\24") IP4 "\x20\0\6\1\0\0\0\0"), -EBADMSG);
	expect_refused(B(V2("\x21", "\x11", "\0\23") IP4 "\x20\0\4\1\0\0\0"), -EBADMSG);
	expect_refused(B(V2("\x21", "\x11", "\0\34") IP4 BY_TLS NOT_BY_TLS), -EBADMSG);
}

#define CHECKED "\3\0\4\xa2\xaa\x7a\xe9"

Test(proxy_header, checksums)
{
	struct eddyi_proxied proxied;
	const struct eddy_str good = B(V2("\x21", "\x11", "\0\23") IP4 CHECKED);
	char wrong[16 + 12 + 7];

	expect_header(good, "192.0.2.7:56324");
	for (size_t bit = 0; bit < 8 * sizeof(wrong); bit++) {
		memcpy(wrong, good.ptr, sizeof(wrong));
		wrong[bit / 8] ^= (char)(1 << bit % 8);
		/* Of the command, of what makes an address and of the extension's type: then nothing is checked. */
		if (bit == 96 || bit == 104 || bit == 108 || bit / 8 == 28)
			continue;
		cr_expect(le(long, parse(eddy_str(wrong, sizeof(wrong)), MAX, &proxied), 0),
			  "bit %zu", bit);
	}
	expect_refused(B(V2("\x21", "\x11", "\0\22") IP4 "\3\0\3\xa2\xaa\x7a"), -EBADMSG);
	expect_refused(B(V2("\x21", "\x11", "\0\32") IP4 CHECKED CHECKED), -EBADMSG);
}

Test(proxy_header, limit)
{
	const struct eddy_str header = B(V2("\x21", "\x11", "\0\24") IP4 BY_TLS);
	struct eddyi_proxied proxied;

	cr_expect(eq(long, parse(header, 36, &proxied), 36));
	/* As soon as it is known. */
	cr_expect(eq(long, parse(eddy_str(header.ptr, 15), 35, &proxied), 0));
	cr_expect(eq(long, parse(eddy_str(header.ptr, 16), 35, &proxied), -EMSGSIZE));
	expect_refused(B(V2("\x21", "\x11", "\xff\xff")), -EMSGSIZE);
	expect_refused(B(V2("\x20", "\0", "\xff\xff")), -EMSGSIZE);
}
