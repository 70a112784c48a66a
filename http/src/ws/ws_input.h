/* ws_input.h: the received frames of a WebSocket as pieces of messages and as control frames. */
#ifndef EDDYI_WS_INPUT_H
#define EDDYI_WS_INPUT_H

#include "ws_frame.h"

enum eddyi_ws_kind {
	EDDYI_WS_NOTHING, /* more bytes are needed */
	EDDYI_WS_PIECE,   /* of a message */
	EDDYI_WS_CONTROL, /* a close, ping or pong */
};

/* Invariants:
 * 1. In a data frame, `message` is the opcode of its message. `len` counts the payloads of the
 *    message, with that of the current frame.
 * 2. In a frame, `arrived` is less than `frame.len`, and of a control frame `bytes` has what has
 *    arrived. Outside of one, it has `head_len` bytes of the next head. */
struct eddyi_ws_input {
	bool is_server;     /* the peer masks its frames, and must */
	bool may_compress;  /* RSV1 was negotiated */
	uint8_t message;    /* its opcode; 0: none is in progress */
	bool is_compressed; /* the message */
	bool in_frame;
	uint8_t head_len;
	unsigned char bytes[EDDYI_WS_CONTROL_MAX];
	uint64_t max; /* of a message, as it is sent */
	uint64_t len;
	uint64_t arrived; /* of the current payload */
	struct eddyi_ws_frame frame;
};

struct eddyi_ws_event {
	enum eddyi_ws_kind kind;
	uint8_t opcode; /* of a control frame, or of the message */
	/* The payload of a control frame; or a piece of a message, which may be empty and is still
	 * masked: eddyi_ws_input_copy() unmasks it. */
	struct eddy_str bytes;
	uint64_t at;  /* of the piece in its payload */
	bool is_last; /* the message ends here */
};

/* Take the next event from the front of `*bytes`.
 * Return: 0; -EPROTO if the peer breaks the protocol; -EMSGSIZE if a message exceeds `max`. */
int eddyi_ws_input_next(struct eddyi_ws_input *input, struct eddy_str *bytes,
			struct eddyi_ws_event *ret_event);

/* Copy a piece, unmasked. */
static inline void eddyi_ws_input_copy(const struct eddyi_ws_input *input,
				       const struct eddyi_ws_event *piece, void *to)
{
	eddyi_ws_mask(to, piece->bytes.ptr, piece->bytes.len, input->frame.mask, piece->at);
}

/* Read the payload of a close frame.
 * Return: the code, 1005 if it has none; -EPROTO; -EILSEQ if the reason is not UTF-8. */
int eddyi_ws_close_read(struct eddy_str payload);

#endif
