/* Tests of http/src/message/forwarded.h. */
#include "message/forwarded.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

/* 10.0.0.0/8 and 2001:db8:1::/48 are proxies. */
static struct eddyi_arena arena;
static struct eddyi_trust trust;

static void init(void)
{
	eddyi_trust_add(&trust, &arena, eddy_str_from("10.0.0.0/8"));
	eddyi_trust_add(&trust, &arena, eddy_str_from("2001:db8:1::/48"));
}

static void fini(void)
{
	eddyi_arena_deinit(&arena);
}

TestSuite(forwarded, .init = init, .fini = fini);

/* "CLIENT PROTO HOST", where a client is "-" for none, "." for one that was not said, "?" for unknown. */
static const char *describe(const struct eddyi_forwarded *forwarded)
{
	static const char *const kinds[] = { "-", ".", "?" };
	static char text[300];
	char client[EDDY_SOCKADDR_TEXT_MAX];
	struct eddy_sockaddr addr;

	if (forwarded->client.kind == EDDYI_HOP_IP) {
		eddyi_ip_to_sockaddr(&forwarded->client.ip, forwarded->client.port, &addr);
		eddy_sockaddr_format(&addr.addr.any, addr.len, client);
	} else {
		snprintf(client, sizeof(client), "%s", kinds[forwarded->client.kind]);
	}
	snprintf(text, sizeof(text), "%s %.*s %.*s", client, EDDY_FMT(forwarded->proto),
		 EDDY_FMT(forwarded->host));
	return text;
}

struct example {
	const char *value, *means;
};

static void expect_all(const struct example *examples, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct eddyi_forwarded forwarded;

		cr_assert(eq(int,
			     eddyi_forwarded_parse(&arena, eddy_str_from(examples[i].value), &trust,
						   &forwarded),
			     0));
		cr_expect_str_eq(describe(&forwarded), examples[i].means, "%s is %s, not %s",
				 examples[i].value, describe(&forwarded), examples[i].means);
	}
}

#define EXPECT_ALL(...)                                                                            \
	expect_all((const struct example[]){ __VA_ARGS__ },                                        \
		   sizeof((const struct example[]){ __VA_ARGS__ }) / sizeof(struct example))

Test(forwarded, forms)
{
	EXPECT_ALL({ "for=192.0.2.7", "192.0.2.7:0  " }, { "For=192.0.2.7", "192.0.2.7:0  " },
		   { "FOR=\"192.0.2.7:4711\"", "192.0.2.7:4711  " },
		   { "for=\"[2001:db8::7]\"", "[2001:db8::7]:0  " },
		   { "for=\"[2001:db8::7]:4711\"", "[2001:db8::7]:4711  " },
		   { "for=\"192.0.2.7:_port\"", "192.0.2.7:0  " },
		   { "for=\"\\1\\9\\2.0.2.7\"", "192.0.2.7:0  " },
		   { "for=\"[::ffff:192.0.2.7]\"", "192.0.2.7:0  " },
		   { "for=192.0.2.7;proto=https", "192.0.2.7:0 https " },
		   { "proto=HTTPS;for=192.0.2.7", "192.0.2.7:0 https " },
		   { "for=192.0.2.7;proto=http;by=10.0.0.1;host=example.org",
		     "192.0.2.7:0 http example.org" },
		   { "for=192.0.2.7;host=\"example.org:8443\"", "192.0.2.7:0  example.org:8443" },
		   { "for=192.0.2.7;ext=\"a,b;c\"", "192.0.2.7:0  " },
		   { " for=192.0.2.7 ; proto=https ", "192.0.2.7:0 https " },
		   { ";for=192.0.2.7;;", "192.0.2.7:0  " },
		   { ", ,for=192.0.2.7, ", "192.0.2.7:0  " }, { "", "-  " }, { " , ", "-  " });
}

Test(forwarded, the_last_who_is_no_proxy)
{
	EXPECT_ALL({ "for=1.1.1.1, for=192.0.2.7", "192.0.2.7:0  " },
		   { "for=1.1.1.1, for=192.0.2.7, for=10.0.0.1", "192.0.2.7:0  " },
		   { "for=192.0.2.7,for=10.0.0.2,for=\"[2001:db8:1::2]\"", "192.0.2.7:0  " },
		   { "for=10.0.0.9, for=10.0.0.2", "10.0.0.9:0  " },
		   { "for=1.1.1.1, for=10.0.0.9, for=192.0.2.7, for=10.0.0.2", "192.0.2.7:0  " },
		   /* What goes with it is of the same element. */
		   { "for=1.1.1.1;proto=https;host=evil.example, for=192.0.2.7;proto=http",
		     "192.0.2.7:0 http " },
		   { "for=192.0.2.7;proto=https;host=example.org, for=10.0.0.1;proto=http",
		     "192.0.2.7:0 https example.org" },
		   { "for=1.1.1.1;proto=https, for=192.0.2.7", "192.0.2.7:0  " });
}

Test(forwarded, nobody_knows)
{
	EXPECT_ALL({ "for=unknown", "?  " }, { "for=_hidden", "?  " },
		   { "for=1.1.1.1, for=unknown", "?  " },
		   { "for=unknown, for=192.0.2.7", "192.0.2.7:0  " },
		   { "for=unknown, for=10.0.0.1", "?  " }, { "for=example.org", "?  " },
		   { "for=\"\"", "?  " }, { "for=\"127.1\"", "?  " },
		   { "for=\"192.0.2.7:x\"", "?  " }, { "for=\"192.0.2.7:65536\"", "?  " },
		   { "for=\"[192.0.2.7]\"", "?  " }, { "for=\"[2001:db8::7%1]\"", "?  " },
		   { "for=0x7f.1", "?  " },
		   /* Not said is not the same: but what stands before is a claim. */
		   { "proto=https", ". https " }, { "by=10.0.0.1", ".  " },
		   { "for=1.1.1.1, by=10.0.0.1", ".  " },
		   { "for=1.1.1.1, proto=https", ". https " });
}

Test(forwarded, malformed)
{
	static const char *const bad[] = {
		/* An open quote swallows what follows. */
		"for=\"1.1.1.1, for=192.0.2.7",
		"x=\", for=192.0.2.7",
		"for",
		"for=",
		"for =192.0.2.7",
		"for= 192.0.2.7",
		"=192.0.2.7",
		"for=192.0.2.7 proto=https",
		"for=1.1.1.1;for=192.0.2.7",
		"for=192.0.2.7;proto=http;proto=https",
		"for=192.0.2.7;host=a;host=b",
		"for=[2001:db8::7]",
		"for=192.0.2.7:80",
		"for=\"192.0.2.7\"x",
		"for=\"192.0.2.7\\",
		"for=192.0.2.7, \x01",
		"192.0.2.7",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct eddyi_forwarded forwarded;

		eddyi_forwarded_parse(&arena, eddy_str_from(bad[i]), &trust, &forwarded);
		cr_expect_str_eq(describe(&forwarded), "?  ", "%s is %s", bad[i],
				 describe(&forwarded));
	}
}

Test(forwarded, protocols_and_hosts_that_are_ignored)
{
	EXPECT_ALL({ "for=192.0.2.7;proto=ftp", "192.0.2.7:0  " },
		   { "for=192.0.2.7;proto=\"\"", "192.0.2.7:0  " },
		   { "for=192.0.2.7;proto=\"https \"", "192.0.2.7:0  " },
		   { "for=192.0.2.7;host=\"a/b\"", "192.0.2.7:0  " },
		   { "for=192.0.2.7;host=\"user@a\"", "192.0.2.7:0  " },
		   { "for=192.0.2.7;host=\"\"", "192.0.2.7:0  " },
		   { "for=192.0.2.7;host=\"a b\"", "192.0.2.7:0  " });
}

static const char *x(const char *hops, const char *proto, const char *host)
{
	struct eddyi_forwarded forwarded;

	eddyi_forwarded_parse_x(eddy_str_from(hops), eddy_str_from(proto), eddy_str_from(host),
				&trust, &forwarded);
	return describe(&forwarded);
}

Test(forwarded, x_forms)
{
	static const struct example examples[] = {
		{ "192.0.2.7", "192.0.2.7:0  " },
		{ " 192.0.2.7 ", "192.0.2.7:0  " },
		{ "192.0.2.7:4711", "192.0.2.7:4711  " },
		{ "2001:db8::7", "[2001:db8::7]:0  " },
		{ "[2001:db8::7]", "[2001:db8::7]:0  " },
		{ "[2001:db8::7]:4711", "[2001:db8::7]:4711  " },
		{ "::ffff:192.0.2.7", "192.0.2.7:0  " },
		{ "1.1.1.1,192.0.2.7", "192.0.2.7:0  " },
		{ "1.1.1.1, 192.0.2.7, 10.0.0.1", "192.0.2.7:0  " },
		{ "10.0.0.9, 10.0.0.1", "10.0.0.9:0  " },
		{ "192.0.2.7, , 10.0.0.1,", "192.0.2.7:0  " },
		{ "nonsense, 192.0.2.7", "192.0.2.7:0  " },
		{ "nonsense, 10.0.0.1", "?  " },
		{ "1.1.1.1, nonsense", "?  " },
		{ "unknown", "?  " },
		{ "\"192.0.2.7\"", "?  " },
		{ "192.0.2.7 10.0.0.1", "?  " },
		{ "127.1", "?  " },
		{ "localhost", "?  " },
		{ "", "-  " },
		{ NULL, "-  " },
	};

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		cr_expect_str_eq(x(examples[i].value, NULL, NULL), examples[i].means, "%s",
				 examples[i].value);
	cr_expect_str_eq(x("192.0.2.7", "https", "example.org:8443"),
			 "192.0.2.7:0 https example.org:8443");
	cr_expect_str_eq(x("192.0.2.7", "HTTPS", "[::1]"), "192.0.2.7:0 https [::1]");
	/* Of several the nearest proxy's. */
	cr_expect_str_eq(x("192.0.2.7", "https, http", "evil.example, example.org"),
			 "192.0.2.7:0 http example.org");
	cr_expect_str_eq(x("192.0.2.7", "https,", "example.org, a/b"), "192.0.2.7:0  ");
	cr_expect_str_eq(x(NULL, "https", NULL), "- https ");
}
