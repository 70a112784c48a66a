/* How a response goes out: its head and a small body in one send, a file by eddy_transfer, a stream
 * in chunks. */
#include "exchange.h"
#include "file_read.h"

#include <eddy/io.h>
#include <eddy/transfer.h>
#include <errno.h>
#include <stdio.h>
#include <sys/uio.h>

/* A body up to this is copied behind its head: one send is cheaper than a pipe or an iovec. */
#define COPY_MAX ((size_t)(32 * EDDY_KIB))

static bool status_has_body(int status)
{
	return status != 204 && status != 304;
}

static bool is_head_request(const struct eddy_req *req)
{
	return req->head.method == EDDYI_METHOD_HEAD;
}

bool eddyi_reply_has_body(const struct eddy_req *req)
{
	return !is_head_request(req) && status_has_body(req->res.status);
}

/* ---- the head ---- */

struct writer {
	char *at;
	char *end;
};

static void put(struct writer *writer, struct eddy_str text)
{
	size_t room = (size_t)(writer->end - writer->at);
	size_t len = text.len < room ? text.len : room;

	memcpy(writer->at, text.ptr, len);
	writer->at += len;
}

static void put_z(struct writer *writer, const char *text)
{
	put(writer, eddy_str_from(text));
}

static void put_field(struct writer *writer, const char *name, struct eddy_str value)
{
	put_z(writer, name);
	put(writer, eddy_str(": ", 2));
	put(writer, value);
	put(writer, eddy_str("\r\n", 2));
}

static void put_number(struct writer *writer, const char *before, uint64_t number,
		       const char *after)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	put_z(writer, before);
	put(writer, eddy_str(digits + at, sizeof(digits) - at));
	put_z(writer, after);
}

/* Room for what put_head() adds to the fields that have been set. */
#define OWN_FIELDS_MAX 256

static size_t head_size(const struct eddy_res *res)
{
	size_t size = OWN_FIELDS_MAX;

	for (unsigned i = 0; i < res->header_count; i++)
		size += res->headers[i].name.len + res->headers[i].value.len + 4;
	return size;
}

/* `length` is EDDY_LENGTH_UNKNOWN for a stream. */
static void put_head(struct writer *writer, struct eddy_req *req, uint64_t length)
{
	struct eddy_res *res = &req->res;

	put_number(writer, "HTTP/1.1 ", (uint64_t)res->status, " ");
	put_z(writer, eddyi_status_phrase(res->status));
	put_z(writer, "\r\nserver: eddy\r\n");
	put_field(writer, "date", eddyi_clocks_date(req->wire->clocks));
	for (unsigned i = 0; i < res->header_count; i++)
		put_field(writer, res->headers[i].name.ptr, res->headers[i].value);
	if (length != EDDY_LENGTH_UNKNOWN && status_has_body(res->status))
		put_number(writer, "content-length: ", length, "\r\n");
	else if (res->chunked)
		put_z(writer, "transfer-encoding: chunked\r\n");
	if (!req->keep)
		put_z(writer, "connection: close\r\n");
	else if (!req->head.minor)
		put_z(writer, "connection: keep-alive\r\n");
	put_z(writer, "\r\n");
}

/* The head, with room for `extra` bytes behind it. Return: .ptr NULL when memory is out. */
static struct eddy_str make_head(struct eddy_req *req, uint64_t length, size_t extra)
{
	size_t size = head_size(&req->res);
	char *buf = eddyi_arena_alloc(&req->arena, size + extra);
	struct writer writer = { buf, buf + size };

	if (!buf)
		return eddy_str(NULL, 0);
	put_head(&writer, req, length);
	return eddy_str(buf, (size_t)(writer.at - buf));
}

/* ---- bodies ---- */

/* Whether the next request is here already, so that its answer comes at once or not for a while; the
 * wire sees to the second. */
static bool more_follows(const struct eddy_req *req)
{
	struct eddy_str next = eddyi_wire_pending(req->wire);

	return req->keep && req->body.ended && next.len &&
	       memmem(next.ptr, next.len, "\r\n\r\n", 4);
}

static struct iovec piece(struct eddy_str bytes)
{
	return (struct iovec){ (void *)bytes.ptr, bytes.len };
}

/* The handler of a HEAD alone that sets no body has not said how long that of a GET would be: nor does the
 * head (RFC 9110 section 8.6). */
static bool is_length_unsaid(const struct eddy_req *req)
{
	return req->res.kind == EDDYI_RES_EMPTY && req->route &&
	       req->route->method == EDDYI_METHOD_HEAD;
}

static int reply_bytes(struct eddy_req *req, struct eddy_str body)
{
	uint64_t length = is_length_unsaid(req) ? EDDY_LENGTH_UNKNOWN : body.len;
	bool silent = !eddyi_reply_has_body(req);
	size_t copied = !silent && body.len <= COPY_MAX ? body.len : 0;
	struct eddy_str head = make_head(req, length, copied);

	if (!head.ptr)
		return -ENOMEM;
	req->res.head_sent = true;
	if (!silent && !copied && body.len)
		return eddyi_wire_sendv(req->wire, (struct iovec[]){ piece(head), piece(body) }, 2);
	if (copied)
		memcpy((char *)head.ptr + head.len, body.ptr, copied);
	return eddyi_wire_answer(req->wire, eddy_str(head.ptr, head.len + copied),
				 more_follows(req));
}

static int reply_piece(struct eddy_req *req)
{
	struct eddy_res *res = &req->res;
	uint64_t length = res->file_size ? res->range.last - res->range.first + 1 : 0;
	bool silent = is_head_request(req);
	size_t copied = !silent && length <= COPY_MAX ? (size_t)length : 0;
	struct eddy_str head = make_head(req, length, copied);
	int r;

	if (!head.ptr)
		return -ENOMEM;
	if (copied) {
		r = eddyi_file_read(res->file, (char *)head.ptr + head.len, copied,
				    res->range.first);
		if (r < 0)
			return r;
	}
	res->head_sent = true;
	if (silent || copied == length)
		return eddyi_wire_answer(req->wire, eddy_str(head.ptr, head.len + copied),
					 more_follows(req));
	return eddyi_wire_send_file(req->wire, &(struct eddy_transfer){
						       .file = res->file,
						       .offset = res->range.first,
						       .len = length,
						       .head = head,
					       });
}

/* The lines before part `at` of a multipart/byteranges body; past the last one, its end. */
static struct eddy_str part_head(struct eddy_res *res, size_t at)
{
	char range[EDDYI_RANGE_TEXT_SIZE];

	if (at == res->ranges->count)
		return eddyi_arena_printf(&res->req->arena, "\r\n--%.*s--\r\n",
					  EDDY_FMT(res->boundary));
	return eddyi_arena_printf(
		&res->req->arena, "%s--%.*s\r\ncontent-type: %.*s\r\ncontent-range: %.*s\r\n\r\n",
		at ? "\r\n" : "", EDDY_FMT(res->boundary), EDDY_FMT(res->part_type),
		EDDY_FMT(eddyi_range_format(res->ranges->ranges[at], res->file_size, range)));
}

static int reply_pieces(struct eddy_req *req)
{
	struct eddy_res *res = &req->res;
	size_t count = res->ranges->count;
	struct eddy_str parts[EDDYI_RANGE_MAX + 1], head;
	uint64_t length = 0;
	int r;

	for (size_t i = 0; i <= count; i++) {
		parts[i] = part_head(res, i);
		if (!parts[i].ptr)
			return -ENOMEM;
		length += parts[i].len;
		if (i < count)
			length += res->ranges->ranges[i].last - res->ranges->ranges[i].first + 1;
	}
	head = make_head(req, length, parts[0].len);
	if (!head.ptr)
		return -ENOMEM;
	res->head_sent = true;
	if (is_head_request(req))
		return eddyi_wire_send(req->wire, head.ptr, head.len);
	memcpy((char *)head.ptr + head.len, parts[0].ptr, parts[0].len);
	parts[0] = eddy_str(head.ptr, head.len + parts[0].len);
	for (size_t i = 0; i < count; i++) {
		struct eddyi_range range = res->ranges->ranges[i];

		r = eddyi_wire_send_file(req->wire, &(struct eddy_transfer){
							    .file = res->file,
							    .offset = range.first,
							    .len = range.last - range.first + 1,
							    .head = parts[i],
						    });
		if (r < 0)
			return r;
	}
	return eddyi_wire_send(req->wire, parts[count].ptr, parts[count].len);
}

/* ---- streams ---- */

/* Return: .ptr NULL when memory is out. */
static struct eddy_str begin_stream(struct eddy_req *req)
{
	struct eddy_res *res = &req->res;

	res->kind = EDDYI_RES_STREAM;
	res->chunked = req->head.minor > 0;
	req->keep = res->chunked && eddyi_exchange_may_keep(req);
	res->head_sent = true;
	return make_head(req, EDDY_LENGTH_UNKNOWN, 0);
}

int eddyi_reply_stream(struct eddy_req *req, const void *buf, size_t len)
{
	struct eddy_str head = eddy_str("", 0);
	struct iovec pieces[4];
	size_t count = 0;
	char size[24];

	if (!req->res.head_sent) {
		head = begin_stream(req);
		if (!head.ptr)
			return -ENOMEM;
		pieces[count++] = piece(head);
	}
	if (len && eddyi_reply_has_body(req)) {
		int size_len = snprintf(size, sizeof(size), "%zx\r\n", len);

		if (req->res.chunked)
			pieces[count++] = piece(eddy_str(size, (size_t)size_len));
		pieces[count++] = piece(eddy_str(buf, len));
		if (req->res.chunked)
			pieces[count++] = piece(eddy_str("\r\n", 2));
	}
	return eddyi_wire_sendv(req->wire, pieces, count);
}

static int end_stream(struct eddy_req *req)
{
	if (!req->res.chunked || !eddyi_reply_has_body(req))
		return 0;
	return eddyi_wire_send(req->wire, "0\r\n\r\n", 5);
}

int eddyi_reply(struct eddy_req *req)
{
	switch (req->res.kind) {
	case EDDYI_RES_EMPTY:
		return reply_bytes(req, eddy_str("", 0));
	case EDDYI_RES_BYTES:
		return reply_bytes(req, req->res.bytes);
	case EDDYI_RES_FILE:
		return req->res.ranges ? reply_pieces(req) : reply_piece(req);
	case EDDYI_RES_STREAM:
		return end_stream(req);
	}
	return -EINVAL;
}
