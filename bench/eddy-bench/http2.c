#include "http2.h"

#include "receive.h"
#include "secure.h"

#include <eddy/io.h>
#include <eddy/loop.h>
#include <eddy/task.h>

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* RFC 9113 section 6.5.2: unless --frame is given. */
#define FRAME_SIZE 16384
/* Of each stream and of the connection. */
#define WINDOW ((int32_t)(16 * EDDY_MIB))
/* What is sent at once: parts of the stage, which has heads and what is encrypted, and of the body. */
#define STAGE_SIZE ((size_t)65536)
#define PARTS 128
/* The session writes no more at once; DATA comes by send_data(). */
#define WRITE_MAX ((size_t)FRAME_SIZE + 64)
#define FRAME_HEAD 9
/* Reads in a row while others wait. */
#define TURNS 16

/* Of `fields`. The length of the body, and the fields of --header, come behind them. */
enum { METHOD, SCHEME, AUTHORITY, PATH, LENGTH, FIELDS_MAX = LENGTH + 1 + OPTIONS_LIST_MAX };

struct stream {
	struct answer answer;
	uint64_t sent; /* bytes of the body */
	bool due;
	bool ended; /* the response has come as a whole */
};

struct http2 {
	struct conn *conn;
	nghttp2_session *session; /* NULL: not connected */
	struct stream *streams;
	unsigned in_flight;
	bool settled;   /* the server has sent its settings */
	bool has_taken; /* a response, on this connection */
	nghttp2_nv fields[FIELDS_MAX];
	size_t field_count;
	char path[URL_PATH_SIZE];
	char length[24];
	char why[100];
	unsigned turns;
	struct iovec parts[PARTS];
	size_t part_at, part_count; /* of those, the ones that are not sent yet */
	size_t staged;
	char stage[STAGE_SIZE];
};

bool http2_is_there(void)
{
	return true;
}

/* ---- requests ---- */

static void add_field(struct http2 *h2, const char *name, size_t name_len, const char *value)
{
	/* The session makes names lowercase. */
	h2->fields[h2->field_count++] = (nghttp2_nv){
		.name = (uint8_t *)name,
		.namelen = name_len,
		.value = (uint8_t *)value,
		.valuelen = strlen(value),
	};
}

static void add_fields(struct http2 *h2)
{
	const struct plan *plan = h2->conn->plan;
	const struct options *options = plan->options;

	add_field(h2, ":method", 7, plan->method);
	add_field(h2, ":scheme", 7, plan->secure ? "https" : "http");
	add_field(h2, ":authority", 10, plan->url->host);
	add_field(h2, ":path", 5, h2->path);
	if (plan->body) {
		snprintf(h2->length, sizeof(h2->length), "%llu",
			 (unsigned long long)plan->body->size);
		add_field(h2, "content-length", 14, h2->length);
	}
	for (size_t i = 0; i < options->header_count; i++) {
		const char *name = options->headers[i];
		size_t name_len = strcspn(name, ":");

		add_field(h2, name, name_len,
			  name + name_len + 1 + strspn(name + name_len + 1, " \t"));
	}
}

/* Bytes of the body that the next frame has; send_data() sends them. */
static ssize_t offer_data(nghttp2_session *session, int32_t id, uint8_t *buf, size_t len,
			  uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	const struct http2 *h2 = arg;
	const struct body *body = h2->conn->plan->body;
	const struct stream *stream = source->ptr;
	uint64_t left = body->size - stream->sent;

	(void)session, (void)id, (void)buf;
	if (left && len > body->period - stream->sent % body->period)
		len = (size_t)(body->period - stream->sent % body->period);
	if (len > left)
		len = (size_t)left;
	*flags |= NGHTTP2_DATA_FLAG_NO_COPY | (len == left ? NGHTTP2_DATA_FLAG_EOF : 0);
	return (ssize_t)len;
}

static int begin_stream(struct http2 *h2, struct stream *stream, uint64_t started_ns)
{
	struct plan *plan = h2->conn->plan;
	nghttp2_data_provider body = { { .ptr = stream }, offer_data };

	if (plan->varies || !*h2->path) {
		if (!plan_path(plan, h2->conn->number, h2->path)) {
			h2->conn->wrong = "the request is too long";
			return -EMSGSIZE;
		}
		h2->fields[PATH].valuelen = strlen(h2->path);
	}
	stream->answer =
		(struct answer){ .started_ns = started_ns, .digest = stream->answer.digest };
	stream->sent = 0;
	stream->due = true;
	stream->ended = false;
	if (stream->answer.digest)
		digest_begin(stream->answer.digest);
	if (nghttp2_submit_request(h2->session, NULL, h2->fields, h2->field_count,
				   plan->body ? &body : NULL, stream) < 0)
		return -ENOMEM;
	h2->in_flight++;
	return 0;
}

int http2_ask(struct conn *conn, uint64_t started_ns)
{
	unsigned depth = conn->plan->depth;
	struct http2 *h2 = conn->http2;

	if (!h2) {
		h2 = conn->http2 = calloc(1, sizeof(*h2));
		if (!h2)
			return -ENOMEM;
		h2->conn = conn;
		h2->streams = calloc(depth, sizeof(*h2->streams));
		if (!h2->streams)
			return -ENOMEM;
		for (unsigned i = 0; i < depth && conn->plan->verify; i++)
			if (!(h2->streams[i].answer.digest = digest_new()))
				return -ENOMEM;
		add_fields(h2);
	}
	for (unsigned i = 0; i < depth; i++) {
		h2->streams[i].due = true;
		h2->streams[i].answer.started_ns = started_ns;
	}
	return 0;
}

/* ---- answers: the session calls these ---- */

static int take_field(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		      size_t name_len, const uint8_t *value, size_t len, uint8_t flags, void *arg)
{
	struct http2 *h2 = arg;
	struct stream *stream;

	(void)len, (void)flags;
	if (name_len != 7 || memcmp(name, ":status", 7) != 0)
		return 0;
	stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	if (!stream)
		return 0;
	h2->conn->answered = true;
	/* The session has seen that these are three digits. */
	stream->answer.status = (value[0] - '0') * 100 + (value[1] - '0') * 10 + value[2] - '0';
	stream->answer.first_ns = h2->conn->received_ns;
	return 0;
}

static int take_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
		     size_t len, void *arg)
{
	struct stream *stream = nghttp2_session_get_stream_user_data(session, id);

	(void)flags, (void)arg;
	if (!stream)
		return 0;
	stream->answer.taken += len;
	if (stream->answer.digest)
		digest_add(stream->answer.digest, bytes, len);
	return 0;
}

static int take_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	struct http2 *h2 = arg;
	struct stream *stream;

	if (frame->hd.type == NGHTTP2_SETTINGS)
		h2->settled = true;
	if ((frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) ||
	    !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
		return 0;
	stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	if (stream)
		stream->ended = true;
	return 0;
}

static int end_stream(nghttp2_session *session, int32_t id, uint32_t error, void *arg)
{
	struct stream *stream = nghttp2_session_get_stream_user_data(session, id);
	struct http2 *h2 = arg;
	struct conn *conn = h2->conn;
	bool may_ask = nghttp2_session_check_request_allowed(session);

	h2->in_flight--;
	if (error == NGHTTP2_REFUSED_STREAM && !may_ask)
		return 0;
	stream->due = false;
	if (stream->ended) {
		h2->has_taken = true;
		conn_answered(conn, &stream->answer);
	} else {
		snprintf(h2->why, sizeof(h2->why), "the stream was reset: %s",
			 nghttp2_http2_strerror(error));
		conn->wrong = h2->why;
		conn_failed(conn, 1, -EBADMSG);
		conn->wrong = NULL;
	}
	if (conn->received_ns < conn->until_ns && may_ask)
		return begin_stream(h2, stream, conn->received_ns) < 0 ?
			       NGHTTP2_ERR_CALLBACK_FAILURE :
			       0;
	return 0;
}

/* ---- sending ---- */

static void add_part(struct http2 *h2, const void *bytes, size_t len)
{
	h2->parts[h2->part_count++] = (struct iovec){ (void *)bytes, len };
}

static void stage(struct http2 *h2, const void *bytes, size_t len)
{
	struct iovec *last = h2->part_count ? &h2->parts[h2->part_count - 1] : NULL;
	char *end = h2->stage + h2->staged;

	memcpy(end, bytes, len);
	h2->staged += len;
	if (last && (char *)last->iov_base + last->iov_len == end)
		last->iov_len += len;
	else
		add_part(h2, end, len);
}

/* Two parts at most are added at once. */
static bool has_room(const struct http2 *h2, size_t len)
{
	return h2->part_count + 2 <= PARTS && STAGE_SIZE - h2->staged >= len;
}

static int send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head,
		     size_t len, nghttp2_data_source *source, void *arg)
{
	struct http2 *h2 = arg;
	const struct body *body = h2->conn->plan->body;
	struct stream *stream = source->ptr;
	bool copies = h2->conn->tls != NULL;

	(void)session, (void)frame;
	if (!has_room(h2, FRAME_HEAD + (copies ? len : 0)))
		return NGHTTP2_ERR_WOULDBLOCK;
	stage(h2, head, FRAME_HEAD);
	if (len && copies)
		stage(h2, body->map + stream->sent % body->period, len);
	else if (len)
		add_part(h2, body->map + stream->sent % body->period, len);
	stream->sent += len;
	return 0;
}

static ssize_t limit_frame(nghttp2_session *session, uint8_t type, int32_t id, int32_t window,
			   int32_t stream_window, uint32_t len, void *arg)
{
	const struct http2 *h2 = arg;
	uint32_t most = h2->conn->plan->options->frame;

	(void)session, (void)type, (void)id;
	if (!most)
		most = FRAME_SIZE;
	if (h2->conn->tls && most > STAGE_SIZE / 2)
		most = STAGE_SIZE / 2;
	if (most > len)
		most = len;
	if ((int32_t)most > window)
		most = (uint32_t)window;
	return (int32_t)most > stream_window ? stream_window : (int32_t)most;
}

/* Let the session write as much as there is room for. */
static int write_more(struct http2 *h2)
{
	const uint8_t *bytes;
	ssize_t len = 0;

	h2->part_at = h2->part_count = h2->staged = 0;
	while (has_room(h2, WRITE_MAX) && (len = nghttp2_session_mem_send(h2->session, &bytes)) > 0)
		stage(h2, bytes, (size_t)len);
	return len < 0 ? -ENOMEM : 0;
}

static void advance(struct http2 *h2, size_t len)
{
	while (h2->part_at < h2->part_count && len >= h2->parts[h2->part_at].iov_len)
		len -= h2->parts[h2->part_at++].iov_len;
	if (!len)
		return;
	h2->parts[h2->part_at].iov_base = (char *)h2->parts[h2->part_at].iov_base + len;
	h2->parts[h2->part_at].iov_len -= len;
}

/* Send some of the parts, or encrypt them. Return: 0, -EAGAIN, -errno. */
static int send_some(struct http2 *h2)
{
	struct conn *conn = h2->conn;
	struct iovec *first = &h2->parts[h2->part_at];
	struct msghdr msg = { .msg_iov = first, .msg_iovlen = h2->part_count - h2->part_at };
	ssize_t r;

	if (conn->tls) {
		r = secure_seal(conn, first->iov_base, first->iov_len);
		if (r == 0)
			return secure_flush(conn);
	} else {
		r = sendmsg(conn->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (r < 0)
			return -errno;
	}
	conn->moved++;
	if (r > 0)
		advance(h2, (size_t)r);
	return r < 0 ? (int)r : 0;
}

/* Send all that there is. Return: 0; -EAGAIN where the socket is full; -errno. */
static int flush(struct http2 *h2)
{
	int r = 0;

	while (r == 0) {
		if (h2->part_at == h2->part_count)
			r = write_more(h2);
		if (r == 0 && h2->part_at == h2->part_count)
			return h2->conn->tls ? secure_flush(h2->conn) : 0;
		if (r == 0)
			r = send_some(h2);
	}
	return r;
}

/* ---- */

/* Receive something; with `waits` something waits for room in the socket, which may come first. */
static int receive(struct http2 *h2, bool waits)
{
	struct conn *conn = h2->conn;
	int r;

	if (waits) {
		r = eddy_poll(conn->fd, POLLIN | POLLOUT);
		if (r < 0 || !(r & POLLIN))
			return r < 0 ? r : 0;
	}
	if (!conn->tls || !waits)
		r = receive_fill(conn);
	if (conn->tls && (waits || r == 0))
		r = secure_take_early(conn) && conn->at == conn->end ? -ENODATA : 0;
	return r;
}

static int broken(struct http2 *h2, int r, const char *what)
{
	if (!h2->conn->wrong)
		h2->conn->wrong = what;
	return r;
}

/* Send, receive, and let the session take what has come. */
static int turn(struct http2 *h2)
{
	struct conn *conn = h2->conn;
	int r = flush(h2);

	/* What was to be sent may be refused by a GOAWAY. */
	if (!h2->in_flight)
		return 0;
	/* The session has said why it ends. */
	if (!nghttp2_session_want_read(h2->session))
		return broken(h2, -EBADMSG,
			      h2->settled ? "the server's frames are malformed" :
					    "the server does not speak HTTP/2");
	/* Why the server takes no more may have come. */
	if (r == -EPIPE || r == -ECONNRESET)
		r = 0;
	if (r < 0 && r != -EAGAIN)
		return broken(h2, r, "can't send");
	r = receive(h2, r == -EAGAIN);
	if (r < 0)
		return broken(h2, r,
			      h2->settled ?
				      "the server closed the connection within its responses" :
				      "the server closed the connection, and spoke no HTTP/2");
	if (nghttp2_session_mem_recv(h2->session, (uint8_t *)conn->buffer + conn->at,
				     conn->end - conn->at) < 0)
		return broken(h2, -EBADMSG, "the server's frames are malformed");
	conn->at = conn->end;
	return ++h2->turns % TURNS ? 0 : eddy_yield();
}

int http2_exchange(struct conn *conn, unsigned *ret_left)
{
	struct http2 *h2 = conn->http2;
	int r = 0;

	conn->answered = false;
	for (unsigned i = 0; i < conn->plan->depth && r == 0; i++)
		if (h2->streams[i].due)
			r = begin_stream(h2, &h2->streams[i], h2->streams[i].answer.started_ns);
	while (h2->in_flight && r == 0)
		r = turn(h2);
	*ret_left = 0;
	for (unsigned i = 0; i < conn->plan->depth; i++)
		*ret_left += h2->streams[i].due;
	if (r == 0 && *ret_left && !h2->has_taken)
		r = broken(h2, -EBADMSG, "the server refuses requests, by a GOAWAY");
	return r < 0 ? r : !nghttp2_session_check_request_allowed(h2->session);
}

static nghttp2_session_callbacks *make_callbacks(void)
{
	nghttp2_session_callbacks *calls;

	if (nghttp2_session_callbacks_new(&calls) < 0)
		return NULL;
	nghttp2_session_callbacks_set_on_header_callback(calls, take_field);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, take_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(calls, take_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(calls, end_stream);
	nghttp2_session_callbacks_set_send_data_callback(calls, send_data);
	nghttp2_session_callbacks_set_data_source_read_length_callback(calls, limit_frame);
	return calls;
}

int http2_begin(struct conn *conn)
{
	struct http2 *h2 = conn->http2;
	nghttp2_session_callbacks *calls = make_callbacks();
	uint32_t frame = conn->plan->options->frame;
	nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
		{ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, (uint32_t)WINDOW },
		{ NGHTTP2_SETTINGS_MAX_FRAME_SIZE, frame },
	};
	int r;

	h2->settled = h2->has_taken = false;
	h2->in_flight = 0;
	h2->part_at = h2->part_count = 0;
	r = calls ? nghttp2_session_client_new2(&h2->session, calls, h2, NULL) : -ENOMEM;
	nghttp2_session_callbacks_del(calls);
	if (r == 0)
		r = nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, settings,
					    frame ? 3 : 2);
	if (r == 0)
		r = nghttp2_session_set_local_window_size(h2->session, NGHTTP2_FLAG_NONE, 0,
							  WINDOW);
	return r < 0 ? -ENOMEM : 0;
}

void http2_end(struct conn *conn)
{
	if (!conn->http2)
		return;
	nghttp2_session_del(conn->http2->session);
	conn->http2->session = NULL;
}

void http2_free(struct conn *conn)
{
	struct http2 *h2 = conn->http2;

	if (!h2)
		return;
	for (unsigned i = 0; h2->streams && i < conn->plan->depth; i++)
		digest_free(h2->streams[i].answer.digest);
	free(h2->streams);
	free(h2);
	conn->http2 = NULL;
}
