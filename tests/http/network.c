/* Tests of http/src/text/network.h. */
#include "text/network.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>

static bool has(const char *network, const char *ip)
{
	struct eddyi_network parsed;
	struct eddyi_ip address;

	cr_assert(eq(int, eddyi_network_parse(eddy_str_from(network), &parsed), 0), "%s", network);
	cr_assert(eq(int, eddyi_ip_parse(eddy_str_from(ip), &address), 0), "%s", ip);
	return eddyi_network_has(&parsed, &address);
}

Test(network, what_is_inside)
{
	static const char *const inside[][2] = {
		{ "10.0.0.0/8", "10.0.0.0" },
		{ "10.0.0.0/8", "10.255.255.255" },
		{ "192.0.2.7", "192.0.2.7" },
		{ "192.0.2.4/30", "192.0.2.7" },
		{ "192.0.2.6/31", "192.0.2.7" },
		{ "0.0.0.0/0", "255.255.255.255" },
		{ "::/0", "192.0.2.7" },
		{ "::/0", "2001:db8::1" },
		{ "2001:db8::/32", "2001:db8:ffff::1" },
		{ "2001:db8:8000::/33", "2001:db8:8000::1" },
		{ "::1", "::1" },
		{ "192.0.2.7", "::ffff:192.0.2.7" },
		{ "::ffff:192.0.2.0/120", "192.0.2.7" },
		{ "::ffff:192.0.2.7", "192.0.2.7" },
	};
	static const char *const outside[][2] = {
		{ "10.0.0.0/8", "11.0.0.0" },
		{ "10.0.0.0/8", "9.255.255.255" },
		{ "192.0.2.7", "192.0.2.6" },
		{ "192.0.2.4/30", "192.0.2.8" },
		{ "192.0.2.6/31", "192.0.2.5" },
		{ "0.0.0.0/0", "::1" },
		{ "0.0.0.0/0", "2001:db8::1" },
		{ "2001:db8::/32", "2001:db9::1" },
		{ "2001:db8:8000::/33", "2001:db8::1" },
		{ "::1", "127.0.0.1" },
		{ "::1", "::2" },
	};

	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
		cr_expect(has(inside[i][0], inside[i][1]), "%s has %s", inside[i][0], inside[i][1]);
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		cr_expect(not(has(outside[i][0], outside[i][1])), "%s has not %s", outside[i][0],
			  outside[i][1]);
}

Test(network, what_is_refused)
{
	static const char *const bad[] = {
		"",
		"/",
		"/8",
		"10.0.0.0/",
		"10.0.0.0/33",
		"10.0.0.0/x",
		"10.0.0.0/-1",
		"10.0.0.0/8/8",
		"10.0.0.1/8",
		"10.0.0/8",
		"10.0.0.0 ",
		" 10.0.0.0",
		"10.0.0.0/08 ",
		"::/129",
		"::1/127",
		"[::1]",
		"::1%lo",
		"localhost",
		"10.0.0.00",
		"010.0.0.1",
		"10.0.0.0:80",
		"unix:/x",
		"2001:db8::1/64",
		"1.2.3.4.5",
		":::",
	};
	struct eddyi_network network;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(eq(int, eddyi_network_parse(eddy_str_from(bad[i]), &network), -EINVAL),
			  "\"%s\"", bad[i]);
	cr_expect(eq(int, eddyi_network_parse(EDDY_STR("10.0.0.0\0"), &network), -EINVAL));
}

Test(network, trust)
{
	static const char *const names[] = { "10.0.0.0/8", "unix", "2001:db8::/32" };
	struct eddyi_arena arena = { 0 };
	struct eddyi_trust trust = { 0 };
	struct eddyi_ip ip;

	for (size_t i = 0; i < 3; i++) {
		cr_expect(eq(int, trust.unix_sockets, i > 1));
		cr_assert(eq(int, eddyi_trust_add(&trust, &arena, eddy_str_from(names[i])), 0));
	}
	cr_expect(eq(int, eddyi_trust_add(&trust, &arena, eddy_str_from("unix:")), -EINVAL));
	cr_expect(eq(sz, trust.count, 2));
	eddyi_ip_parse(eddy_str_from("10.1.2.3"), &ip);
	cr_expect(eddyi_trust_has(&trust, &ip));
	eddyi_ip_parse(eddy_str_from("2001:db8::7"), &ip);
	cr_expect(eddyi_trust_has(&trust, &ip));
	eddyi_ip_parse(eddy_str_from("11.1.2.3"), &ip);
	cr_expect(not(eddyi_trust_has(&trust, &ip)));
	eddyi_arena_deinit(&arena);
}

Test(network, sockaddrs)
{
	static const char *const addresses[][2] = {
		{ "192.0.2.7", "192.0.2.7:80" },
		{ "::ffff:192.0.2.7", "192.0.2.7:80" },
		{ "2001:db8::7", "[2001:db8::7]:80" },
	};
	struct eddy_sockaddr addr = { .addr.any.sa_family = AF_UNIX, .len = 2 };
	struct eddyi_ip ip, again;
	uint16_t port;

	cr_expect(not(eddyi_ip_from_sockaddr(&addr, &ip, &port)));
	for (size_t i = 0; i < 3; i++) {
		char text[EDDY_SOCKADDR_TEXT_MAX];

		cr_assert(eq(int, eddyi_ip_parse(eddy_str_from(addresses[i][0]), &ip), 0));
		eddyi_ip_to_sockaddr(&ip, 80, &addr);
		eddy_sockaddr_format(&addr.addr.any, addr.len, text);
		cr_expect(eq(str, text, (char *)addresses[i][1]));
		cr_expect(eddyi_ip_from_sockaddr(&addr, &again, &port));
		cr_expect(eq(u16, port, 80));
		cr_expect_arr_eq(ip.bytes, again.bytes, sizeof(ip.bytes));
	}
}
