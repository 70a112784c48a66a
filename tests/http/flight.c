/* Tests of http/src/tls/flight.h. */
#include "tls/flight.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENT_HELLO = 1, SERVER_HELLO, CERTIFICATE = 11, DONE = 14, VERIFY, KEY_EXCHANGE };

struct bytes {
	unsigned char at[2048];
	size_t len;
};

static void put(struct bytes *bytes, size_t number, size_t len)
{
	while (len--)
		bytes->at[bytes->len++] = (unsigned char)(number >> 8 * len);
}

static void put_bytes(struct bytes *bytes, struct bytes more)
{
	memcpy(bytes->at + bytes->len, more.at, more.len);
	bytes->len += more.len;
}

/* Hexadecimal digits. */
static struct bytes hex(const char *text)
{
	struct bytes bytes = { .len = 0 };
	char byte[3] = "";

	for (; *text; text += 2) {
		memcpy(byte, text, 2);
		put(&bytes, strtoul(byte, NULL, 16), 1);
	}
	return bytes;
}

static struct bytes message(unsigned type, struct bytes body)
{
	struct bytes whole = { .len = 0 };

	put(&whole, type, 1);
	put(&whole, body.len, 3);
	put_bytes(&whole, body);
	return whole;
}

static struct bytes record(unsigned type, struct bytes content)
{
	struct bytes whole = { .len = 0 };

	put(&whole, type, 1);
	put(&whole, 0x0303, 2);
	put(&whole, content.len, 2);
	put_bytes(&whole, content);
	return whole;
}

static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
static const char retry[] = "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c";

/* Of suites 1301 and c02b, with an empty session id. */
static struct bytes client_hello(const char *extensions)
{
	struct bytes body = { .len = 0 };

	put(&body, 0x0303, 2);
	put_bytes(&body, hex(zeros));
	put_bytes(&body, hex("00"
			     "00041301c02b"
			     "0100"));
	put(&body, strlen(extensions) / 2, 2);
	put_bytes(&body, hex(extensions));
	return message(CLIENT_HELLO, body);
}

static struct bytes server_hello(const char *random, unsigned suite, const char *extensions)
{
	struct bytes body = { .len = 0 };

	put(&body, 0x0303, 2);
	put_bytes(&body, hex(random));
	put(&body, 0, 1);
	put(&body, suite, 2);
	put(&body, 0, 1);
	put(&body, strlen(extensions) / 2, 2);
	put_bytes(&body, hex(extensions));
	return message(SERVER_HELLO, body);
}

static bool allows(struct eddyi_flight *flight, struct bytes record, bool is_1_3)
{
	/* From memory that ends where the bytes do. */
	unsigned char *exact = malloc(record.len);
	bool allowed;

	memcpy(exact, record.at, record.len);
	allowed = eddyi_flight_allows(flight, exact, record.len, is_1_3);
	free(exact);
	return allowed;
}

/* ---- a client's ---- */

/* Whether a client may send these messages, one by one, in records of `size` bytes each. */
static bool client_may(const char *types, bool is_1_3, size_t size)
{
	struct eddyi_flight flight = { 0 };
	bool allowed = true;

	for (; *types && allowed; types++) {
		struct bytes whole = *types == CLIENT_HELLO ? client_hello("") :
				     *types == VERIFY       ? message(VERIFY, hex("04030000")) :
							message((unsigned)*types, hex("000000"));

		for (size_t at = 0; at < whole.len && allowed; at += size) {
			struct bytes part = { .len = 0 };

			part.len = whole.len - at < size ? whole.len - at : size;
			memcpy(part.at, whole.at + at, part.len);
			allowed = allows(&flight, record(22, part), is_1_3);
		}
	}
	eddyi_flight_deinit(&flight);
	return allowed;
}

Test(flight, clients_have_an_order)
{
	static const char *const good[] = { "\1", "\1\x10", "\1\x0b\x10", "\1\x0b\x10\x0f" };
	static const char *const bad[] = {
		"\1\x0b\x0f", /* CVE-2026-2645 */
		"\1\x0f",     "\1\x10\x0b",         "\1\x10\x0b\x0f", "\1\x10\x10",
		"\1\1",       "\1\x0b\x0b",         "\1\x0b\x10\1",   "\x10",
		"\1\x0e",     "\1\x0b\x10\x0f\x0f", "\1\x14",
	};

	for (size_t size = 1; size < 64; size += 1 + size / 2) {
		for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
			cr_assert(client_may(good[i], false, size), "%zu in %zu", i, size);
		for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
			cr_assert_not(client_may(bad[i], false, size), "%zu in %zu", i, size);
	}
}

Test(flight, clients_of_tls_1_3_say_hello_alone)
{
	cr_assert(client_may("\1", true, 64));
	cr_assert(client_may("\1\1", true, 64));
	cr_assert_not(client_may("\1\x0b", true, 64));
	cr_assert_not(client_may("\1\x10", true, 64));
	cr_assert_not(client_may("\1\x14", true, 64));
}

Test(flight, hellos_end_their_record)
{
	struct eddyi_flight flight = { 0 };
	struct bytes both = client_hello("");

	put_bytes(&both, message(KEY_EXCHANGE, hex("00")));
	cr_assert_not(allows(&flight, record(22, both), false));
	/* It stays so. */
	cr_assert_not(allows(&flight, record(23, hex("00")), false));
	eddyi_flight_deinit(&flight);
}

Test(flight, second_hellos_are_read_too)
{
	/* ALPN whose last name is longer than the list, and two shares of one group. */
	static const char *const bad[] = { "00100006000402683208",
					   "0033000c000a001d000101001d000102" };
	static const char good[] = "0010000b000908687474702f312e31"
				   "0033000c000a001d0001010017000102";

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct eddyi_flight flight = { 0 };

		cr_assert(allows(&flight, record(22, client_hello(good)), true));
		cr_assert(allows(&flight, record(20, hex("01")), true));
		cr_assert_not(allows(&flight, record(22, client_hello(bad[i])), true), "%zu", i);
		eddyi_flight_deinit(&flight);
	}
}

static bool verify_may(const char *scheme)
{
	struct eddyi_flight flight = { 0 };
	bool allowed;

	cr_assert(allows(&flight, record(22, client_hello("")), false));
	cr_assert(allows(&flight, record(22, message(KEY_EXCHANGE, hex("00"))), false));
	allowed = allows(&flight, record(22, message(VERIFY, hex(scheme))), false);
	eddyi_flight_deinit(&flight);
	return allowed;
}

Test(flight, clients_sign_by_sha_256_and_better)
{
	static const char *const good[] = { "0401", "0403", "0501", "0603", "0804", "0806", "0807" };
	static const char *const bad[] = {
		"0101", "0103", "0201", "0203", "0301", "0303", "0003",
		"0400", "0402", "0703", "0803", "ffff", "04",   "",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		cr_assert(verify_may(good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_assert_not(verify_may(bad[i]), "%s", bad[i]);
}

Test(flight, what_is_encrypted_is_not_read)
{
	struct eddyi_flight flight = { 0 };

	cr_assert(allows(&flight, record(22, client_hello("")), false));
	cr_assert(allows(&flight, record(20, hex("01")), false));
	cr_assert(allows(&flight, record(22, hex("ffffffffffffff")), false));
	eddyi_flight_deinit(&flight);
	flight = (struct eddyi_flight){ 0 };
	cr_assert(allows(&flight, record(22, client_hello("")), true));
	cr_assert(allows(&flight, record(23, hex("ffffffffffffff")), true));
	cr_assert(allows(&flight, record(22, hex("ffffffffffffff")), true));
	eddyi_flight_deinit(&flight);
}

Test(flight, keys_do_not_change_within_a_message)
{
	static const unsigned types[] = { 20, 23 };

	for (size_t i = 0; i < 2; i++) {
		struct eddyi_flight flight = { 0 };

		cr_assert(allows(&flight, record(22, hex("01")), false));
		cr_assert_not(allows(&flight, record(types[i], hex("01")), false));
		eddyi_flight_deinit(&flight);
	}
}

static int alert_of(struct bytes first, struct bytes then, bool is_1_3)
{
	struct eddyi_flight flight = { 0 };
	int alert;

	if (allows(&flight, first, false))
		allows(&flight, then, is_1_3);
	alert = flight.alert;
	eddyi_flight_deinit(&flight);
	return alert;
}

/* RFC 8446 section 6.2: unexpected_message (10) for what must not come here, illegal_parameter (47) for what it holds. */
Test(flight, alerts_tell_order_from_content)
{
	struct bytes hello = record(22, client_hello("")), none = { .len = 0 };

	cr_expect_eq(alert_of(hello, record(22, message(20, hex("00"))), true), 10);
	cr_expect_eq(alert_of(hello, record(23, hex("00")), false), 10);
	cr_expect_eq(alert_of(record(22, message(DONE, none)), none, false), 10);
	cr_expect_eq(alert_of(record(22, message(CLIENT_HELLO, hex("00"))), none, false), 47);
	cr_expect_eq(alert_of(hello, record(22, message(CLIENT_HELLO, none)), true), 47);
}

Test(flight, long_messages_are_not_kept)
{
	struct eddyi_flight flight = { 0 };

	cr_assert_not(allows(&flight, record(22, hex("01ffffff00")), false));
	eddyi_flight_deinit(&flight);
	flight = (struct eddyi_flight){ 0 };
	cr_assert(allows(&flight, record(22, client_hello("")), false));
	cr_assert(allows(&flight, record(22, hex("0bffffff00")), false));
	cr_assert(eq(ptr, flight.message, NULL));
	eddyi_flight_deinit(&flight);
}

/* ---- a server's ---- */

static const char v13[] = "002b00020304";
static const char share[] = "00330005001d000101";

/* Whether a server may answer so. */
static bool server_may(struct bytes first, struct bytes then)
{
	struct eddyi_flight flight = { 0 };
	struct bytes ours = record(22, client_hello(""));
	bool allowed;

	cr_assert(eq(int, eddyi_flight_offer(&flight, ours.at, ours.len), 0));
	put_bytes(&first, then);
	allowed = allows(&flight, record(22, first), true);
	eddyi_flight_deinit(&flight);
	return allowed;
}

static const char *joined(const char *a, const char *b)
{
	static char text[256];

	snprintf(text, sizeof(text), "%s%s", a, b);
	return text;
}

Test(flight, servers_choose_what_was_offered)
{
	struct bytes none = { .len = 0 };
	const char *extensions = joined(v13, share);

	cr_assert(server_may(server_hello(zeros, 0x1301, extensions), none));
	cr_assert(server_may(server_hello(zeros, 0xc02b, ""), none));
	/* CVE-2024-5814 */
	cr_assert_not(server_may(server_hello(zeros, 0x1302, extensions), none));
	cr_assert_not(server_may(server_hello(zeros, 0xc02f, ""), none));
	cr_assert_not(server_may(server_hello(zeros, 0x0034, ""), none));
	cr_assert_not(server_may(server_hello(zeros, 0x0000, ""), none));
	/* Those of one version in the other. */
	cr_assert_not(server_may(server_hello(zeros, 0x1301, ""), none));
	cr_assert_not(server_may(server_hello(zeros, 0xc02b, extensions), none));
}

Test(flight, servers_of_tls_1_3_send_a_share)
{
	struct bytes none = { .len = 0 };

	cr_assert_not(server_may(server_hello(zeros, 0x1301, v13), none));
	cr_assert_not(
		server_may(server_hello(zeros, 0x1301, joined(v13, "00330004001d0000")), none));
	/* A ticket's key alone. */
	cr_assert_not(server_may(server_hello(zeros, 0x1301, joined(v13, "002900020000")), none));
	cr_assert(server_may(server_hello(retry, 0x1301, joined(v13, "00330002001d")), none));
}

Test(flight, servers_of_tls_1_3_encrypt_the_rest)
{
	struct bytes done = message(DONE, hex(""));

	cr_assert_not(server_may(server_hello(zeros, 0x1301, joined(v13, share)), done));
	cr_assert_not(server_may(server_hello(retry, 0x1301, v13), done));
	cr_assert(server_may(server_hello(zeros, 0xc02b, ""), done));
}

Test(flight, a_hello_of_ours_is_one)
{
	struct eddyi_flight flight = { 0 };
	struct bytes ours = record(22, client_hello(""));

	for (size_t len = 0; len < 5 + 4 + 2 + 32 + 1 + 2 + 4; len++)
		cr_assert(eq(int, eddyi_flight_offer(&flight, ours.at, len), -EBADMSG));
	eddyi_flight_deinit(&flight);
}
