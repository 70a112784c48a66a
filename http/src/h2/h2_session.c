/* The session of a connection: its settings, and the frames that arrive. */
#include "h2.h"

#include "h2_calm.h"
#include "h2_output.h"

#include <errno.h>

static struct eddyi_h2_stream *find(nghttp2_session *session, int32_t id)
{
	return nghttp2_session_get_stream_user_data(session, id);
}

/* Frames of unknown types are counted as they begin, and ignored. */
static int ignore_frame(nghttp2_session *session, void **payload, const nghttp2_frame_hd *frame,
			void *arg)
{
	(void)session;
	(void)payload;
	(void)frame;
	(void)arg;
	return NGHTTP2_ERR_CANCEL;
}

/* Refuse a stream: its request is not handled, and may be repeated. */
static void refuse(struct eddyi_h2 *h2, int32_t id)
{
	eddyi_conn_count(h2->conn->parked.conns, h2_refused);
	eddyi_h2_session_check(h2, nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, id,
							     NGHTTP2_REFUSED_STREAM));
}

/* After a reset, frames of that stream may still be under way (RFC 9113 section 5.1). */
#define RESET_NS (60 * EDDY_SECOND)

#define GOAWAY_MAX (16 * EDDY_KIB)

static bool has_ended(const struct eddyi_h2 *h2, int32_t id)
{
	return id <= nghttp2_session_get_last_proc_stream_id(h2->session) &&
	       !nghttp2_session_find_stream(h2->session, id);
}

/* Judge a frame of a stream that has ended: the session forgets such streams, without the priorities
 * of RFC 7540. Return: whether it may have been sent before a reset arrived. */
static bool is_under_way(struct eddyi_h2 *h2)
{
	bool is_late = h2->reset_ns && eddy_loop_now() - h2->reset_ns < RESET_NS;

	if (!is_late)
		h2->verdict = NGHTTP2_STREAM_CLOSED;
	return is_late;
}

/* Count frames here that the session may ignore, and find what it does not. */
static int begin_frame(nghttp2_session *session, const nghttp2_frame_hd *frame, void *arg)
{
	struct eddyi_h2 *h2 = arg;

	(void)session;
	switch (frame->type) {
	case NGHTTP2_HEADERS:
		if (has_ended(h2, frame->stream_id) && is_under_way(h2))
			eddyi_h2_calm_count(h2);
		break;
	case NGHTTP2_PRIORITY:
		eddyi_h2_calm_count(h2);
		if (!frame->stream_id)
			h2->verdict = NGHTTP2_PROTOCOL_ERROR;
		break;
	case NGHTTP2_GOAWAY:
		eddyi_h2_calm_count(h2);
		if (frame->length <= GOAWAY_MAX)
			break;
		/* The session would keep what it says. */
		h2->verdict = NGHTTP2_FRAME_SIZE_ERROR;
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	case NGHTTP2_CONTINUATION:
		if (frame->length < EDDYI_H2_DATA_MIN)
			eddyi_h2_calm_count(h2);
		break;
	case NGHTTP2_WINDOW_UPDATE:
	case NGHTTP2_PRIORITY_UPDATE:
		eddyi_h2_calm_count_update(h2);
		break;
	default:
		if (frame->type > NGHTTP2_CONTINUATION)
			eddyi_h2_calm_count(h2);
	}
	return 0;
}

/* A response without a body. */
static void have_ended(struct eddyi_h2 *h2, struct eddyi_h2_stream *stream)
{
	eddyi_h2_calm_forget(h2, 0);
	if (!stream)
		return;
	stream->has_ended = true;
	eddy_event_set(&stream->flowed);
}

/* What TLS adds to a frame, at most. */
#define RECORD_MAX 64

static int sent_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	struct eddyi_h2 *h2 = arg;

	if (frame->hd.type == NGHTTP2_PING || frame->hd.type == NGHTTP2_SETTINGS)
		h2->chatter += EDDYI_H2_FRAME_HEAD + frame->hd.length + RECORD_MAX;
	if (frame->hd.type == NGHTTP2_RST_STREAM)
		h2->reset_ns = eddy_loop_now();
	if (frame->hd.type == NGHTTP2_HEADERS && frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
		have_ended(h2, find(session, frame->hd.stream_id));
	/* The PING is queued behind GOAWAY, since the session sends PING frames first. */
	if (frame->hd.type == NGHTTP2_GOAWAY && h2->stopping && !h2->leaving)
		return nghttp2_submit_ping(session, NGHTTP2_FLAG_NONE, NULL);
	return 0;
}

/* A head that can't be encoded. */
static int have_not_sent(nghttp2_session *session, const nghttp2_frame *frame, int error, void *arg)
{
	(void)error;
	(void)arg;
	if (frame->hd.type == NGHTTP2_HEADERS &&
	    nghttp2_session_find_stream(session, frame->hd.stream_id))
		return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
						 NGHTTP2_INTERNAL_ERROR);
	return 0;
}

static int begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	struct eddyi_h2 *h2 = arg;
	struct eddyi_h2_stream *stream = NULL;

	if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	/* Requests whose streams have been reset may still be in progress. */
	if (h2->tasks < EDDYI_H2_STREAMS_MAX)
		stream = eddyi_h2_stream_new(h2, frame->hd.stream_id);
	if (stream) {
		nghttp2_session_set_stream_user_data(session, stream->id, stream);
		return 0;
	}
	eddyi_h2_calm_count(h2);
	refuse(h2, frame->hd.stream_id);
	return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

/* Fields of more than this many times .header_block_max end the connection: a client repeats a large
 * one by a byte, and each takes time. */
#define FIELDS_MAX 4

static bool is_flood(struct eddyi_h2_stream *stream, size_t len)
{
	stream->heard += len;
	return stream->heard / FIELDS_MAX > stream->req.app->head_limits.header_block_max;
}

/* Trailers are not kept. */
static int have_field(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		      size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
		      void *arg)
{
	struct eddyi_h2_stream *stream = find(session, frame->hd.stream_id);

	(void)flags;
	if (stream && is_flood(stream, name_len + value_len)) {
		stream->h2->verdict = NGHTTP2_ENHANCE_YOUR_CALM;
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	}
	if (!stream || frame->headers.cat != NGHTTP2_HCAT_REQUEST ||
	    eddyi_h2_head_add(stream, eddy_str((const char *)name, name_len),
			      eddy_str((const char *)value, value_len)) == 0)
		return 0;
	refuse(arg, frame->hd.stream_id);
	return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static void have_headers(nghttp2_session *session, const nghttp2_frame *frame, bool ends)
{
	struct eddyi_h2_stream *stream = find(session, frame->hd.stream_id);

	if (!stream || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return;
	eddyi_h2_head_end(stream, !ends);
	if (eddyi_h2_stream_start(stream) < 0)
		refuse(stream->h2, frame->hd.stream_id);
}

/* The client has seen the first GOAWAY: what it asks for from now on is not handled. */
static int have_notified(struct eddyi_h2 *h2)
{
	nghttp2_session *session = h2->session;
	bool is_last = h2->stopping && !h2->leaving;

	if (!is_last)
		return 0;
	h2->notified = h2->leaving = true;
	return nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE,
				     nghttp2_session_get_last_proc_stream_id(session),
				     NGHTTP2_NO_ERROR, NULL, 0);
}

static int have_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	bool ends = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
	struct eddyi_h2 *h2 = arg;
	struct eddyi_h2_stream *stream;

	switch (frame->hd.type) {
	case NGHTTP2_HEADERS:
		have_headers(session, frame, ends);
		break;
	case NGHTTP2_DATA:
		break; /* its bytes: have_data() */
	case NGHTTP2_PING:
		eddyi_h2_calm_count(h2);
		return frame->hd.flags & NGHTTP2_FLAG_ACK ? have_notified(h2) : 0;
	case NGHTTP2_SETTINGS:
		if (!(frame->hd.flags & NGHTTP2_FLAG_ACK))
			eddyi_h2_calm_count(h2);
		return 0;
	case NGHTTP2_RST_STREAM:
		eddyi_conn_count(h2->conn->parked.conns, h2_reset);
		eddyi_h2_calm_count(h2);
		return 0;
	default:
		return 0;
	}
	stream = ends ? find(session, frame->hd.stream_id) : NULL;
	if (stream) {
		stream->inbox.complete = true;
		eddy_event_set(&stream->arrived);
	}
	return 0;
}

static int have_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
		     size_t len, void *arg)
{
	struct eddyi_h2_stream *stream = find(session, id);

	(void)flags;
	(void)arg;
	if (stream && eddyi_h2_stream_receive(stream, eddy_str((const char *)bytes, len)))
		return nghttp2_session_consume_connection(session, len);
	return nghttp2_session_consume(session, id, len);
}

static int have_invalid_frame(nghttp2_session *session, const nghttp2_frame *frame, int error,
			      void *arg)
{
	(void)session;
	(void)frame;
	(void)error;
	eddyi_h2_calm_count(arg);
	return 0;
}

static int stream_closed(nghttp2_session *session, int32_t id, uint32_t error, void *arg)
{
	struct eddyi_h2_stream *stream = find(session, id);

	(void)arg;
	if (stream)
		eddyi_h2_stream_close(stream, error != NGHTTP2_NO_ERROR);
	return 0;
}

static int widen(nghttp2_session *session, int32_t id, int32_t window)
{
	return nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, id, window);
}

void eddyi_h2_session_check(struct eddyi_h2 *h2, int error)
{
	if (!nghttp2_is_fatal(error))
		return;
	h2->failed = true;
	eddyi_h2_output_send_soon(h2);
}

/* Let a client that sends much send it in larger frames, with larger windows. */
static int grow(nghttp2_session *session)
{
	const nghttp2_settings_entry frame = { NGHTTP2_SETTINGS_MAX_FRAME_SIZE,
					       EDDYI_H2_FRAME_MAX };
	int r = nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, &frame, 1);

	return r == 0 ? widen(session, 0, EDDYI_H2_WINDOW_MAX) : r;
}

void eddyi_h2_session_took(struct eddyi_h2_stream *stream, size_t len)
{
	struct eddyi_h2 *h2 = stream->h2;
	nghttp2_session *session = h2->session;
	uint64_t took = stream->body.took;
	int r = 0;

	h2->took += len;
	if (h2->took >= EDDYI_H2_WINDOW && h2->took - len < EDDYI_H2_WINDOW)
		r = grow(session);
	if (r == 0 && !stream->closed && took >= EDDYI_H2_STREAM_WINDOW &&
	    took - len < EDDYI_H2_STREAM_WINDOW)
		r = widen(session, stream->id, EDDYI_H2_STREAM_WINDOW_MAX);
	if (r == 0 && !stream->closed)
		r = nghttp2_session_consume_stream(session, stream->id, len);
	eddyi_h2_session_check(h2, r);
	if (nghttp2_session_want_write(session))
		eddyi_h2_output_send_soon(h2);
}

/* Judge a DATA frame by its header: the session ignores those of streams that have ended, and calls
 * nothing. */
static void count_data(struct eddyi_h2 *h2, const uint8_t head[EDDYI_H2_FRAME_HEAD], size_t len)
{
	int32_t id = (int32_t)(((uint32_t)head[5] << 24 | (uint32_t)head[6] << 16 |
				(uint32_t)head[7] << 8 | head[8]) &
			       INT32_MAX);

	if (!len && !(head[4] & NGHTTP2_FLAG_END_STREAM))
		eddyi_h2_calm_count(h2);
	else if (has_ended(h2, id) && is_under_way(h2) && len < EDDYI_H2_DATA_MIN)
		eddyi_h2_calm_count_update(h2);
}

static void find_data(struct eddyi_h2 *h2, const char *bytes, size_t len)
{
	uint8_t *head = h2->frame_head;

	while (len) {
		size_t step = len < h2->frame_left ? len : h2->frame_left;

		if (step) {
			h2->frame_left -= step;
		} else {
			step = 1;
			head[h2->frame_head_len++] = (uint8_t)*bytes;
		}
		bytes += step;
		len -= step;
		if (h2->frame_head_len < EDDYI_H2_FRAME_HEAD)
			continue;
		h2->frame_head_len = 0;
		h2->frame_left = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
		if (head[3] == NGHTTP2_DATA)
			count_data(h2, head, h2->frame_left);
	}
}

int eddyi_h2_session_feed(struct eddyi_h2 *h2, const char *bytes, size_t len)
{
	ssize_t r;

	find_data(h2, bytes, len);
	r = nghttp2_session_mem_recv(h2->session, (const uint8_t *)bytes, len);
	if (r == NGHTTP2_ERR_FLOODED)
		h2->verdict = NGHTTP2_ENHANCE_YOUR_CALM;
	else if (r < 0 && !h2->verdict)
		h2->verdict = r == NGHTTP2_ERR_NOMEM ? NGHTTP2_INTERNAL_ERROR :
						       NGHTTP2_PROTOCOL_ERROR;
	/* Not within a call from the session. */
	if (h2->verdict && !h2->condemned) {
		h2->condemned = true;
		eddyi_h2_session_check(h2,
				       nghttp2_session_terminate_session(h2->session, h2->verdict));
		if (h2->verdict == NGHTTP2_ENHANCE_YOUR_CALM)
			eddyi_conn_count(h2->conn->parked.conns, h2_calmed);
	}
	return r < 0 ? -EPROTO : 0;
}

/* ---- the beginning ---- */

/* The size of DATA frames, within the windows and what the client takes. */
static ssize_t frame_size(nghttp2_session *session, uint8_t type, int32_t id,
			  int32_t session_window, int32_t stream_window, uint32_t frame_max,
			  void *arg)
{
	const struct eddyi_h2_stream *stream = find(session, id);
	size_t size = frame_max, most = EDDYI_H2_DATA_MAX;

	(void)type;
	(void)arg;
	if (size > (size_t)session_window)
		size = (size_t)session_window;
	if (size > (size_t)stream_window)
		size = (size_t)stream_window;
	if (stream && eddyi_h2_stream_may_gather(stream))
		most = EDDYI_H2_BULK_MAX;
	return (ssize_t)(size < most ? size : most);
}

static nghttp2_session_callbacks *make_callbacks(void)
{
	nghttp2_session_callbacks *calls;

	if (nghttp2_session_callbacks_new(&calls) != 0)
		return NULL;
	nghttp2_session_callbacks_set_on_begin_frame_callback(calls, begin_frame);
	nghttp2_session_callbacks_set_on_frame_send_callback(calls, sent_frame);
	nghttp2_session_callbacks_set_on_frame_not_send_callback(calls, have_not_sent);
	nghttp2_session_callbacks_set_on_begin_headers_callback(calls, begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(calls, have_field);
	nghttp2_session_callbacks_set_on_frame_recv_callback(calls, have_frame);
	nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(calls, have_invalid_frame);
	nghttp2_session_callbacks_set_unpack_extension_callback(calls, ignore_frame);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, have_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(calls, stream_closed);
	nghttp2_session_callbacks_set_send_data_callback(calls, eddyi_h2_output_data);
	nghttp2_session_callbacks_set_data_source_read_length_callback(calls, frame_size);
	return calls;
}

static int make_session(struct eddyi_h2 *h2)
{
	nghttp2_session_callbacks *calls = make_callbacks();
	nghttp2_option *option = NULL;
	int r = calls ? nghttp2_option_new(&option) : NGHTTP2_ERR_NOMEM;

	if (r == 0) {
		nghttp2_option_set_no_auto_window_update(option, 1);
		nghttp2_option_set_builtin_recv_extension_type(option, NGHTTP2_PRIORITY_UPDATE);
		for (unsigned type = NGHTTP2_CONTINUATION + 1; type <= UINT8_MAX; type++)
			if (type != NGHTTP2_PRIORITY_UPDATE)
				nghttp2_option_set_user_recv_extension_type(option, (uint8_t)type);
		nghttp2_option_set_max_send_header_block_length(option, EDDYI_H2_HEAD_MAX);
		r = nghttp2_session_server_new2(&h2->session, calls, h2, option);
	}
	nghttp2_option_del(option);
	nghttp2_session_callbacks_del(calls);
	return r == 0 ? 0 : -ENOMEM;
}

int eddyi_h2_session_begin(struct eddyi_h2 *h2)
{
	const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, EDDYI_H2_STREAMS_MAX },
		{ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, EDDYI_H2_STREAM_WINDOW },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
		  (uint32_t)h2->conn->parked.conns->app->head_limits.header_block_max },
		{ NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1 },
	};
	int r = make_session(h2);

	h2->frame_left = NGHTTP2_CLIENT_MAGIC_LEN;
	if (r == 0 && (nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, settings,
					       sizeof(settings) / sizeof(*settings)) != 0 ||
		       nghttp2_session_set_local_window_size(h2->session, NGHTTP2_FLAG_NONE, 0,
							     EDDYI_H2_WINDOW) != 0))
		r = -ENOMEM;
	return r;
}
