#include <eddy/internal/siphash.h>

#include <endian.h>

struct state {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

static void mix(struct state *s, int rounds)
{
	while (rounds--) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 = rotate(s->v0, 32);
		s->v2 += s->v1;
		s->v0 += s->v3;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v2 = rotate(s->v2, 32);
	}
}

static void absorb(struct state *s, uint64_t word)
{
	s->v3 ^= word;
	mix(s, 2);
	s->v0 ^= word;
}

uint64_t eddyi_siphash(struct eddy_str bytes, const uint64_t secret[2])
{
	struct state s = {
		.v0 = secret[0] ^ 0x736f6d6570736575,
		.v1 = secret[1] ^ 0x646f72616e646f6d,
		.v2 = secret[0] ^ 0x6c7967656e657261,
		.v3 = secret[1] ^ 0x7465646279746573,
	};
	uint64_t word, last = (uint64_t)bytes.len << 56;
	size_t at = 0;

	for (; bytes.len - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, bytes.ptr + at, sizeof(word));
		absorb(&s, le64toh(word));
	}
	for (unsigned shift = 0; at < bytes.len; at++, shift += 8)
		last |= (uint64_t)(unsigned char)bytes.ptr[at] << shift;
	absorb(&s, last);
	s.v2 ^= 0xff;
	mix(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
