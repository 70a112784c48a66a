/* HTTP/1.1 as the stream of a request: the framing of bodies, and whether the connection is
 * kept. */
#include "http1.h"

#include "exchange/peer.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/transfer.h>
#include <eddy/transfer.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Limit of a body that is copied after its head, to be sent in one piece. */
#define COPY_MAX ((size_t)(32 * EDDY_KIB))

/* Limit of received bytes that are gathered for a file rather than written as they are. */
#define GATHER_MAX ((size_t)(4 * EDDY_KIB))

/* What follows a chunk that is the last one with data. */
#define LAST_TAIL "\r\n0\r\n\r\n"
/* Room for the framing of such a chunk. */
#define AROUND_CHUNK (EDDYI_CHUNK_LINE_SIZE + sizeof(LAST_TAIL) - 1)

static struct eddyi_conn *conn_of(const struct eddy_req *req)
{
	return eddy_of(req->stream, struct eddyi_conn, stream);
}

static struct eddyi_wire *wire_of(const struct eddy_req *req)
{
	return &conn_of(req)->wire;
}

/* ---- the body of the request ---- */

static ssize_t read_some(struct eddy_req *req, void *buf, size_t len)
{
	return eddyi_framed_read(&eddyi_http1_of(req)->body, wire_of(req), buf, len);
}

/* The socket has lost bytes that the file did not get, so the beginning of the next request is
 * unknown. */
static int lose(struct eddyi_framed_body *body, int error)
{
	return eddyi_body_fail(&body->body, error == -ENODATA ? -ECONNRESET : error);
}

static int splice_in(struct eddyi_http1 *http1, struct eddyi_wire *wire, struct eddy_transfer *file)
{
	int r;

	file->socket = wire->fd;
	file->progress = &wire->timeout;
	eddyi_wire_guard(wire, &wire->clocks->body);
	http1->watch.pace.arriving = &file->moved;
	r = eddy_transfer_to_file(file);
	http1->watch.pace.arriving = NULL;
	eddyi_wire_unguard(wire);
	eddyi_framed_took(&http1->body, wire, file->moved, false);
	return r < 0 ? lose(&http1->body, r) : 1;
}

/* Write bytes that have arrived. */
static int write_here(struct eddyi_http1 *http1, struct eddyi_wire *wire, struct eddy_str here,
		      struct eddy_transfer *file)
{
	int r = eddy_transfer_write(file->file, here.ptr, here.len, file->offset);

	if (r < 0)
		return r;
	file->moved = here.len;
	eddyi_framed_took(&http1->body, wire, here.len, true);
	return 1;
}

static int file_in(struct eddy_req *req, struct eddy_transfer *file, uint64_t max)
{
	struct eddyi_http1 *http1 = eddyi_http1_of(req);
	struct eddyi_wire *wire = wire_of(req);
	struct eddy_str here;
	uint64_t left;
	int r = eddyi_framed_next(&http1->body, wire, &here, &left);

	if (r <= 0)
		return r;
	if (here.len + left > max)
		return -EFBIG;
	if (here.len > file->len)
		here.len = (size_t)file->len;
	if (here.len > GATHER_MAX || (here.len && http1->body.left == here.len))
		return write_here(http1, wire, here, file);
	if (here.len || eddyi_transfer_copies_in(left) || !eddyi_wire_can_splice(wire))
		return -EAGAIN;
	if (file->len > left)
		file->len = left;
	return splice_in(http1, wire, file);
}

static size_t arrived(const struct eddy_req *req)
{
	return eddyi_wire_pending(wire_of(req)).len;
}

/* ---- whether the connection is kept ---- */

/* Whether the next bytes may not be a request: after a rejected head, or a CONNECT. */
static bool has_unknown_end(const struct eddy_req *req)
{
	return req->refused || req->head.method == EDDYI_METHOD_CONNECT;
}

/* Whether another request can follow, judged by the head and the length of the body. */
static bool can_keep(const struct eddyi_http1 *http1)
{
	return !has_unknown_end(&http1->req) && http1->head.keep_alive &&
	       eddyi_framed_can_drain(&http1->body);
}

/* Line by line, which is faster than memmem() unless lines are very short. */
static bool has_empty_line(struct eddy_str text)
{
	const char *at = text.ptr, *end = text.ptr + text.len;

	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		at++;
		if (at - text.ptr >= 4 && memcmp(at - 4, "\r\n\r\n", 4) == 0)
			return true;
	}
	return false;
}

static int interim(struct eddy_req *req, int status, const struct eddy_header *fields)
{
	/* Not in request memory: there may be one a second, for a day. */
	EDDY_AUTO(eddyi_arena_deinit) struct eddyi_arena arena = { 0 };
	struct eddy_str head;

	if (req->head.version == EDDY_HTTP_1_0)
		return 0;
	head = eddyi_reply_interim(&arena, status, fields);
	return head.ptr ? eddyi_wire_send(wire_of(req), head.ptr, head.len) : -ENOMEM;
}

static void send_head(struct eddy_req *req, uint64_t length)
{
	struct eddyi_http1 *http1 = eddyi_http1_of(req);

	eddyi_reply_begin(&http1->reply, req, length,
			  !conn_of(req)->parked.last && can_keep(http1));
	http1->head_due = true;
}

/* Make the head, with room for `extra` bytes after it. Return: .ptr NULL on allocation failure:
 * then there is no head yet, and an error is sent instead. */
static struct eddy_str make_head(struct eddyi_http1 *http1, size_t extra)
{
	struct eddy_str head =
		eddyi_reply_head(&http1->reply, &http1->req, wire_of(&http1->req)->clocks, extra);

	http1->head_due = false;
	if (!head.ptr)
		http1->req.res.head_sent = false;
	return head;
}

/* ---- the body of the response ---- */

static struct iovec piece(struct eddy_str bytes)
{
	return (struct iovec){ (void *)bytes.ptr, bytes.len };
}

static bool is_framed(const struct eddyi_http1 *http1)
{
	return http1->reply.chunked && !http1->reply.silent;
}

/* Get the line before a chunk. */
static struct eddy_str begin_chunk(char line[EDDYI_CHUNK_LINE_SIZE], uint64_t len)
{
	return eddy_str(line, eddyi_chunked_line(len, line));
}

/* Get what follows a chunk of `len` bytes; an empty one would be the last. */
static struct eddy_str end_chunk(uint64_t len, bool last)
{
	const char *tail = &LAST_TAIL[len ? 0 : 2];

	return eddy_str(tail, last ? strlen(tail) : len ? 2 : 0);
}

/* Send a whole response, or hold it back if the next request has already arrived, so that responses
 * are sent together. Behind a handshake come frames. */
static int answer(struct eddyi_http1 *http1, struct eddy_str bytes)
{
	struct eddyi_wire *wire = wire_of(&http1->req);
	bool more = http1->reply.keep && http1->body.body.ended && http1->req.res.status != 101 &&
		    has_empty_line(eddyi_wire_pending(wire));

	return eddyi_wire_answer(wire, bytes, more);
}

static char *append(char *at, struct eddy_str bytes)
{
	return mempcpy(at, bytes.ptr, bytes.len);
}

/* Send the head and all of the body, in one piece. */
static int send_at_once(struct eddyi_http1 *http1, struct eddy_str bytes)
{
	bool framed = is_framed(http1);
	struct eddy_str head = make_head(http1, bytes.len + (framed ? AROUND_CHUNK : 0));
	char line[EDDYI_CHUNK_LINE_SIZE], *at;

	if (!head.ptr)
		return -ENOMEM;
	at = (char *)head.ptr + head.len;
	if (framed && bytes.len)
		at = append(at, begin_chunk(line, bytes.len));
	if (bytes.len)
		at = append(at, bytes);
	if (framed)
		at = append(at, end_chunk(bytes.len, true));
	return answer(http1, eddy_str(head.ptr, (size_t)(at - head.ptr)));
}

static int send_some(struct eddy_req *req, struct eddy_str bytes, bool last)
{
	struct eddyi_http1 *http1 = eddyi_http1_of(req);
	struct iovec pieces[4];
	struct eddy_str head;
	char line[EDDYI_CHUNK_LINE_SIZE];
	size_t count = 0;
	int r = 0;

	if (http1->head_due) {
		if (last && bytes.len <= COPY_MAX)
			return send_at_once(http1, bytes);
		head = make_head(http1, 0);
		if (!head.ptr)
			return -ENOMEM;
		pieces[count++] = piece(head);
	}
	if (is_framed(http1) && bytes.len)
		pieces[count++] = piece(begin_chunk(line, bytes.len));
	if (bytes.len)
		pieces[count++] = piece(bytes);
	if (is_framed(http1) && (bytes.len || last))
		pieces[count++] = piece(end_chunk(bytes.len, last));
	if (count)
		r = eddyi_wire_sendv(wire_of(req), pieces, count);
	return r;
}

/* Send the head and a small file as all of the body, in one piece. */
static int send_small_file(struct eddyi_http1 *http1, const struct eddy_transfer *file)
{
	size_t len = (size_t)file->len;
	bool framed = is_framed(http1);
	struct eddy_str head = make_head(http1, len + AROUND_CHUNK);
	char line[EDDYI_CHUNK_LINE_SIZE], *at;
	int r;

	if (!head.ptr)
		return -ENOMEM;
	at = (char *)head.ptr + head.len;
	if (framed)
		at = append(at, begin_chunk(line, len));
	r = eddyi_transfer_read(file->file, at, len, file->offset);
	if (r < 0)
		return r;
	at += len;
	if (framed)
		at = append(at, end_chunk(len, true));
	return answer(http1, eddy_str(head.ptr, (size_t)(at - head.ptr)));
}

/* Get what precedes the file: the head, the line of a chunk, and bytes of the body.
 * Return: .ptr NULL on allocation failure. */
static struct eddy_str before_file(struct eddyi_http1 *http1, const struct eddy_transfer *file)
{
	size_t extra = file->head.len + EDDYI_CHUNK_LINE_SIZE;
	struct eddy_str head = file->head;
	char line[EDDYI_CHUNK_LINE_SIZE], *at;

	if (!http1->head_due && !is_framed(http1))
		return head.ptr ? head : EDDY_STR("");
	if (http1->head_due)
		head = make_head(http1, extra);
	else
		head = eddy_str(eddyi_arena_alloc(&http1->req.arena, extra), 0);
	if (!head.ptr)
		return head;
	at = (char *)head.ptr + head.len;
	if (is_framed(http1))
		at = append(at, begin_chunk(line, file->head.len + file->len));
	if (file->head.len)
		at = append(at, file->head);
	return eddy_str(head.ptr, (size_t)(at - head.ptr));
}

static int file_out(struct eddy_req *req, struct eddy_transfer *file, bool last)
{
	struct eddyi_http1 *http1 = eddyi_http1_of(req);
	struct eddyi_wire *wire = wire_of(req);
	struct eddy_str tail = EDDY_STR("");
	int r;

	/* An empty chunk would be the last one. */
	if (!file->len)
		return send_some(req, file->head, last);
	if (http1->head_due && last && !file->head.len && eddyi_transfer_copies_out(file->len))
		return send_small_file(http1, file);
	if (is_framed(http1))
		tail = end_chunk(file->head.len + file->len, last);
	file->head = before_file(http1, file);
	if (!file->head.ptr)
		return -ENOMEM;
	r = eddyi_wire_send_file(wire, file);
	if (r == 0 && tail.len)
		r = eddyi_wire_send(wire, tail.ptr, tail.len);
	return r;
}

/* A body without length and chunks ends with the connection, so only a reset tells that it is not
 * complete. */
static void cut(struct eddy_req *req)
{
	if (req->res.head_sent && req->res.unsized && !eddyi_http1_of(req)->reply.chunked)
		eddyi_setsockopt_now(wire_of(req)->fd, SOL_SOCKET, SO_LINGER,
				     &(struct linger){ .l_onoff = 1 }, sizeof(struct linger));
}

/* ---- the connection ---- */

const struct eddyi_end *eddyi_conn_end(struct eddyi_conn *conn)
{
	struct eddy_sockaddr addr = { .len = sizeof(addr.addr) };

	if (!conn->end && eddyi_getpeername_now(conn->wire.fd, &addr.addr.any, &addr.len) == 0)
		conn->end = eddyi_end_new(&addr, &conn->parked.conns->app->trust);
	return conn->end;
}

static const struct eddyi_end *end_of(const struct eddy_req *req)
{
	return eddyi_conn_end(conn_of(req));
}

static const struct eddyi_stream_verbs verbs = {
	.read = read_some,
	.file_in = file_in,
	.interim = interim,
	.send_head = send_head,
	.send = send_some,
	.file_out = file_out,
	.listen = eddyi_http1_listen,
	.cut = cut,
	.arrived = arrived,
	.end = end_of,
};

void eddyi_http1_init(struct eddyi_conn *conn)
{
	conn->stream = (struct eddyi_stream){
		.verbs = &verbs,
		.service = &conn->parked.conns->service,
		.party = &conn->parked.seat.party,
		.tls = conn->wire.tls,
		.sent = &conn->wire.sent,
		.bound = conn->stream.bound,
		.number = conn->wire.fd,
	};
}

/* After the whole response, read and discard the rest of the request. Return: 0, -errno. */
static int drain(struct eddyi_http1 *http1)
{
	struct eddyi_conn *conn = conn_of(&http1->req);
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, NULL);
	conn->beside = &scope;
	r = eddyi_framed_drain(&http1->body, &conn->wire);
	conn->beside = NULL;
	eddy_scope_end(&scope);
	return r;
}

enum eddyi_ending eddyi_http1_exchange(struct eddyi_http1 *http1)
{
	struct eddy_req *req = &http1->req;
	int r = 0;

	eddyi_framed_begin(&http1->body, http1->head.framing, req->head.length);
	http1->body.expects = http1->head.expect_continue;
	if (!eddyi_exchange(req, &http1->body.body)) {
		eddyi_listener_free(http1->listener);
		return EDDYI_ENDING_CUT;
	}
	if (http1->listener)
		return EDDYI_ENDING_LISTEN;
	if (req->socket && req->res.status == 101)
		return EDDYI_ENDING_SOCKET;
	/* The head of an unsized response has said whether the connection is kept before its
	 * end. */
	if (http1->reply.keep && !http1->body.body.ended && can_keep(http1))
		r = drain(http1);
	if (r < 0 && r != -EMSGSIZE && r != -EBADMSG)
		return EDDYI_ENDING_CLOSE;
	if (http1->reply.keep && http1->body.body.ended)
		return EDDYI_ENDING_KEEP;
	/* A close would discard what is not yet sent, or not yet read by the client. */
	if (has_unknown_end(req) || !http1->body.body.ended || eddyi_wire_would_reset(wire_of(req)))
		return EDDYI_ENDING_LINGER;
	return EDDYI_ENDING_CLOSE;
}
