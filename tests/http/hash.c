/* Tests of http/src/tls/hash.h. */
#include "tls/hash.h"

#include <criterion/criterion.h>
#include <eddy/internal/text.h>
#include <string.h>

static void expect(unsigned bits, size_t piece, const char *hash)
{
	struct eddyi_hash *state = eddyi_hash_new(bits);
	unsigned char bytes[64];
	char hex[129];

	cr_assert(state);
	for (size_t at = 0; at < 3; at += piece)
		eddyi_hash_add(state, &"abc"[at], 3 - at < piece ? 3 - at : piece);
	cr_assert(eddyi_hash_end(state, bytes));
	*eddyi_hex_format(bytes, bits / 8, hex) = 0;
	cr_expect_str_eq(hex, hash);
	eddyi_hash_free(state);
}

/* FIPS 180-4. */
Test(hash, of_abc)
{
	for (size_t piece = 1; piece < 4; piece++) {
		expect(160, piece, "a9993e364706816aba3e25717850c26c9cd0d89d");
		expect(256, piece,
		       "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
		expect(512, piece,
		       "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
		       "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
	}
}

Test(hash, no_other_size)
{
	cr_expect_null(eddyi_hash_new(384));
	cr_expect_null(eddyi_hash_new(0));
	eddyi_hash_free(NULL);
}
