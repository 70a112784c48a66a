#include "ws_input.h"

#include <eddy/internal/text.h>
#include <errno.h>
#include <string.h>

/* Parse a head of which a part may have arrived before. Return: as eddyi_ws_frame_parse(). */
static int take_head(struct eddyi_ws_input *input, struct eddy_str *bytes)
{
	size_t before = input->head_len, room = EDDYI_WS_HEAD_MAX - before,
	       len = before + (bytes->len < room ? bytes->len : room);
	int r;

	memcpy(input->bytes + before, bytes->ptr, len - before);
	r = eddyi_ws_frame_parse(eddy_str((char *)input->bytes, len), &input->frame);
	/* Less than a head is all that has arrived. */
	input->head_len = r == 0 ? (uint8_t)len : 0;
	*bytes = eddy_str_skip(*bytes, (r > 0 ? (size_t)r : len) - before);
	return r;
}

/* Check a frame within its message. Return: 1, -EPROTO, -EMSGSIZE. */
static int begin_frame(struct eddyi_ws_input *input)
{
	const struct eddyi_ws_frame *frame = &input->frame;
	bool goes_on = frame->opcode == EDDYI_WS_CONTINUATION;

	if (frame->masked != input->is_server)
		return -EPROTO;
	if (eddyi_ws_is_control(frame->opcode))
		return 1;
	if (goes_on != (input->message != 0) ||
	    (frame->compressed && (goes_on || !input->may_compress)))
		return -EPROTO;
	if (!goes_on) {
		input->message = frame->opcode;
		input->is_compressed = frame->compressed;
		input->len = 0;
	}
	if (frame->len > input->max - input->len)
		return -EMSGSIZE;
	input->len += frame->len;
	return 1;
}

int eddyi_ws_input_next(struct eddyi_ws_input *input, struct eddy_str *bytes,
			struct eddyi_ws_event *ret_event)
{
	struct eddyi_ws_frame *frame = &input->frame;
	uint64_t at = input->arrived;
	struct eddy_str part;
	int r;

	*ret_event = (struct eddyi_ws_event){ .kind = EDDYI_WS_NOTHING };
	if (!input->in_frame) {
		r = bytes->len ? take_head(input, bytes) : 0;
		if (r > 0)
			r = begin_frame(input);
		if (r <= 0)
			return r;
		at = 0;
	}
	part = eddy_str(bytes->ptr, bytes->len < frame->len - at ? bytes->len : frame->len - at);
	*bytes = eddy_str_skip(*bytes, part.len);
	input->arrived = at + part.len;
	input->in_frame = input->arrived < frame->len;
	if (eddyi_ws_is_control(frame->opcode)) {
		memcpy(input->bytes + at, part.ptr, part.len);
		if (input->in_frame)
			return 0;
		eddyi_ws_mask(input->bytes, input->bytes, frame->len, frame->mask, 0);
		ret_event->kind = EDDYI_WS_CONTROL;
		ret_event->opcode = frame->opcode;
		ret_event->bytes = eddy_str((char *)input->bytes, (size_t)frame->len);
		return 0;
	}
	if (!part.len && input->in_frame)
		return 0;
	*ret_event = (struct eddyi_ws_event){
		.kind = EDDYI_WS_PIECE,
		.opcode = input->message,
		.bytes = part,
		.at = at,
		.is_last = !input->in_frame && frame->fin,
	};
	if (ret_event->is_last)
		input->message = 0;
	return 0;
}

int eddyi_ws_close_read(struct eddy_str payload)
{
	unsigned code;

	if (!payload.len)
		return 1005;
	if (payload.len < 2)
		return -EPROTO;
	code = (unsigned)(unsigned char)payload.ptr[0] << 8 | (unsigned char)payload.ptr[1];
	if (!eddyi_ws_is_code(code))
		return -EPROTO;
	return eddyi_str_is_utf8(eddy_str_skip(payload, 2)) ? (int)code : -EILSEQ;
}
