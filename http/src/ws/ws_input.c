#include "ws_input.h"

#include <eddy/internal/text.h>
#include <errno.h>
#include <string.h>

static struct eddy_str take(struct eddy_str *bytes, uint64_t most)
{
	struct eddy_str taken = eddy_str(bytes->ptr, bytes->len < most ? bytes->len : most);

	*bytes = eddy_str_skip(*bytes, taken.len);
	return taken;
}

/* Parse a head of which a part may have arrived before. Return: as eddyi_ws_frame_parse(). */
static int take_head(struct eddyi_ws_input *input, struct eddy_str *bytes)
{
	struct eddy_str all = *bytes;
	size_t before = input->head_len;
	int r;

	if (before) {
		size_t room = sizeof(input->head) - before;

		memcpy(input->head + before, bytes->ptr, bytes->len < room ? bytes->len : room);
		all = eddy_str((char *)input->head,
			       before + (bytes->len < room ? bytes->len : room));
	}
	r = eddyi_ws_frame_parse(all, &input->frame);
	if (r > 0) {
		*bytes = eddy_str_skip(*bytes, (size_t)r - before);
		input->head_len = 0;
	} else if (r == 0) {
		/* Less than a head. */
		if (!before)
			memcpy(input->head, all.ptr, all.len);
		input->head_len = (uint8_t)all.len;
		*bytes = eddy_str_skip(*bytes, bytes->len);
	}
	return r;
}

/* Check a frame within its message. Return: 0, -EPROTO, -EMSGSIZE. */
static int begin_frame(struct eddyi_ws_input *input)
{
	const struct eddyi_ws_frame *frame = &input->frame;
	bool goes_on = frame->opcode == EDDYI_WS_CONTINUATION;

	if (frame->masked != input->is_server)
		return -EPROTO;
	if (eddyi_ws_is_control(frame->opcode))
		return 0;
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
	return 0;
}

/* Collect the payload of a control frame. Return: whether it is complete. */
static bool take_control(struct eddyi_ws_input *input, struct eddy_str *bytes)
{
	const struct eddyi_ws_frame *frame = &input->frame;
	struct eddy_str part = take(bytes, frame->len - input->arrived);

	memcpy(input->control + input->arrived, part.ptr, part.len);
	input->arrived += part.len;
	if (input->arrived < frame->len)
		return false;
	eddyi_ws_mask(input->control, input->control, frame->len, frame->mask, 0);
	return true;
}

int eddyi_ws_input_next(struct eddyi_ws_input *input, struct eddy_str *bytes,
			struct eddyi_ws_event *ret_event)
{
	struct eddyi_ws_frame *frame = &input->frame;
	int r;

	*ret_event = (struct eddyi_ws_event){ .kind = EDDYI_WS_NOTHING };
	if (!input->in_frame) {
		r = bytes->len ? take_head(input, bytes) : 0;
		if (r <= 0)
			return r;
		r = begin_frame(input);
		if (r < 0)
			return r;
		input->in_frame = true;
		input->arrived = 0;
	}
	if (eddyi_ws_is_control(frame->opcode)) {
		if (!take_control(input, bytes))
			return 0;
		input->in_frame = false;
		*ret_event = (struct eddyi_ws_event){
			.kind = EDDYI_WS_CONTROL,
			.opcode = frame->opcode,
			.bytes = eddy_str((char *)input->control, (size_t)frame->len),
		};
		return 0;
	}
	*ret_event = (struct eddyi_ws_event){
		.kind = EDDYI_WS_PIECE,
		.opcode = input->message,
		.at = input->arrived,
		.bytes = take(bytes, frame->len - input->arrived),
	};
	input->arrived += ret_event->bytes.len;
	input->in_frame = input->arrived < frame->len;
	ret_event->is_last = !input->in_frame && frame->fin;
	if (ret_event->is_last)
		input->message = 0;
	else if (!ret_event->bytes.len && input->in_frame)
		ret_event->kind = EDDYI_WS_NOTHING;
	return 0;
}

int eddyi_ws_close_read(struct eddy_str payload, unsigned *ret_code, struct eddy_str *ret_reason)
{
	*ret_code = 1005;
	*ret_reason = eddy_str(payload.ptr, 0);
	if (!payload.len)
		return 0;
	if (payload.len < 2)
		return -EPROTO;
	*ret_code = (unsigned)(unsigned char)payload.ptr[0] << 8 | (unsigned char)payload.ptr[1];
	*ret_reason = eddy_str_skip(payload, 2);
	if (!eddyi_ws_is_code(*ret_code))
		return -EPROTO;
	return eddyi_str_is_utf8(*ret_reason) ? 0 : -EILSEQ;
}
