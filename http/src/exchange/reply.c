/* Sending of responses: a small body with its head, a file by eddy_transfer, a stream in chunks. */
#include "reply.h"

#include "coded.h"
#include "reply_chunk.h"
#include "reply_head.h"

#include <eddy/internal/transfer.h>
#include <eddy/io.h>
#include <eddy/transfer.h>
#include <errno.h>
#include <stdio.h>
#include <sys/uio.h>

static bool is_head_request(const struct eddy_req *req)
{
	return req->head.method == EDDYI_METHOD_HEAD;
}

static struct iovec piece(struct eddy_str bytes)
{
	return (struct iovec){ (void *)bytes.ptr, bytes.len };
}

static int reply_bytes(struct eddy_req *req, struct eddy_str body)
{
	uint64_t length = eddyi_reply_is_length_unsaid(req) ? EDDY_LENGTH_UNKNOWN : body.len;
	bool silent = !eddyi_reply_has_body(req);
	size_t copied = !silent && body.len <= EDDYI_REPLY_COPY_MAX ? body.len : 0;
	struct eddy_str head = eddyi_reply_head(req, length, copied);

	if (!head.ptr)
		return -ENOMEM;
	req->res.head_sent = true;
	if (!silent && !copied && body.len)
		return eddyi_wire_sendv(req->wire, (struct iovec[]){ piece(head), piece(body) }, 2);
	if (copied)
		memcpy((char *)head.ptr + head.len, body.ptr, copied);
	return eddyi_wire_answer(req->wire, eddy_str(head.ptr, head.len + copied),
				 eddyi_reply_is_followed(req));
}

static int reply_piece(struct eddy_req *req)
{
	struct eddy_res *res = &req->res;
	uint64_t length = res->file_size ? res->range.last - res->range.first + 1 : 0;
	bool silent = is_head_request(req);
	size_t copied = !silent && eddyi_transfer_copies_out(length) ? (size_t)length : 0;
	struct eddy_str head = eddyi_reply_head(req, length, copied);
	int r;

	if (!head.ptr)
		return -ENOMEM;
	if (copied) {
		r = eddyi_outgoing_read(&res->file, (char *)head.ptr + head.len, copied,
					res->range.first);
		if (r < 0)
			return r;
	}
	res->head_sent = true;
	if (silent || copied == length)
		return eddyi_wire_answer(req->wire, eddy_str(head.ptr, head.len + copied),
					 eddyi_reply_is_followed(req));
	return eddyi_wire_send_file(req->wire, &(struct eddy_transfer){
						       .file = res->file.fd,
						       .device = res->file.device,
						       .warmth = eddyi_outgoing_warmth(&res->file),
						       .offset = res->range.first,
						       .len = length,
						       .head = head,
					       });
}

/* Get the lines before part `at` of a multipart/byteranges body; past the last part, its end. The
 * blank line before the first (RFC 9110 section 14.6) is needed by zsync, which skips one. */
static struct eddy_str part_head(struct eddy_res *res, size_t at)
{
	char range[EDDYI_RANGE_TEXT_SIZE];

	if (at == res->ranges->count)
		return eddyi_arena_printf(&res->req->arena, "\r\n--%.*s--\r\n",
					  EDDY_FMT(res->boundary));
	return eddyi_arena_printf(
		&res->req->arena, "\r\n--%.*s\r\ncontent-type: %.*s\r\ncontent-range: %.*s\r\n\r\n",
		EDDY_FMT(res->boundary), EDDY_FMT(res->part_type),
		EDDY_FMT(eddyi_range_format(res->ranges->ranges[at], res->file_size, range)));
}

static int reply_pieces(struct eddy_req *req)
{
	struct eddy_res *res = &req->res;
	size_t count = res->ranges->count;
	struct eddy_str *parts = eddyi_arena_alloc(&req->arena, (count + 1) * sizeof(*parts)), head;
	uint64_t length = 0;
	int r;

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i <= count; i++) {
		parts[i] = part_head(res, i);
		if (!parts[i].ptr)
			return -ENOMEM;
		length += parts[i].len;
		if (i < count)
			length += res->ranges->ranges[i].last - res->ranges->ranges[i].first + 1;
	}
	head = eddyi_reply_head(req, length, parts[0].len);
	if (!head.ptr)
		return -ENOMEM;
	res->head_sent = true;
	if (is_head_request(req))
		return eddyi_wire_send(req->wire, head.ptr, head.len);
	memcpy((char *)head.ptr + head.len, parts[0].ptr, parts[0].len);
	parts[0] = eddy_str(head.ptr, head.len + parts[0].len);
	for (size_t i = 0; i < count; i++) {
		struct eddyi_range range = res->ranges->ranges[i];

		r = eddyi_wire_send_file(req->wire,
					 &(struct eddy_transfer){
						 .file = res->file.fd,
						 .device = res->file.device,
						 .warmth = eddyi_outgoing_warmth(&res->file),
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

/* Send a stream's head, if it has not been sent, and a piece. Suspends. Return: 0, -errno. */
static int send_stream(struct eddy_req *req, const void *buf, size_t len)
{
	struct eddy_res *res = &req->res;

	if (!res->head_sent) {
		res->kind = EDDYI_RES_STREAM;
		eddyi_coded_look(req);
		eddyi_reply_unsize(req);
	}
	if (res->coded.coder)
		return eddyi_coded_write(req, eddy_str(buf, len));
	return eddyi_reply_chunk(req, eddy_str(buf, len), false);
}

int eddy_res_write(struct eddy_res *res, const void *buf, size_t len)
{
	int r = res->failed;

	if (r == 0 && (len || !res->head_sent))
		r = send_stream(res->req, buf, len);
	if (r < 0)
		res->failed = r;
	/* Without a body, stop the handler: a stream may be endless. */
	return r < 0 || eddyi_reply_has_body(res->req) ? r : -EPIPE;
}

static int end_stream(struct eddy_req *req)
{
	if (req->res.coded.coder)
		return eddyi_coded_end(req);
	return eddyi_reply_chunk(req, EDDY_STR(""), true);
}

int eddyi_reply(struct eddy_req *req)
{
	struct eddy_res *res = &req->res;

	/* A body that was set after the head was sent is ignored. */
	if (res->kind == EDDYI_RES_STREAM || res->head_sent)
		return end_stream(req);
	eddyi_coded_look(req);
	if (res->unsized)
		return eddyi_coded_reply(req);
	switch (res->kind) {
	case EDDYI_RES_EMPTY:
		return reply_bytes(req, EDDY_STR(""));
	case EDDYI_RES_BYTES:
		return reply_bytes(req, res->bytes);
	case EDDYI_RES_FILE:
		return res->ranges ? reply_pieces(req) : reply_piece(req);
	case EDDYI_RES_STREAM:
		break;
	}
	return -EINVAL;
}
