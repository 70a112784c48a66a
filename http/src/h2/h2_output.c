#include "h2_output.h"

#include "h2_calm.h"
#include "h2.h"

#include <stdlib.h>

/* Room for a frame that is not DATA, which the session hands out in one piece. */
#define FRAME_ROOM ((size_t)(17 * EDDY_KIB))
/* Data of one output: small until there is more. */
#define DATA_ROOM ((size_t)(EDDYI_H2_FRAME_HEAD + EDDYI_H2_DATA_MAX))
#define SMALL (2 * DATA_ROOM)
#define BULK (16 * DATA_ROOM)
/* Limit of what one connection sends in a turn of the loop. */
#define TURN_MAX ((size_t)EDDY_MIB)
/* Where a file can't be gathered, so much of it is copied before it is tried again. */
#define COPY_STEP (256 * EDDY_KIB)

/* ---- packing ---- */

static bool is_gathering(const struct eddyi_h2 *h2)
{
	return h2->gather && h2->gather->pipe;
}

static size_t room_of(const struct eddyi_h2 *h2)
{
	return is_gathering(h2) ? eddyi_gather_room(h2->gather) : h2->output_size - h2->output_len;
}

static bool allocate(struct eddyi_h2 *h2)
{
	size_t size = (h2->is_bulk ? BULK : SMALL) + h2->large.len + FRAME_ROOM;

	h2->output = malloc(size);
	h2->output_at = h2->output_len = 0;
	h2->output_size = h2->output ? size : 0;
	h2->is_bulk = false;
	return h2->output;
}

static void free_output(struct eddyi_h2 *h2)
{
	free(h2->output);
	h2->output = NULL;
	h2->output_at = h2->output_len = h2->output_size = 0;
}

static void put(struct eddyi_h2 *h2, struct eddy_str bytes)
{
	if (is_gathering(h2)) {
		eddyi_gather_add(h2->gather, bytes);
		return;
	}
	memcpy(h2->output + h2->output_len, bytes.ptr, bytes.len);
	h2->output_len += bytes.len;
}

/* Whether there may be room for another frame. */
static bool has_room(const struct eddyi_h2 *h2)
{
	return room_of(h2) >= (is_gathering(h2) ? EDDYI_H2_FRAME_HEAD : FRAME_ROOM);
}

void eddyi_h2_output_pack(struct eddyi_h2 *h2)
{
	const uint8_t *bytes;
	ssize_t len = 0;

	if (h2->over || h2->failed || (!h2->large.len && !nghttp2_session_want_write(h2->session)))
		return;
	/* A frame that was larger than the room goes first. */
	if (h2->large.len && h2->output)
		return;
	/* Without memory for a frame, nothing can follow it. */
	h2->failed = !h2->output && !allocate(h2);
	if (h2->large.len && !h2->failed)
		put(h2, h2->large);
	h2->large.len = 0;
	while (!h2->failed && has_room(h2) &&
	       (len = nghttp2_session_mem_send(h2->session, &bytes))) {
		h2->failed = len < 0;
		if (h2->failed)
			break;
		/* They stay valid until the session is asked again. */
		h2->large = eddy_str((const char *)bytes, (size_t)len);
		if (h2->large.len > room_of(h2))
			break;
		put(h2, h2->large);
		h2->large.len = 0;
	}
}

/* Whether frames may be gathered: what the socket has no room for would be copied, and frames that
 * are packed already have to fit. */
static bool may_gather(struct eddyi_h2 *h2, size_t *ret_room)
{
	*ret_room = eddyi_wire_room(&h2->conn->wire);
	h2->sender.awaits_room = !*ret_room && !h2->output_len;
	return *ret_room && h2->output_len <= EDDYI_GATHER_ROOM;
}

static bool begin_to_gather(struct eddyi_h2 *h2, size_t most)
{
	if (!eddyi_gather_begin(h2->gather, most))
		return false;
	put(h2, eddy_str(h2->output, h2->output_len));
	h2->output_len = 0;
	return true;
}

/* Find up to `len` bytes of a file for a frame that is gathered with others.
 * Return: bytes; 0 if they have to be copied; NGHTTP2_ERR_PAUSE if other frames go first. */
static ssize_t gather(struct eddyi_h2_stream *stream, size_t len)
{
	struct eddyi_h2 *h2 = stream->h2;
	bool begun = is_gathering(h2);
	size_t room = 0;

	/* Without the sender, only little is put into the output. */
	if (!h2->gather || (!begun && !may_gather(h2, &room)))
		return NGHTTP2_ERR_PAUSE;
	h2->found = eddyi_h2_stream_find(stream, len, !begun);
	if (!h2->found.len && begun)
		return NGHTTP2_ERR_PAUSE;
	if (!h2->found.len || (!begun && !begin_to_gather(h2, room))) {
		h2->found.len = 0;
		stream->copied_until = stream->file->moved + COPY_STEP;
		return 0;
	}
	room = eddyi_gather_room_for(h2->gather, EDDYI_H2_FRAME_HEAD, &h2->found);
	if (len > room && room >= EDDYI_H2_DATA_MAX)
		len = room;
	if (len > room) {
		h2->found.len = 0;
		return NGHTTP2_ERR_PAUSE;
	}
	return (ssize_t)eddyi_h2_stream_skip(stream, len);
}

/* Copy up to `len` bytes behind the place of the frame's head. Return: bytes; NGHTTP2_ERR_PAUSE,
 * likewise; NGHTTP2_ERR_DEFERRED if there are none for now. */
static ssize_t copy(struct eddyi_h2_stream *stream, size_t len)
{
	struct eddyi_h2 *h2 = stream->h2;
	ssize_t taken;

	if (is_gathering(h2))
		return NGHTTP2_ERR_PAUSE;
	if (len > EDDYI_H2_DATA_MAX)
		len = EDDYI_H2_DATA_MAX;
	if (room_of(h2) < EDDYI_H2_FRAME_HEAD + len + FRAME_ROOM) {
		h2->is_bulk = true;
		return NGHTTP2_ERR_PAUSE;
	}
	taken = eddyi_h2_stream_take(stream, h2->output + h2->output_len + EDDYI_H2_FRAME_HEAD,
				     len);
	stream->deferred = taken < 0;
	return taken < 0 ? NGHTTP2_ERR_DEFERRED : taken;
}

ssize_t eddyi_h2_output_read(nghttp2_session *session, int32_t id, uint8_t *buf, size_t len,
			     uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct eddyi_h2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
	ssize_t taken;

	(void)buf;
	(void)source;
	(void)arg;
	if (!stream)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	taken = eddyi_h2_stream_may_gather(stream) ? gather(stream, len) : 0;
	if (!taken)
		taken = copy(stream, len);
	if (taken >= 0)
		*flags |= NGHTTP2_DATA_FLAG_NO_COPY;
	if (taken >= 0 && stream->has_ended)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return taken;
}

int eddyi_h2_output_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head,
			 size_t len, nghttp2_data_source *source, void *arg)
{
	struct eddyi_h2_stream *stream =
		nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	struct eddyi_h2 *h2 = arg;

	(void)source;
	put(h2, eddy_str((const char *)head, EDDYI_H2_FRAME_HEAD));
	if (h2->found.len)
		eddyi_gather_add_found(h2->gather, &h2->found, len);
	else
		h2->output_len += len;
	h2->found.len = 0;
	if (len >= EDDYI_H2_DATA_MIN || !eddyi_h2_stream_has_more(stream))
		eddyi_h2_calm_forget(h2, len);
	return 0;
}

void eddyi_h2_output_resume(struct eddyi_h2_stream *stream)
{
	if (!stream->deferred || stream->closed)
		return;
	stream->deferred = false;
	eddyi_h2_session_check(stream->h2,
			       nghttp2_session_resume_data(stream->h2->session, stream->id));
}

/* ---- sending ---- */

static struct eddyi_h2 *h2_of(struct eddyi_sender *sender)
{
	return eddy_of(sender, struct eddyi_h2, sender);
}

static void sent(struct eddyi_h2 *h2, size_t len)
{
	h2->turn_left -= len < h2->turn_left ? len : h2->turn_left;
	h2->conn->wire.sent += len;
	eddy_timeout_touch(&h2->conn->wire.timeout);
}

/* Send what was gathered. The output gets what the socket does not take. */
static void send_gathered(struct eddyi_h2 *h2, struct eddyi_gather *gather)
{
	struct eddy_str rest;

	free_output(h2);
	h2->failed |= eddyi_gather_send(gather, h2->conn->wire.fd, &rest) < 0;
	sent(h2, gather->len - rest.len);
	h2->sender.is_full |= rest.len;
	h2->output = (char *)rest.ptr;
	h2->output_len = h2->output_size = rest.len;
}

/* Pack frames, of which those are sent at once that can be gathered. */
static void pack_and_gather(struct eddyi_h2 *h2)
{
	bool has_gathered = true;

	while (has_gathered && h2->turn_left && h2->output_at == h2->output_len) {
		struct eddyi_gather gather;

		gather.pipe = NULL;
		free_output(h2);
		h2->gather = &gather;
		eddyi_h2_output_pack(h2);
		h2->gather = NULL;
		has_gathered = gather.pipe;
		if (has_gathered)
			send_gathered(h2, &gather);
	}
}

static struct eddy_str next(struct eddyi_sender *sender)
{
	struct eddyi_h2 *h2 = h2_of(sender);

	sender->awaits_room = false;
	if (h2->output_at == h2->output_len) {
		free_output(h2);
		pack_and_gather(h2);
	}
	if (!h2->output)
		return EDDY_STR("");
	return eddy_str(h2->output + h2->output_at, h2->output_len - h2->output_at);
}

static void take(struct eddyi_sender *sender, size_t len)
{
	struct eddyi_h2 *h2 = h2_of(sender);

	h2->output_at += len;
	sent(h2, len);
}

static void ended(struct eddyi_sender *sender, int error)
{
	struct eddyi_h2 *h2 = h2_of(sender);

	if (error < 0)
		eddyi_h2_abort(h2);
	else
		eddyi_h2_output_send(h2);
	eddyi_h2_settle(h2);
}

static const struct eddyi_sender_verbs verbs = { next, take, ended };

static void flush(struct eddy_timer *timer)
{
	struct eddyi_h2 *h2 = eddy_of(timer, struct eddyi_h2, flush);

	eddyi_h2_output_send(h2);
	eddyi_h2_settle(h2);
}

void eddyi_h2_output_init(struct eddyi_h2 *h2)
{
	h2->flush.fire = flush;
	h2->sender.verbs = &verbs;
	h2->sender.wire = &h2->conn->wire;
}

void eddyi_h2_output_deinit(struct eddyi_h2 *h2)
{
	eddy_timer_disarm(&h2->flush);
	free_output(h2);
}

bool eddyi_h2_output_is_empty(const struct eddyi_h2 *h2)
{
	return h2->output_at == h2->output_len && !h2->large.len &&
	       !nghttp2_session_want_write(h2->session);
}

void eddyi_h2_output_send_soon(struct eddyi_h2 *h2)
{
	if (!h2->over && !eddyi_sender_is_busy(&h2->sender) && !eddy_timer_is_armed(&h2->flush))
		eddy_timer_arm(&h2->flush, eddy_loop_now());
}

void eddyi_h2_output_send(struct eddyi_h2 *h2)
{
	if (h2->over)
		return;
	h2->turn_left = TURN_MAX;
	eddyi_sender_flow(&h2->sender);
	if (!h2->turn_left)
		eddyi_h2_output_send_soon(h2);
	if (h2->failed)
		eddyi_h2_abort(h2);
}
