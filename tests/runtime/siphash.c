/* Tests of eddy/siphash.h. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/internal/siphash.h>

/* The vectors that its authors published: key 00..0f, and messages 00, 0001, … of growing length. */
Test(siphash, published_vectors)
{
	static const uint64_t secret[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
	static const struct {
		size_t len;
		uint64_t hash;
	} want[] = {
		{ 0, 0x726fdb47dd0e0e31 }, { 1, 0x74f839c593dc67fd },  { 7, 0xab0200f58b01d137 },
		{ 8, 0x93f5f5799a932462 }, { 15, 0xa129ca6149be45e5 },
	};
	char bytes[64];

	for (int i = 0; i < 64; i++)
		bytes[i] = (char)i;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		cr_expect(eq(u64, eddyi_siphash(eddy_str(bytes, want[i].len), secret),
			     want[i].hash),
			  "of %zu bytes", want[i].len);
}
