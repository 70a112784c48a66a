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

/* ---- packing ---- */

static size_t room_of(const struct eddyi_h2 *h2)
{
	return h2->output_size - h2->output_len;
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

static bool is_splicing(const struct eddyi_h2 *h2)
{
	return h2->splicer && h2->splicer->splice == EDDYI_H2_SPLICE_DUE;
}

static void put(struct eddyi_h2 *h2, struct eddy_str bytes)
{
	memcpy(h2->output + h2->output_len, bytes.ptr, bytes.len);
	h2->output_len += bytes.len;
}

void eddyi_h2_output_pack(struct eddyi_h2 *h2)
{
	const uint8_t *bytes;
	ssize_t len = 0;

	if (h2->over || h2->failed || is_splicing(h2) ||
	    (!h2->large.len && !nghttp2_session_want_write(h2->session)))
		return;
	/* A frame that was larger than the room goes first. */
	if (h2->large.len && h2->output)
		return;
	/* Without memory for a frame, nothing can follow it. */
	h2->failed = !h2->output && !allocate(h2);
	if (h2->large.len && !h2->failed)
		put(h2, h2->large);
	h2->large.len = 0;
	while (!h2->failed && room_of(h2) >= FRAME_ROOM &&
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

ssize_t eddyi_h2_output_read(nghttp2_session *session, int32_t id, uint8_t *buf, size_t len,
			     uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct eddyi_h2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
	struct eddyi_h2 *h2 = arg;
	int64_t window = eddyi_h2_output_window(h2);
	ssize_t taken;

	(void)buf;
	(void)source;
	if (!stream)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	if (window <= 0)
		return NGHTTP2_ERR_PAUSE;
	len = len < (size_t)window ? len : (size_t)window;
	if (eddyi_h2_stream_can_splice(stream, len)) {
		taken = (ssize_t)eddyi_h2_stream_splice(stream, len);
		*flags |= NGHTTP2_DATA_FLAG_NO_COPY;
		*flags |= stream->has_ended ? NGHTTP2_DATA_FLAG_EOF : 0;
		return taken;
	}
	if (len > EDDYI_H2_DATA_MAX)
		len = EDDYI_H2_DATA_MAX;
	if (room_of(h2) < EDDYI_H2_FRAME_HEAD + len + FRAME_ROOM) {
		h2->is_bulk = true;
		return NGHTTP2_ERR_PAUSE;
	}
	taken = eddyi_h2_stream_take(stream, h2->output + h2->output_len + EDDYI_H2_FRAME_HEAD,
				     len);
	if (taken < 0) {
		stream->deferred = true;
		return NGHTTP2_ERR_DEFERRED;
	}
	*flags |= NGHTTP2_DATA_FLAG_NO_COPY;
	if (stream->has_ended)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return taken;
}

/* Have its task send a frame, and ask again until it is done. */
static int send_spliced(struct eddyi_h2_stream *stream, const uint8_t *head)
{
	struct eddyi_h2 *h2 = stream->h2;
	bool sent = stream->splice == EDDYI_H2_SPLICE_SENT;

	if (stream->splice == EDDYI_H2_SPLICE_ASKED) {
		memcpy(stream->frame_head, head, EDDYI_H2_FRAME_HEAD);
		stream->splice = EDDYI_H2_SPLICE_DUE;
		h2->splicer = stream;
		eddy_event_set(&stream->flowed);
	}
	if (stream->splice == EDDYI_H2_SPLICE_DUE)
		return NGHTTP2_ERR_WOULDBLOCK;
	stream->splice = EDDYI_H2_SPLICE_NONE;
	h2->splicer = NULL;
	if (sent)
		eddyi_h2_calm_forget(h2, stream->splice_len);
	return sent ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

int eddyi_h2_output_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head,
			 size_t len, nghttp2_data_source *source, void *arg)
{
	struct eddyi_h2_stream *stream =
		nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	struct eddyi_h2 *h2 = arg;

	(void)source;
	/* Its task has ended: the frame was not sent. */
	if (!stream)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	if (stream->splice != EDDYI_H2_SPLICE_NONE)
		return send_spliced(stream, head);
	memcpy(h2->output + h2->output_len, head, EDDYI_H2_FRAME_HEAD);
	h2->output_len += EDDYI_H2_FRAME_HEAD + len;
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

static struct eddy_str next(struct eddyi_sender *sender)
{
	struct eddyi_h2 *h2 = h2_of(sender);

	if (h2->output_at == h2->output_len) {
		free_output(h2);
		if (is_splicing(h2))
			eddy_event_set(&h2->splicer->flowed);
		else if (h2->turn_left)
			eddyi_h2_output_pack(h2);
	}
	if (!h2->output)
		return EDDY_STR("");
	return eddy_str(h2->output + h2->output_at, h2->output_len - h2->output_at);
}

static void take(struct eddyi_sender *sender, size_t len)
{
	struct eddyi_h2 *h2 = h2_of(sender);

	h2->output_at += len;
	h2->turn_left -= len < h2->turn_left ? len : h2->turn_left;
	h2->conn->wire.sent += len;
	eddy_timeout_touch(&h2->conn->wire.timeout);
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
	return h2->output_at == h2->output_len && !h2->large.len && !h2->splicer &&
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
