/* Tests of http/src/tls/seal.h. */
#include "tls/seal.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <string.h>

#define NAME EDDY_STR("cart")
#define TEXT EDDY_STR("three pears")
#define SEALED_LEN EDDYI_SEALED_LEN(sizeof("three pears") - 1)

static struct eddyi_seal_key key_of(const char *secret)
{
	struct eddyi_seal_key key;

	cr_assert(eddyi_seal_key_init(&key, eddy_str_from(secret)));
	return key;
}

static int unseal(const struct eddyi_seal_key *key, struct eddy_str name,
		  const unsigned char *sealed, size_t len)
{
	unsigned char text[SEALED_LEN];
	int r = eddyi_unseal(key, name, sealed, len, text);

	if (r == 0)
		cr_expect(eddy_str_eq(eddy_str((char *)text, len - EDDYI_SEALED_LEN(0)), TEXT));
	return r;
}

Test(seal, opens_what_it_sealed)
{
	struct eddyi_seal_key key = key_of("a secret"), other = key_of("another secret");
	unsigned char sealed[SEALED_LEN], again[SEALED_LEN];

	cr_assert(eq(int, eddyi_seal(&key, NAME, TEXT, sealed), 0));
	cr_assert(eq(int, eddyi_seal(&key, NAME, TEXT, again), 0));
	cr_expect(memcmp(sealed, again, sizeof(sealed)) != 0, "two have one salt");
	cr_expect(memmem(sealed, sizeof(sealed), "pears", 5) == NULL);
	cr_expect(eq(int, unseal(&key, NAME, sealed, sizeof(sealed)), 0));
	cr_expect(eq(int, unseal(&key, NAME, again, sizeof(again)), 0));
	cr_expect(eq(int, unseal(&other, NAME, sealed, sizeof(sealed)), -EBADMSG));
	cr_expect(eq(int, unseal(&key, EDDY_STR("car"), sealed, sizeof(sealed)), -EBADMSG));
	cr_expect(eq(int, unseal(&key, EDDY_STR(""), sealed, sizeof(sealed)), -EBADMSG));
}

Test(seal, refuses_what_was_changed)
{
	struct eddyi_seal_key key = key_of("a secret");
	unsigned char sealed[SEALED_LEN];

	cr_assert(eq(int, eddyi_seal(&key, NAME, TEXT, sealed), 0));
	for (size_t i = 0; i < 8 * sizeof(sealed); i++) {
		sealed[i / 8] ^= 1 << i % 8;
		cr_expect(eq(int, unseal(&key, NAME, sealed, sizeof(sealed)), -EBADMSG));
		sealed[i / 8] ^= 1 << i % 8;
	}
	for (size_t len = EDDYI_SEALED_LEN(1); len < sizeof(sealed); len++)
		cr_expect(eq(int, unseal(&key, NAME, sealed, len), -EBADMSG));
	cr_expect(eq(int, unseal(&key, NAME, sealed, sizeof(sealed)), 0));
}

Test(seal, signs)
{
	struct eddyi_seal_key key = key_of("a secret"), other = key_of("another secret");
	unsigned char mac[EDDYI_SEAL_MAC_LEN];

	cr_assert(eddyi_seal_sign(&key, NAME, TEXT, mac));
	cr_expect(eddyi_seal_is_signed(&key, NAME, TEXT, mac));
	cr_expect(not(eddyi_seal_is_signed(&other, NAME, TEXT, mac)));
	/* The border between name and text is signed too. */
	cr_expect(not(eddyi_seal_is_signed(&key, EDDY_STR("cartt"), EDDY_STR("hree pears"), mac)));
	for (size_t i = 0; i < 8 * sizeof(mac); i++) {
		mac[i / 8] ^= 1 << i % 8;
		cr_expect(not(eddyi_seal_is_signed(&key, NAME, TEXT, mac)));
		mac[i / 8] ^= 1 << i % 8;
	}
}

/* Clients keep cookies over an update of the server. The values were computed by Python's hmac and
 * cryptography. */
Test(seal, keeps_its_format)
{
	static const unsigned char sealed[SEALED_LEN] =
		"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13"
		"\x14\x15\x16\x17\x2b\x57\x25\xb9\x5b\xd4\x44\x05\x6e\x92\x81\x0f\x38\x5c\x80\x3b"
		"\x10\x85\x58\x49\x76\x41\x7e\xf6\x83\x6e\x72";
	static const unsigned char mac[EDDYI_SEAL_MAC_LEN] =
		"\xde\x3a\x90\x97\xe3\x13\x6c\xe1\xd5\x81\x9c\xdc\xb5\x4b\x4e\x48\xe9\x42\xce\x7c"
		"\x64\x6f\x22\x0a\x96\xef\x01\x96\xc8\x2c\x2d\x6d";
	struct eddyi_seal_key key = key_of("a secret");

	cr_expect(eq(int, unseal(&key, NAME, sealed, sizeof(sealed)), 0));
	cr_expect(eddyi_seal_is_signed(&key, NAME, TEXT, mac));
}
