/* Fuzzes http/src/message/multipart.h: the first byte chooses the pieces, the rest is a body with the
 * boundary "b". Read in pieces and whole it must give the same. */
#include "message/multipart.h"

#include <stdlib.h>

#define ROOM 65536

struct events {
	size_t len;
	int err;
	char text[ROOM];
};

static void put(struct events *events, const char *bytes, size_t len)
{
	if (len > ROOM - events->len)
		abort();
	if (len)
		memcpy(events->text + events->len, bytes, len);
	events->len += len;
}

static void read_body(struct eddyi_arena *arena, struct eddy_str body, size_t size,
		      struct events *events)
{
	const struct eddyi_multipart_options options = { .parts_max = 8, .headers_max = 256 };
	struct eddyi_multipart_event event;
	struct eddyi_multipart multipart;

	events->len = 0;
	events->err = 0;
	eddyi_multipart_init(&multipart, arena, EDDY_STR("b"), &options);
	while (body.len && !events->err) {
		size_t len = body.len < size ? body.len : size;
		char *exact = malloc(len);
		struct eddy_str piece = eddy_str(memcpy(exact, body.ptr, len), len);

		body = eddy_str_skip(body, len);
		do {
			events->err = eddyi_multipart_next(&multipart, &piece, &event);
			if (events->err)
				break;
			if (event.kind == EDDYI_MULTIPART_PART) {
				put(events, "{", 1);
				put(events, event.part.name.ptr, event.part.name.len);
				put(events, event.part.filename.ptr, event.part.filename.len);
			} else if (event.kind == EDDYI_MULTIPART_DATA) {
				if (!event.data.len)
					abort();
				put(events, event.data.ptr, event.data.len);
			} else if (event.kind != EDDYI_MULTIPART_MORE) {
				put(events, "}", 1);
			}
		} while (event.kind != EDDYI_MULTIPART_MORE);
		free(exact);
	}
	if (!events->err)
		events->err = eddyi_multipart_finish(&multipart);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct events whole, pieces;
	struct eddyi_arena arena = { 0 };
	struct eddy_str body, boundary;
	size_t len;

	if (!size || size > ROOM / 4)
		return 0;
	eddyi_multipart_boundary(eddy_str((const char *)data, size), &boundary);
	body = eddy_str((const char *)data + 1, size - 1);
	read_body(&arena, body, SIZE_MAX, &whole);
	read_body(&arena, body, 1 + data[0] % 16, &pieces);
	len = whole.len < pieces.len ? whole.len : pieces.len;
	if (whole.err != pieces.err || memcmp(whole.text, pieces.text, len) ||
	    (!whole.err && whole.len != pieces.len))
		abort();
	eddyi_arena_deinit(&arena);
	return 0;
}
