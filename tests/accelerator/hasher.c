/* Tests of eddy/internal/hasher.h: the examples of FIPS 180-4, in one piece and in several. */
#include <criterion/criterion.h>
#include <eddy/internal/hasher.h>
#include <eddy/internal/text.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define LEN_MAX 64

static const struct {
	unsigned bits;
	const char *text, *hash;
} cases[] = {
	{ 160, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
	{ 160, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d" },
	{ 256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
	{ 256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ 256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	{ 512, "abc",
	  "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
	  "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f" },
};

static void check(unsigned bits, const char *text, size_t piece, const char *hash)
{
	struct eddyi_hasher *hasher = eddyi_hasher_new(bits);
	size_t len = strlen(text);
	unsigned char bytes[LEN_MAX];
	char hex[2 * LEN_MAX + 1];

	cr_assert(hasher);
	for (size_t at = 0; at < len; at += piece)
		eddyi_hasher_add(hasher, text + at, len - at < piece ? len - at : piece);
	cr_assert(eddyi_hasher_end(hasher, bytes));
	*eddyi_hex_format(bytes, bits / 8, hex) = 0;
	cr_assert_str_eq(hex, hash, "%u bits of \"%s\" by %zu", bits, text, piece);
	eddyi_hasher_free(hasher);
}

Test(hasher, hashes_in_any_pieces)
{
	for (size_t i = 0; i < COUNT(cases); i++)
		for (size_t piece = 1; piece < 70; piece += 23)
			check(cases[i].bits, cases[i].text, piece, cases[i].hash);
}

Test(hasher, knows_no_other_size)
{
	cr_assert(!eddyi_hasher_new(0));
	cr_assert(!eddyi_hasher_new(255));
	cr_assert(!eddyi_hasher_new(384));
	eddyi_hasher_free(NULL);
}
