#include "ws_frame.h"

#include <errno.h>
#include <string.h>

#define FIN 0x80u
#define RSV1 0x40u
#define RSV2_3 0x30u
#define OPCODE 0x0fu
#define MASKED 0x80u
#define LEN 0x7fu
/* Lengths that stand for the 16 or 64 bits behind them. */
#define LEN_16 126u
#define LEN_64 127u

int eddyi_ws_frame_parse(struct eddy_str bytes, struct eddyi_ws_frame *ret_frame)
{
	const unsigned char *at = (const unsigned char *)bytes.ptr;
	struct eddyi_ws_frame frame;
	size_t size, len;

	if (bytes.len < 2)
		return 0;
	size = (at[1] & LEN) == LEN_64 ? 8 : (at[1] & LEN) == LEN_16 ? 2 : 0;
	frame = (struct eddyi_ws_frame){
		.opcode = at[0] & OPCODE,
		.fin = at[0] & FIN,
		.compressed = at[0] & RSV1,
		.masked = at[1] & MASKED,
	};
	if (at[0] & RSV2_3 || (frame.opcode & ~EDDYI_WS_CLOSE) > EDDYI_WS_BINARY)
		return -EPROTO;
	if (eddyi_ws_is_control(frame.opcode) && (!frame.fin || frame.compressed || size))
		return -EPROTO;
	len = 2 + size + (frame.masked ? sizeof(frame.mask) : 0);
	if (bytes.len < len)
		return 0;
	frame.len = size ? 0 : at[1] & LEN;
	for (size_t i = 0; i < size; i++)
		frame.len = frame.len << 8 | at[2 + i];
	/* A length takes as few bytes as possible, and its highest bit is 0. */
	if ((size == 2 && frame.len < LEN_16) ||
	    (size == 8 && (frame.len <= 0xffff || frame.len >> 63)))
		return -EPROTO;
	if (frame.masked)
		memcpy(frame.mask, at + 2 + size, sizeof(frame.mask));
	*ret_frame = frame;
	return (int)len;
}

size_t eddyi_ws_frame_format(const struct eddyi_ws_frame *frame,
			     unsigned char head[EDDYI_WS_HEAD_MAX])
{
	size_t size = frame->len < LEN_16 ? 0 : frame->len <= 0xffff ? 2 : 8;

	head[0] = (unsigned char)((frame->fin ? FIN : 0) | (frame->compressed ? RSV1 : 0) |
				  frame->opcode);
	head[1] = (unsigned char)((frame->masked ? MASKED : 0) | (size == 8 ? LEN_64 :
								  size == 2 ? LEN_16 :
									      frame->len));
	for (size_t i = 0; i < size; i++)
		head[2 + i] = (unsigned char)(frame->len >> 8 * (size - 1 - i));
	if (!frame->masked)
		return 2 + size;
	memcpy(head + 2 + size, frame->mask, sizeof(frame->mask));
	return 2 + size + sizeof(frame->mask);
}

void eddyi_ws_mask(void *to, const void *from, size_t len, const unsigned char mask[4], uint64_t at)
{
	const char *in = from;
	unsigned char turned[8];
	uint64_t pattern, words[2];
	char *out = to;

	for (size_t i = 0; i < sizeof(turned); i++)
		turned[i] = mask[(at + i) % 4];
	memcpy(&pattern, turned, sizeof(pattern));
	for (; len >= sizeof(words); len -= sizeof(words)) {
		memcpy(words, in, sizeof(words));
		words[0] ^= pattern;
		words[1] ^= pattern;
		memcpy(out, words, sizeof(words));
		in += sizeof(words);
		out += sizeof(words);
	}
	for (size_t i = 0; i < len; i++)
		out[i] = (char)(in[i] ^ turned[i % 8]);
}

bool eddyi_ws_is_code(unsigned code)
{
	return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
	       (code >= 3000 && code <= 4999);
}
