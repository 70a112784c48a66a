/* Tests of http/src/tls/hello.h. */
#include "tls/hello.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdlib.h>

#define HELLO_FIXED (2 + 32 + 1 + 2 + 2 + 2)

struct bytes {
	unsigned char at[4096];
	size_t len;
};

static void put(struct bytes *bytes, size_t number, size_t len)
{
	while (len--)
		bytes->at[bytes->len++] = (unsigned char)(number >> 8 * len);
}

static void put_text(struct bytes *bytes, const char *text)
{
	memcpy(bytes->at + bytes->len, text, strlen(text));
	bytes->len += strlen(text);
}

/* A message that asks for a name, behind an extension of no concern. */
static void put_message(struct bytes *bytes, const char *name)
{
	size_t len = strlen(name);
	size_t extensions = 4 + 3 + 4 + 2 + 3 + len;

	put(bytes, 1, 1);
	put(bytes, HELLO_FIXED + 2 + extensions, 3);
	put(bytes, 0x0303, 2);
	for (int i = 0; i < 32; i++)
		put(bytes, 0, 1);
	put(bytes, 0, 1);
	put(bytes, 2, 2);
	put(bytes, 0x1301, 2);
	put(bytes, 0x0100, 2);
	put(bytes, extensions, 2);
	put(bytes, 0xfafa, 2);
	put(bytes, 3, 2);
	put(bytes, 0, 3);
	put(bytes, 0, 2);
	put(bytes, len + 5, 2);
	put(bytes, len + 3, 2);
	put(bytes, 0, 1);
	put(bytes, len, 2);
	put_text(bytes, name);
}

/* The same in records of `size` bytes. */
static struct bytes hello(const char *name, size_t size)
{
	struct bytes message = { .len = 0 }, records = { .len = 0 };

	put_message(&message, name);
	for (size_t at = 0; at < message.len; at += size) {
		size_t here = message.len - at < size ? message.len - at : size;

		put(&records, 0x160301, 3);
		put(&records, here, 2);
		memcpy(records.at + records.len, message.at + at, here);
		records.len += here;
	}
	return records;
}

/* From memory that ends where the bytes do. */
static int parse(const unsigned char *bytes, size_t len, struct eddyi_hello *ret_hello)
{
	char *exact = malloc(len ? len : 1);
	int r;

	memcpy(exact, bytes, len);
	r = eddyi_hello_parse(eddy_str(exact, len), ret_hello);
	free(exact);
	return r;
}

static const char *name_of(const char *name, size_t size)
{
	static struct eddyi_hello found;
	struct bytes records = hello(name, size);
	int r = parse(records.at, records.len, &found);

	return r == 0 ? found.server_name : strerror(-r);
}

Test(hello, names)
{
	char longest[256] = { 0 }, too_long[257] = { 0 };

	memset(longest, 'a', 255);
	memset(too_long, 'a', 256);
	cr_expect(eq(str, (char *)name_of("example.org", 4000), "example.org"));
	cr_expect(eq(str, (char *)name_of("EXAMPLE.Org", 4000), "example.org"));
	cr_expect(eq(str, (char *)name_of("xn--a_b-9.example", 4000), "xn--a_b-9.example"));
	cr_expect(eq(str, (char *)name_of("", 4000), ""));
	cr_expect(eq(str, (char *)name_of("a b", 4000), ""));
	cr_expect(eq(str, (char *)name_of("a/../b", 4000), ""));
	cr_expect(eq(str, (char *)name_of(longest, 4000), longest));
	cr_expect(eq(str, (char *)name_of(too_long, 4000), ""));
}

/* Numbers of two bytes, behind their length in `size` bytes; 0 ends them. */
static void put_numbers(struct bytes *bytes, const unsigned *numbers, size_t size)
{
	size_t count = 0;

	while (numbers[count])
		count++;
	put(bytes, 2 * count, size);
	for (size_t i = 0; i < count; i++)
		put(bytes, numbers[i], 2);
}

static void put_extension(struct bytes *bytes, unsigned type, const unsigned *numbers, size_t size)
{
	struct bytes list = { .len = 0 };

	if (!numbers[0])
		return;
	put_numbers(&list, numbers, size);
	put(bytes, type, 2);
	put(bytes, list.len, 2);
	memcpy(bytes->at + bytes->len, list.at, list.len);
	bytes->len += list.len;
}

struct offer {
	unsigned suites[4], groups[4], schemes[8], versions[4], shares[4];
	const char *psk_modes;
	unsigned want;
};

/* A share for each group, of one byte. */
static void put_shares(struct bytes *bytes, const unsigned *groups)
{
	size_t count = 0;

	while (groups[count])
		count++;
	put(bytes, 51, 2);
	put(bytes, 2 + 5 * count, 2);
	put(bytes, 5 * count, 2);
	for (size_t i = 0; i < count; i++) {
		put(bytes, groups[i], 2);
		put(bytes, 0x000104, 3);
	}
}

static void put_psk_modes(struct bytes *bytes, const char *modes)
{
	put(bytes, 45, 2);
	put(bytes, 1 + strlen(modes), 2);
	put(bytes, strlen(modes), 1);
	for (; *modes; modes++)
		put(bytes, (size_t)*modes - '0', 1);
}

static struct bytes hello_with(const struct offer *offer)
{
	struct bytes extensions = { .len = 0 }, body = { .len = 0 }, record = { .len = 0 };

	put_extension(&extensions, 10, offer->groups, 2);
	put_extension(&extensions, 13, offer->schemes, 2);
	put_extension(&extensions, 43, offer->versions, 1);
	if (offer->shares[0])
		put_shares(&extensions, offer->shares);
	if (offer->psk_modes)
		put_psk_modes(&extensions, offer->psk_modes);
	put(&body, 0x0303, 2);
	for (int i = 0; i < 33; i++)
		put(&body, 0, 1);
	put_numbers(&body, offer->suites, 2);
	put(&body, 0x0100, 2);
	if (extensions.len) {
		put(&body, extensions.len, 2);
		memcpy(body.at + body.len, extensions.at, extensions.len);
		body.len += extensions.len;
	}
	put(&record, 0x160301, 3);
	put(&record, body.len + 4, 2);
	put(&record, 1, 1);
	put(&record, body.len, 3);
	memcpy(record.at + record.len, body.at, body.len);
	record.len += body.len;
	return record;
}

#define RSA EDDYI_KEY_RSA
#define CURVES (EDDYI_KEY_P256 | EDDYI_KEY_P384 | EDDYI_KEY_P521)
#define ECDHE_RSA 0xc02f
#define ECDHE_ECDSA 0xcca9

Test(hello, keys_that_the_client_verifies)
{
	static const struct offer offers[] = {
		/* Without a list of signatures TLS 1.2 takes any, with a list those. */
		{ .suites = { ECDHE_RSA, ECDHE_ECDSA }, .want = RSA | CURVES },
		{ .suites = { ECDHE_RSA }, .want = RSA },
		{ .suites = { ECDHE_ECDSA }, .want = CURVES },
		{ .suites = { 0x002f, 0xc013 }, .want = 0 },
		{ .suites = { ECDHE_ECDSA, ECDHE_RSA }, .schemes = { 0x0401 }, .want = RSA },
		{ .suites = { ECDHE_ECDSA, ECDHE_RSA }, .schemes = { 0x0503 }, .want = CURVES },
		{ .suites = { ECDHE_RSA }, .schemes = { 0x0403 }, .want = 0 },
		{ .suites = { ECDHE_ECDSA, ECDHE_RSA }, .groups = { 29 }, .want = RSA },
		{ .suites = { ECDHE_ECDSA }, .groups = { 29, 24 }, .want = EDDYI_KEY_P384 },
		{ .suites = { ECDHE_ECDSA }, .versions = { 0x0303 }, .want = CURVES },
		/* In TLS 1.3 suites say nothing of it, and signatures their curve. */
		{ .suites = { 0x1301 },
		  .versions = { 0xfafa, 0x0304 },
		  .schemes = { 0x0804 },
		  .want = RSA },
		{ .suites = { 0x1301 },
		  .versions = { 0x0304 },
		  .schemes = { 0x0401, 0x0403 },
		  .want = EDDYI_KEY_P256 },
		{ .suites = { 0x1301 },
		  .versions = { 0x0304, 0x0303 },
		  .groups = { 29 },
		  .schemes = { 0x0503, 0x0603, 0x0203, 0x0806 },
		  .want = EDDYI_KEY_P384 | EDDYI_KEY_P521 | RSA },
		{ .suites = { 0x1301, ECDHE_RSA }, .versions = { 0x0304 }, .want = 0 },
	};

	for (size_t i = 0; i < sizeof(offers) / sizeof(offers[0]); i++) {
		struct bytes bytes = hello_with(&offers[i]);
		struct eddyi_hello found;

		cr_assert(eq(int, parse(bytes.at, bytes.len, &found), 0));
		cr_expect(eq(uint, found.keys, offers[i].want), "offer %zu", i);
	}
}

Test(hello, what_fits)
{
	static const struct {
		struct offer offer;
		bool fits;
	} cases[] = {
		{ { .suites = { ECDHE_RSA }, .groups = { 29 } }, true },
		{ { .suites = { ECDHE_RSA }, .schemes = { 0x0401 } }, true },
		{ { .suites = { ECDHE_RSA }, .groups = { 26, 30, 25 } }, true },
		{ { .suites = { ECDHE_RSA }, .groups = { 26, 30, 256 } }, false },
		{ { .suites = { 0x002f, 0x00ff }, .groups = { 29 } }, false },
		{ { .suites = { ECDHE_RSA } }, false },
		{ { .suites = { 0x1302 }, .groups = { 23 }, .versions = { 0x0304 } }, true },
		{ { .suites = { 0x1304 }, .groups = { 23 }, .versions = { 0x0304 } }, false },
		{ { .suites = { 0x1302 }, .groups = { 23 }, .versions = { 0x0303 } }, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes bytes = hello_with(&cases[i].offer);
		struct eddyi_hello found;

		cr_assert(eq(int, parse(bytes.at, bytes.len, &found), 0));
		cr_expect(eq(int, found.fits, cases[i].fits), "offer %zu", i);
		/* An older client learns about its version from the session. */
		bytes.at[10] = 2;
		cr_assert(eq(int, parse(bytes.at, bytes.len, &found), 0));
		cr_expect(found.fits, "offer %zu", i);
	}
}

/* P-384 and P-521 take the loop too long: the group may be the first one, or that of a share. */
Test(hello, slow_groups)
{
	static const struct {
		struct offer offer;
		bool slow;
	} cases[] = {
		{ { .groups = { 29, 23, 24, 25 } }, false },
		{ { .groups = { 23, 24 } }, false },
		{ { .groups = { 24, 23 } }, true },
		{ { .groups = { 30, 25, 29 } }, true },
		{ { .groups = { 29, 24 }, .shares = { 29 } }, false },
		{ { .groups = { 29, 24 }, .shares = { 24 } }, true },
		{ { .groups = { 29, 25 }, .shares = { 29, 25 } }, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct offer offer = cases[i].offer;
		struct eddyi_hello found;
		struct bytes bytes;

		offer.suites[0] = 0x1301;
		offer.versions[0] = 0x0304;
		bytes = hello_with(&offer);
		cr_assert(eq(int, parse(bytes.at, bytes.len, &found), 0));
		cr_expect(eq(int, found.has_slow_group, cases[i].slow), "offer %zu", i);
	}
}

/* RFC 8446 section 4.2.9: 0 is psk_ke, 1 is psk_dhe_ke. */
Test(hello, modes_of_resumption)
{
	static const struct {
		const char *modes;
		bool only_psk;
	} cases[] = {
		{ NULL, false }, { "1", false }, { "01", false }, { "0", true }, { "02", true }
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct offer offer = { .suites = { 0x1301 },
				       .groups = { 29 },
				       .versions = { 0x0304 } };
		struct eddyi_hello found;
		struct bytes bytes;

		offer.psk_modes = cases[i].modes;
		bytes = hello_with(&offer);
		cr_assert(eq(int, parse(bytes.at, bytes.len, &found), 0));
		cr_expect(eq(int, found.only_psk, cases[i].only_psk), "case %zu", i);
	}
}

Test(hello, lists_of_half_numbers)
{
	static const struct offer offer = { .suites = { ECDHE_RSA },
					    .schemes = { 0x0401, 0x0403 } };
	struct bytes bytes = hello_with(&offer);
	struct eddyi_hello found;

	/* The list of signatures, which comes last, ends in the middle of one. */
	cr_assert(eq(int, bytes.at[bytes.len - 5], 4));
	bytes.at[bytes.len - 5] = 3;
	cr_expect(eq(int, parse(bytes.at, bytes.len, &found), -EBADMSG));
	bytes.at[bytes.len - 5] = 5;
	cr_expect(eq(int, parse(bytes.at, bytes.len, &found), -EBADMSG));
}

Test(hello, spread_over_records)
{
	for (size_t size = 1; size < 120; size++)
		cr_expect(eq(str, (char *)name_of("example.org", size), "example.org"));
}

Test(hello, every_beginning_needs_more)
{
	struct eddyi_hello found;
	struct bytes records = hello("example.org", 30);

	for (size_t len = 0; len < records.len; len++)
		cr_expect(eq(int, parse(records.at, len, &found), -EAGAIN), "%zu bytes", len);
	/* What follows is of no concern. */
	put_text(&records, "more");
	cr_expect(eq(int, parse(records.at, records.len, &found), 0));
}

Test(hello, what_is_none)
{
	/* clang-format off */
	static const struct {
		const char *bytes;
		size_t len;
		int want;
	} cases[] = {
		{ "GET", 3, -EPROTO },
		{ "\x15\x03\x03", 3, -EPROTO },
		{ "\x16\x02", 2, -EPROTO },
		{ "\x16\x03\x01\x00\x00", 5, -EBADMSG },
		{ "\x16\x03\x01\x40\x01", 5, -EBADMSG },
		{ "\x16\x03\x01\x00\x01\x02", 6, -EBADMSG },
		{ "\x16\x03\x01\x00\x04\x01\x00\x40\x00", 9, -EBADMSG },
		{ "\x16\x03\x01\x00\x04\x01\x00\x00\x00", 9, -EBADMSG },
	};
	/* clang-format on */
	struct eddyi_hello found;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect(eq(int,
			     parse((const unsigned char *)cases[i].bytes, cases[i].len, &found),
			     cases[i].want),
			  "case %zu", i);
}

/* Each length within the message, made one larger: it is refused, or means something else, and nothing is read
 * that is not there. */
Test(hello, lengths_that_lie)
{
	struct eddyi_hello found;
	struct bytes records = hello("example.org", 4000);
	size_t refused = 0;

	for (size_t at = 9; at < records.len; at++) {
		struct bytes changed = records;

		changed.at[at]++;
		refused += parse(changed.at, changed.len, &found) == -EBADMSG;
	}
	/* The lengths of suites, methods, extensions, two extensions, the list and the name, less those
	 * whose end falls on something that parses. */
	cr_expect(ge(sz, refused, 6));
}

Test(hello, names_of_certificates)
{
	/* clang-format off */
	static const struct {
		const char *pattern, *host;
		bool want;
	} cases[] = {
		{ "a.example", "a.example", true },
		{ "a.example", "b.example", false },
		{ "*.example", "a.example", true },
		{ "*.example", "a.b.example", false },
		{ "*.example", "example", false },
		{ "*.example", ".example", false },
		{ "*.b.example", "a.b.example", true },
		{ "*", "a", false },
		{ "a*.example", "ab.example", false },
		{ "", "", false },
		{ "*.", "a.", true },
		{ "*.example", "", false },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect(eq(int,
			     eddyi_hello_name_fits(eddy_str_from(cases[i].pattern),
						   eddy_str_from(cases[i].host)),
			     cases[i].want),
			  "%s %s", cases[i].pattern, cases[i].host);
}
