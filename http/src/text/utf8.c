#include "utf8.h"

#include <endian.h>
#include <string.h>

#define BLOCK ((size_t)64)
#define WORD sizeof(uint64_t)
#define NOT_ASCII UINT64_C(0x8080808080808080)

/* The states of an automaton, as places in a word. The word of a byte has, at the place of each
 * state, the state that the byte leads to, so that a step is one shift. */
enum state {
	BAD = 0,
	WHOLE = 6,     /* between two characters */
	DUE_1 = 12,    /* one byte is due, from 80 to bf */
	DUE_2 = 18,    /* two are */
	DUE_3 = 24,    /* three are */
	AFTER_E0 = 30, /* two are, the first from a0: others are overlong */
	AFTER_ED = 36, /* two are, the first to 9f: others are surrogates */
	AFTER_F0 = 42, /* three are, the first from 90: others are overlong */
	AFTER_F4 = 48, /* three are, the first to 8f: others are above U+10FFFF */
};

#define LEADS(from, to) ((uint64_t)(to) << (from))
#define GOES_ON (LEADS(DUE_1, WHOLE) | LEADS(DUE_2, DUE_1) | LEADS(DUE_3, DUE_2))

static const uint64_t steps[256] = {
	[0x00 ... 0x7f] = LEADS(WHOLE, WHOLE),
	[0x80 ... 0x8f] = GOES_ON | LEADS(AFTER_ED, DUE_1) | LEADS(AFTER_F4, DUE_2),
	[0x90 ... 0x9f] = GOES_ON | LEADS(AFTER_ED, DUE_1) | LEADS(AFTER_F0, DUE_2),
	[0xa0 ... 0xbf] = GOES_ON | LEADS(AFTER_E0, DUE_1) | LEADS(AFTER_F0, DUE_2),
	[0xc2 ... 0xdf] = LEADS(WHOLE, DUE_1),
	[0xe0] = LEADS(WHOLE, AFTER_E0),
	[0xe1 ... 0xec] = LEADS(WHOLE, DUE_2),
	[0xed] = LEADS(WHOLE, AFTER_ED),
	[0xee ... 0xef] = LEADS(WHOLE, DUE_2),
	[0xf0] = LEADS(WHOLE, AFTER_F0),
	[0xf1 ... 0xf3] = LEADS(WHOLE, DUE_3),
	[0xf4] = LEADS(WHOLE, AFTER_F4),
};

static bool is_ascii(const char block[BLOCK])
{
	typedef uint64_t pair __attribute__((vector_size(16)));
	pair pairs[BLOCK / sizeof(pair)], all = { 0 };

	memcpy(pairs, block, BLOCK);
	for (size_t i = 0; i < BLOCK / sizeof(pair); i++)
		all |= pairs[i];
	return !((all[0] | all[1]) & NOT_ASCII);
}

/* Return: at how many bytes of ASCII `bytes` begins. */
static size_t ascii_len(struct eddy_str bytes)
{
	size_t at = 0;
	uint64_t word;

	while (bytes.len - at >= BLOCK && is_ascii(bytes.ptr + at))
		at += BLOCK;
	for (; bytes.len - at >= WORD; at += WORD) {
		memcpy(&word, bytes.ptr + at, WORD);
		word = le64toh(word) & NOT_ASCII;
		if (word)
			return at + (size_t)__builtin_ctzll(word) / 8;
	}
	while (at < bytes.len && !(bytes.ptr[at] & 0x80))
		at++;
	return at;
}

bool eddyi_utf8_check(struct eddyi_utf8 *utf8, struct eddy_str bytes)
{
	uint64_t state = utf8->state ? utf8->state : WHOLE;
	const char *at = bytes.ptr, *end = bytes.ptr + bytes.len;

	while (at < end && (state & 63) != BAD) {
		if ((state & 63) == WHOLE)
			at += ascii_len(eddy_str(at, (size_t)(end - at)));
		/* Further characters are mostly not ASCII either, or this is the only one. */
		while (at < end && ((state & 63) != WHOLE || (*at & 0x80)) && (state & 63) != BAD)
			state = steps[(unsigned char)*at++] >> (state & 63);
	}
	state &= 63;
	utf8->state = state == WHOLE ? 0 : (uint8_t)state;
	return state != BAD;
}
