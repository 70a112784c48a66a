/* Fuzzes http/src/ws/ws_input.h and ws_deflate.h: frames in one piece give the same as byte by
 * byte. */
#include "ws/ws_deflate.h"
#include "ws/ws_input.h"

#include <stdlib.h>

#define MAX 65536

/* Everything that came: a checksum of messages and one of control frames, and how it ended. */
struct heard {
	uint64_t messages, controls;
	int error;
};

static void add(uint64_t *sum, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		*sum = (*sum ^ (unsigned char)bytes[i]) * 1099511628211u;
}

/* Return: 0, -errno. */
static int hear(struct heard *heard, const struct eddyi_ws_input *input,
		const struct eddyi_ws_event *event, struct eddyi_ws_deflate *inflate,
		struct eddyi_ws_buffer *message)
{
	size_t before = message->len;
	char *copy = malloc(event->bytes.len + 1);
	int r = 0;

	if (!copy)
		abort();
	if (event->kind == EDDYI_WS_CONTROL) {
		add(&heard->controls, (const char *)&event->opcode, 1);
		add(&heard->controls, event->bytes.ptr, event->bytes.len);
		free(copy);
		return 0;
	}
	eddyi_ws_input_copy(input, event, copy);
	if (input->is_compressed) {
		r = eddyi_ws_deflate_feed(inflate, eddy_str(copy, event->bytes.len), event->is_last,
					  message, MAX);
		if (r == 0 && message->len > before)
			add(&heard->messages, message->bytes + before, message->len - before);
	} else {
		add(&heard->messages, copy, event->bytes.len);
	}
	free(copy);
	if (event->is_last) {
		add(&heard->messages, event->opcode == 1 ? "text" : "data", 4);
		eddyi_ws_buffer_deinit(message);
	}
	return r;
}

static struct heard read_all(const char *bytes, size_t len, size_t piece, unsigned how)
{
	struct eddyi_ws_input input = { .is_server = how & 1, .may_compress = how & 2, .max = MAX };
	struct eddyi_ws_buffer message = { 0 };
	struct eddyi_ws_deflate inflate = { .side = { true, EDDYI_WS_WINDOW_MAX },
					    .inflates = true };
	struct heard heard = { 0 };

	while (len && heard.error == 0) {
		struct eddy_str rest = eddy_str(bytes, len < piece ? len : piece);
		struct eddyi_ws_event event;

		bytes += rest.len;
		len -= rest.len;
		do {
			heard.error = eddyi_ws_input_next(&input, &rest, &event);
			if (heard.error == 0 && event.kind != EDDYI_WS_NOTHING)
				heard.error = hear(&heard, &input, &event, &inflate, &message);
		} while (heard.error == 0 && (rest.len || event.kind != EDDYI_WS_NOTHING));
	}
	eddyi_ws_deflate_deinit(&inflate);
	eddyi_ws_buffer_deinit(&message);
	return heard;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heard whole, pieces;

	if (!size)
		return 0;
	whole = read_all((const char *)data + 1, size - 1, size, data[0]);
	pieces = read_all((const char *)data + 1, size - 1, 1 + (data[0] >> 2) % 8, data[0]);
	/* An error comes earlier or later within a message. */
	if (whole.controls != pieces.controls || (!whole.error != !pieces.error) ||
	    (!whole.error && whole.messages != pieces.messages))
		abort();
	return 0;
}
