/* ws_frame.h: frames of a WebSocket (RFC 6455 section 5). */
#ifndef EDDYI_WS_FRAME_H
#define EDDYI_WS_FRAME_H

#include <eddy/str.h>

/* Of control frames bit 3 is set. */
enum eddyi_ws_opcode {
	EDDYI_WS_CONTINUATION = 0x0,
	EDDYI_WS_TEXT = 0x1,
	EDDYI_WS_BINARY = 0x2,
	EDDYI_WS_CLOSE = 0x8,
	EDDYI_WS_PING = 0x9,
	EDDYI_WS_PONG = 0xa,
};

#define EDDYI_WS_CONTROL_MAX 125
#define EDDYI_WS_HEAD_MAX 14

struct eddyi_ws_frame {
	uint64_t len; /* of the payload */
	uint8_t opcode;
	bool fin;        /* the last frame of its message */
	bool compressed; /* RSV1 (RFC 7692) */
	bool masked;
	unsigned char mask[4]; /* zero if not masked */
};

static inline bool eddyi_ws_is_control(uint8_t opcode)
{
	return opcode & 0x8;
}

/* Parse the head of a frame at the front of `bytes`.
 * Return: its length; 0 if more bytes are needed; -EPROTO if no peer may send such a frame. */
int eddyi_ws_frame_parse(struct eddy_str bytes, struct eddyi_ws_frame *ret_frame);

/* Format the head. Return: its length. */
size_t eddyi_ws_frame_format(const struct eddyi_ws_frame *frame,
			     unsigned char head[EDDYI_WS_HEAD_MAX]);

/* Copy a piece of a payload that begins at `at`, masking or unmasking it. `to` may be `from`. */
void eddyi_ws_mask(void *to, const void *from, size_t len, const unsigned char mask[4],
		   uint64_t at);

/* Whether an endpoint may send this close code (RFC 6455 section 7.4). */
bool eddyi_ws_is_code(unsigned code);

#endif
