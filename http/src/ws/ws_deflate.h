/* ws_deflate.h: the payload of messages by permessage-deflate (RFC 7692 section 7.2), with zlib.
 *
 * Where messages do not refer to those before, nothing is kept between them: a loop has one stream
 * of zlib for each direction, which messages borrow. Otherwise a socket has streams of its own:
 * about 300 KiB to send, 40 KiB to receive. */
#ifndef EDDYI_WS_DEFLATE_H
#define EDDYI_WS_DEFLATE_H

#include "ws_extension.h"

struct eddyi_ws_stream;

/* One direction. */
struct eddyi_ws_deflate {
	struct eddyi_ws_side side;
	bool inflates;
	int level;                      /* 0 if it inflates */
	struct eddyi_ws_stream *stream; /* NULL: between messages that are independent */
};

void eddyi_ws_deflate_deinit(struct eddyi_ws_deflate *deflate);

/* Bytes that grow. */
struct eddyi_ws_buffer {
	char *bytes; /* owned; NULL if empty */
	size_t len;
	size_t size;
};

/* Make room for `more` bytes. Return: 0, -ENOMEM. */
int eddyi_ws_buffer_grow(struct eddyi_ws_buffer *buffer, size_t more);
void eddyi_ws_buffer_deinit(struct eddyi_ws_buffer *buffer);

/* Compress or expand the next bytes of a message, and append the result to `out`, which then has at
 * most `max` bytes. Never suspends.
 * Return: 0; -EMSGSIZE beyond `max`; -ENOMEM; -EBADMSG if they are no deflate stream, or many that
 * are short. */
int eddyi_ws_deflate_feed(struct eddyi_ws_deflate *deflate, struct eddy_str bytes, bool is_last,
			  struct eddyi_ws_buffer *out, uint64_t max);

#endif
