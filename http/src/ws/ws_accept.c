#include "ws_accept.h"

#include "text/base64.h"

#include <string.h>

#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#define TEXT_LEN (EDDYI_WS_KEY_LEN + sizeof(GUID) - 1)
#define BLOCK 64
/* The text, a bit, and its length in eight bytes. */
#define PADDED ((TEXT_LEN + 9 + BLOCK - 1) / BLOCK * BLOCK)

/* ---- SHA-1 (FIPS 180-4): no secret depends on it here; a build without TLS has no other ---- */

static uint32_t rotate(uint32_t value, int bits)
{
	return value << bits | value >> (32 - bits);
}

static void add_block(uint32_t state[5], const unsigned char *block)
{
	static const uint32_t constants[] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
	uint32_t w[80], s[5];

	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (int i = 0; i < 80; i++) {
		uint32_t b = s[1], c = s[2], d = s[3];
		uint32_t f = i < 20 ? (b & c) | (~b & d) :
			     i < 40 ? b ^ c ^ d :
			     i < 60 ? (b & c) | (b & d) | (c & d) :
				      b ^ c ^ d;

		f += rotate(s[0], 5) + s[4] + constants[i / 20] + w[i];
		memmove(s + 1, s, 4 * sizeof(*s));
		s[0] = f;
		s[2] = rotate(b, 30);
	}
	for (int i = 0; i < 5; i++)
		state[i] += s[i];
}

/* ---- the handshake ---- */

bool eddyi_ws_is_key(struct eddy_str key)
{
	return key.len == EDDYI_WS_KEY_LEN && eddyi_base64_decode(key, NULL) == 16;
}

void eddyi_ws_accept(struct eddy_str key, char accept[EDDYI_WS_ACCEPT_LEN + 1])
{
	uint32_t state[] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
	unsigned char padded[PADDED] = { 0 }, digest[20];

	memcpy(padded, key.ptr, EDDYI_WS_KEY_LEN);
	memcpy(padded + EDDYI_WS_KEY_LEN, GUID, sizeof(GUID) - 1);
	padded[TEXT_LEN] = 0x80;
	padded[PADDED - 2] = (unsigned char)(TEXT_LEN * 8 >> 8);
	padded[PADDED - 1] = (unsigned char)(TEXT_LEN * 8);
	for (size_t at = 0; at < PADDED; at += BLOCK)
		add_block(state, padded + at);
	for (int i = 0; i < 20; i++)
		digest[i] = (unsigned char)(state[i / 4] >> (24 - i % 4 * 8));
	*eddyi_base64_encode(digest, sizeof(digest), accept) = 0;
}
