/* HTTP/2 as the stream of a request, and the task that handles it. */
#include "h2.h"

#include "exchange/peer.h"
#include "exchange/req.h"
#include "exchange/res.h"
#include "h2_output.h"
#include "wire/tls_wire.h"

#include <eddy/internal/debug.h>
#include <eddy/internal/transfer.h>
#include <eddy/loop.h>
#include <eddy/scope.h>
#include <eddy/transfer.h>
#include <errno.h>
#include <stdlib.h>

/* Limit of received bytes that are gathered for a file rather than written as they are. */
#define GATHER_MAX ((size_t)(4 * EDDY_KIB))
#define PAGE ((size_t)(4 * EDDY_KIB))
/* Smaller parts of files are copied. */
#define BULK_MIN (8 * EDDY_KIB)
#define PAGES_MIN ((size_t)(32 * EDDY_KIB))
/* Read this much of a file at a time that is not in the page cache. */
#define COLD_STEP ((size_t)(64 * EDDY_KIB))

static struct eddyi_clocks *clocks_of(const struct eddyi_h2_stream *stream)
{
	return stream->h2->conn->wire.clocks;
}

/* Wait for the client, until the timeout. */
static int wait_for(struct eddyi_h2_stream *stream, struct eddy_event *event,
		    struct eddy_timeout_queue *queue, struct eddyi_flow *flow)
{
	int r;

	eddy_timeout_arm(&stream->timeout, queue);
	eddyi_pace_wait(&stream->pace, flow, clocks_of(stream));
	r = eddy_event_wait(event);
	eddyi_pace_go_on(&stream->pace);
	eddy_timeout_disarm(&stream->timeout);
	return r;
}

/* ---- the body of the request ---- */

static void body_expires(struct eddy_timeout *timeout)
{
	eddyi_exchange_expire(&eddy_of(timeout, struct eddyi_h2_stream, timeout)->req);
}

static int ask_for_body(struct eddyi_h2_stream *stream)
{
	int r;

	if (!stream->expects)
		return 0;
	stream->expects = false;
	/* An interim response can't follow the head. */
	if (stream->req.res.head_sent || stream->inbox.len || stream->inbox.complete ||
	    stream->closed)
		return 0;
	r = eddyi_h2_head_interim(stream, 100, NULL);
	eddyi_h2_output_send_soon(stream->h2);
	return r;
}

static void uncount(struct eddyi_h2_stream *stream, size_t len)
{
	eddyi_give_back_body_memory(stream->req.app, stream->stream.party, &stream->req.body_memory,
				    len);
}

bool eddyi_h2_stream_receive(struct eddyi_h2_stream *stream, struct eddy_str bytes)
{
	int error = -EBUSY;

	if (stream->body.error)
		return false;
	if (eddyi_take_body_memory(stream->req.app, stream->stream.party, &stream->req.body_memory,
				   bytes.len)) {
		if (eddyi_h2_inbox_add(&stream->inbox, bytes)) {
			stream->h2->received += bytes.len;
			eddy_event_set(&stream->arrived);
			return true;
		}
		error = -ENOMEM;
	}
	uncount(stream, bytes.len);
	eddyi_body_fail(&stream->body, error);
	eddy_event_set(&stream->arrived);
	return false;
}

static bool has_been_read(const struct eddyi_h2_stream *stream)
{
	return stream->inbox.complete && !stream->inbox.len && !stream->body.error;
}

/* Wait until a part of the body has arrived, or its end.
 * Return: 0; -ECONNRESET, -ECANCELED; the error with which a part of it was dropped. */
static int await_bytes(struct eddyi_h2_stream *stream)
{
	int r = ask_for_body(stream);

	while (r == 0 && !stream->body.error && !stream->inbox.len && !stream->inbox.complete) {
		if (stream->lost)
			return -ECONNRESET;
		eddy_event_clear(&stream->arrived);
		stream->timeout.expire = body_expires;
		r = wait_for(stream, &stream->arrived, &clocks_of(stream)->body,
			     &stream->pace.body);
	}
	return r < 0 ? r : stream->body.error;
}

/* Whether more of the body is left, or has arrived, than it may have. */
static bool is_too_large(const struct eddyi_h2_stream *stream)
{
	const struct eddyi_body *body = &stream->body;
	uint64_t left = stream->req.head.length - body->took;

	if (stream->req.head.length == EDDY_LENGTH_UNKNOWN)
		left = stream->inbox.len;
	return body->took > body->max || left > body->max - body->took;
}

/* Get the next bytes of the body. Suspends. Return: 1; 0 at its end; -errno. */
static int next_bytes(struct eddyi_h2_stream *stream, struct eddy_str *ret_bytes)
{
	struct eddyi_body *body = &stream->body;
	int r;

	if (body->error)
		return body->error;
	if (body->ended)
		return 0;
	r = is_too_large(stream) ? -EFBIG : await_bytes(stream);
	if (r == 0 && is_too_large(stream))
		r = -EFBIG;
	if (r < 0)
		return eddyi_body_fail(body, r);
	*ret_bytes = eddyi_h2_inbox_next(&stream->inbox);
	body->ended = !ret_bytes->len;
	return ret_bytes->len ? 1 : 0;
}

static void took(struct eddyi_h2_stream *stream, size_t len)
{
	eddyi_h2_inbox_consume(&stream->inbox, len);
	stream->body.took += len;
	stream->body.ended = has_been_read(stream);
	uncount(stream, len);
	eddyi_h2_session_took(stream, len);
}

static ssize_t read_some(struct eddy_req *req, void *buf, size_t len)
{
	struct eddyi_h2_stream *stream = eddyi_h2_stream_of(req);
	struct eddy_str here;
	size_t copied = 0;
	int r = next_bytes(stream, &here);

	if (r <= 0)
		return r;
	for (; here.len && copied < len; here = eddyi_h2_inbox_next(&stream->inbox)) {
		if (here.len > len - copied)
			here.len = len - copied;
		memcpy((char *)buf + copied, here.ptr, here.len);
		copied += here.len;
		took(stream, here.len);
	}
	return (ssize_t)copied;
}

static int file_in(struct eddy_req *req, struct eddy_transfer *file, uint64_t max)
{
	struct eddyi_h2_stream *stream = eddyi_h2_stream_of(req);
	uint64_t left = eddyi_req_body_left(req);
	struct eddy_str here;
	int r = next_bytes(stream, &here);

	if (r <= 0)
		return r;
	if (stream->inbox.len > max || left > max)
		return -EFBIG;
	if (here.len > file->len)
		here.len = (size_t)file->len;
	/* Much of a body in whole pages: a part of one would be cleared before it is filled. */
	if (here.len >= PAGES_MIN)
		here.len -= (file->offset + here.len) % PAGE;
	if (here.len < GATHER_MAX && !stream->inbox.complete)
		return -EAGAIN;
	r = eddy_transfer_write(file->file, here.ptr, here.len, file->offset);
	if (r < 0)
		return r;
	file->moved = here.len;
	took(stream, here.len);
	return 1;
}

static size_t arrived(const struct eddy_req *req)
{
	return eddyi_h2_stream_of(req)->inbox.len;
}

/* ---- the response ---- */

ssize_t eddyi_h2_stream_take(struct eddyi_h2_stream *stream, char *room, size_t len)
{
	struct eddy_transfer *file = stream->file;
	size_t taken = stream->bytes.len < len ? stream->bytes.len : len;
	ssize_t r;

	if (taken) {
		memcpy(room, stream->bytes.ptr, taken);
		stream->bytes = eddy_str_skip(stream->bytes, taken);
	}
	if (file && !stream->cold && taken < len && file->moved < file->len) {
		if (len - taken > file->len - file->moved)
			len = taken + (size_t)(file->len - file->moved);
		r = eddyi_transfer_read_now(file->file, file->device, room + taken, len - taken,
					    file->offset + file->moved);
		/* At the end of the file, too: its task gets the error. */
		stream->cold = r <= 0;
		file->moved += r > 0 ? (size_t)r : 0;
		taken += r > 0 ? (size_t)r : 0;
	}
	if (file && file->moved == file->len)
		stream->file = NULL;
	if (stream->cold || !eddyi_h2_stream_has_more(stream))
		eddy_event_set(&stream->flowed);
	stream->has_ended = stream->last && !eddyi_h2_stream_has_more(stream);
	stream->sent += taken;
	return taken || stream->has_ended ? (ssize_t)taken : -EAGAIN;
}

bool eddyi_h2_stream_is_shut(const struct eddyi_h2_stream *stream)
{
	nghttp2_session *session = stream->h2->session;

	return nghttp2_session_get_stream_remote_window_size(session, stream->id) <= 0 ||
	       nghttp2_session_get_remote_window_size(session) <= 0;
}

/* Its connection has a timeout of its own. */
static void look_at_window(struct eddy_timeout *timeout)
{
	struct eddyi_h2_stream *stream = eddy_of(timeout, struct eddyi_h2_stream, timeout);
	uint64_t acked = 0;

	/* The client opens its window when it has received what is in the socket. It can ask for
	 * answers to PING for ever. */
	eddyi_wire_acked(&stream->h2->conn->wire, &acked);
	acked -= acked < stream->h2->chatter ? acked : stream->h2->chatter;
	if (stream->sent != stream->looked || acked > stream->acked ||
	    !eddyi_h2_stream_is_shut(stream))
		stream->looks = 0;
	stream->looked = stream->sent;
	stream->acked = acked > stream->acked ? acked : stream->acked;
	if (++stream->looks > EDDYI_WRITE_LOOKS)
		eddyi_exchange_expire(&stream->req);
	else
		eddy_timeout_arm(timeout, &clocks_of(stream)->write);
}

static bool is_waiting(const struct eddyi_h2_stream *stream)
{
	return eddyi_h2_stream_has_more(stream) || (stream->last && !stream->has_ended);
}

/* Whether no window will open any more. */
static bool is_shut_for_good(const struct eddyi_h2_stream *stream)
{
	return stream->h2->ended && eddyi_h2_stream_is_shut(stream);
}

/* Read the next bytes of the file, which the page cache does not have, into `buf`. */
static int read_cold(struct eddyi_h2_stream *stream, char **buf)
{
	struct eddy_transfer *file = stream->file;
	uint64_t left = file->len - file->moved;
	size_t step = left < COLD_STEP ? (size_t)left : COLD_STEP;
	int r = -ENOMEM;

	if (!*buf)
		*buf = malloc(COLD_STEP);
	if (*buf)
		r = eddyi_transfer_read(file->file, *buf, step, file->offset + file->moved);
	if (r < 0)
		return r;
	stream->cold = false;
	stream->bytes = eddy_str(*buf, step);
	file->moved += step;
	return 0;
}

bool eddyi_h2_stream_may_gather(const struct eddyi_h2_stream *stream)
{
	const struct eddy_transfer *file = stream->file;

	return file && !stream->bytes.len && !stream->cold && file->len >= BULK_MIN &&
	       file->moved >= stream->copied_until &&
	       !(EDDYI_TLS && eddyi_tls_wire_seals(&stream->h2->conn->wire));
}

struct eddyi_file_part eddyi_h2_stream_find(struct eddyi_h2_stream *stream, size_t len,
					    bool may_move)
{
	struct eddyi_window *kept = stream->req.res.file.window;
	uint64_t left = stream->file->len - stream->file->moved;

	return eddyi_window_find(kept ? kept : &stream->window, stream->file,
				 left < len ? (size_t)left : len, may_move);
}

size_t eddyi_h2_stream_skip(struct eddyi_h2_stream *stream, size_t len)
{
	uint64_t left = stream->file->len - stream->file->moved;

	if (len > left)
		len = (size_t)left;
	stream->file->moved += len;
	stream->sent += len;
	if (len < left)
		return len;
	stream->file = NULL;
	stream->has_ended = stream->last;
	eddy_event_set(&stream->flowed);
	return len;
}

/* Have the session send the source. Return: 0, -errno. */
static int flow(struct eddyi_h2_stream *stream)
{
	char *buf = NULL;
	int r = 0;

	stream->timeout.expire = look_at_window;
	while (r == 0 && is_waiting(stream)) {
		eddy_event_clear(&stream->flowed);
		eddyi_h2_output_resume(stream);
		eddyi_h2_output_pack(stream->h2);
		if (!stream->has_ended && (stream->closed || is_shut_for_good(stream))) {
			r = -ECONNRESET;
		} else if (stream->cold && !stream->bytes.len) {
			r = read_cold(stream, &buf);
		} else if (is_waiting(stream)) {
			eddyi_h2_output_send_soon(stream->h2);
			stream->looks = 0;
			r = wait_for(stream, &stream->flowed, &clocks_of(stream)->write,
				     &stream->pace.answer);
		}
	}
	/* A response of which a part is missing does not end. */
	stream->last &= r == 0;
	stream->bytes = EDDY_STR("");
	stream->file = NULL;
	stream->cold = false;
	eddyi_window_close(&stream->window);
	free(buf);
	eddyi_h2_output_send_soon(stream->h2);
	return r;
}

static int put(struct eddy_req *req, struct eddy_str bytes, struct eddy_transfer *file, bool last)
{
	struct eddyi_h2_stream *stream = eddyi_h2_stream_of(req);
	bool is_empty = !bytes.len && !file;
	int r;

	if (stream->closed)
		return -ECONNRESET;
	if (stream->head_due) {
		r = eddyi_h2_head_submit(stream, last && is_empty);
		stream->head_due = false;
		if (r < 0) {
			req->res.head_sent = false;
			return r;
		}
	}
	stream->bytes = bytes;
	stream->file = file;
	stream->last = last;
	stream->copied_until = 0;
	if (file && !file->warmth) {
		stream->warmth = (struct eddy_warmth){ 0 };
		file->warmth = &stream->warmth;
	}
	return flow(stream);
}

static int interim(struct eddy_req *req, int status, const struct eddy_header *fields)
{
	struct eddyi_h2_stream *stream = eddyi_h2_stream_of(req);
	int r = -ECONNRESET;

	if (!stream->closed)
		r = eddyi_h2_head_interim(stream, status, fields);
	eddyi_h2_output_send_soon(stream->h2);
	return r;
}

static void send_head(struct eddy_req *req, uint64_t length)
{
	struct eddyi_h2_stream *stream = eddyi_h2_stream_of(req);

	stream->length = req->res.unsized || !eddyi_status_has_body(req->res.status) ?
				 EDDY_LENGTH_UNKNOWN :
				 length;
	stream->head_due = true;
}

static int send_some(struct eddy_req *req, struct eddy_str bytes, bool last)
{
	return put(req, bytes, NULL, last);
}

static int file_out(struct eddy_req *req, struct eddy_transfer *file, bool last)
{
	return put(req, file->head, file->len ? file : NULL, last);
}

static void reset(struct eddyi_h2_stream *stream, uint32_t error)
{
	int r = stream->closed ? 0 :
				 nghttp2_submit_rst_stream(stream->h2->session, NGHTTP2_FLAG_NONE,
							   stream->id, error);

	eddyi_h2_session_check(stream->h2, r);
}

static void cut(struct eddy_req *req)
{
	reset(eddyi_h2_stream_of(req), NGHTTP2_INTERNAL_ERROR);
}

static const struct eddyi_end *end_of(const struct eddy_req *req)
{
	return eddyi_conn_end(eddyi_h2_stream_of(req)->h2->conn);
}

static const struct eddyi_stream_verbs verbs = {
	.read = read_some,
	.file_in = file_in,
	.interim = interim,
	.send_head = send_head,
	.send = send_some,
	.file_out = file_out,
	.cut = cut,
	.arrived = arrived,
	.end = end_of,
};

/* ---- the stream ---- */

struct eddyi_h2_stream *eddyi_h2_stream_new(struct eddyi_h2 *h2, int32_t id)
{
	struct eddyi_conn *conn = h2->conn;
	struct eddy_req *req =
		eddyi_req_new(conn->parked.conns->app, NULL, sizeof(struct eddyi_h2_stream));
	struct eddyi_h2_stream *stream = req ? eddyi_h2_stream_of(req) : NULL;

	if (!req)
		return NULL;
	req->stream = &stream->stream;
	stream->stream = conn->stream;
	stream->stream.verbs = &verbs;
	stream->stream.sent = &stream->sent;
	stream->h2 = h2;
	stream->id = id;
	stream->body.max = UINT64_MAX;
	stream->inbox.spare = &conn->parked.conns->blocks;
	eddy_event_init(&stream->arrived);
	eddy_event_init(&stream->flowed);
	eddyi_h2_pace_begin_stream(stream);
	eddy_list_append(&h2->streams, &stream->node);
	return stream;
}

void eddyi_h2_stream_free(struct eddyi_h2_stream *stream)
{
	eddyi_h2_pace_end_stream(stream);
	eddy_list_remove(&stream->node);
	eddyi_h2_inbox_clear(&stream->inbox);
	eddyi_req_free(&stream->req);
}

void eddyi_h2_stream_close(struct eddyi_h2_stream *stream, bool lost)
{
	stream->closed = true;
	if (!stream->has_task) {
		eddyi_h2_stream_free(stream);
		return;
	}
	/* An error code does not tell: a client may leave with NO_ERROR. */
	lost |= !stream->has_ended;
	stream->lost = lost || !stream->inbox.complete;
	eddy_event_set(&stream->arrived);
	eddy_event_set(&stream->flowed);
	/* An evicted connection was cut by the server: its client has not left. */
	if (lost && !stream->h2->conn->parked.evicted &&
	    eddyi_exchange_cancel_on(&stream->req) != EDDY_CANCEL_ON_NOTHING)
		eddyi_exchange_leave(&stream->req);
}

void eddyi_h2_stream_end_input(struct eddyi_h2_stream *stream)
{
	if (!stream->inbox.complete) {
		stream->lost = true;
		eddy_event_set(&stream->arrived);
	}
	if (stream->has_task && eddyi_exchange_cancel_on(&stream->req) == EDDY_CANCEL_ON_END)
		eddyi_exchange_leave(&stream->req);
}

/* Whether the client has left before the request began, which it may repeat. */
static bool is_pointless(const struct eddyi_h2_stream *stream)
{
	return stream->closed && stream->lost &&
	       eddyi_exchange_cancel_on(&stream->req) != EDDY_CANCEL_ON_NOTHING;
}

/* Task: handle the request. */
static int serve(void *arg)
{
	struct eddyi_h2_stream *stream = arg;
	struct eddyi_h2 *h2 = stream->h2;

	eddyi_conn_count(h2->conn->parked.conns, serving);
	eddyi_opened_begin();
	stream->body.ended = has_been_read(stream);
	if (!is_pointless(stream))
		eddyi_exchange(&stream->req, &stream->body);
	/* The client need not send the rest of its body (RFC 9113 section 8.1). */
	if (!stream->inbox.complete)
		reset(stream, NGHTTP2_NO_ERROR);
	if (!stream->closed)
		nghttp2_session_set_stream_user_data(h2->session, stream->id, NULL);
	stream->closed = true;
	eddyi_h2_stream_free(stream);
	/* Files of the response are closed by now. */
	eddyi_opened_end();
	eddyi_conn_count_by(h2->conn->parked.conns, serving, -1);
	h2->tasks--;
	if (h2->tasks)
		eddyi_h2_output_send_soon(h2);
	else
		eddyi_h2_output_send(h2);
	eddyi_h2_settle(h2);
	return 0;
}

int eddyi_h2_stream_start(struct eddyi_h2_stream *stream)
{
	struct eddyi_h2 *h2 = stream->h2;
	int r = eddy_scope_spawn(h2->conn->parked.conns->tasks, "request", serve, stream);

	stream->has_task = r == 0;
	h2->tasks += r == 0;
	return r;
}
