#include "reply.h"

#include "coded.h"
#include "res.h"

#include <errno.h>

/* Send the head. `length` is that of the body; EDDY_LENGTH_UNKNOWN: the head does not tell. */
static void send_head(struct eddy_req *req, uint64_t length)
{
	req->res.head_sent = true;
	req->stream->verbs->send_head(req, length);
}

static int reply_bytes(struct eddy_req *req, struct eddy_str body)
{
	send_head(req, eddyi_res_is_length_unsaid(&req->res) ? EDDY_LENGTH_UNKNOWN : body.len);
	return req->stream->verbs->send(req, eddyi_res_is_silent(&req->res) ? EDDY_STR("") : body,
					true);
}

static struct eddy_transfer part_of(const struct eddyi_outgoing *file, struct eddyi_range range)
{
	return (struct eddy_transfer){
		.file = file->fd,
		.device = file->device,
		.warmth = file->warmth,
		.offset = range.first,
		.len = range.last - range.first + 1,
	};
}

static int reply_piece(struct eddy_req *req)
{
	const struct eddy_res *res = &req->res;
	uint64_t length = res->file_size ? res->range.last - res->range.first + 1 : 0;
	struct eddy_transfer part;

	if (res->file.bytes)
		return reply_bytes(req, eddy_str(res->file.bytes + res->range.first, length));
	send_head(req, length);
	if (!length || eddyi_res_is_silent(res))
		return req->stream->verbs->send(req, EDDY_STR(""), true);
	part = part_of(&res->file, res->range);
	return req->stream->verbs->file_out(req, &part, true);
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
	struct eddy_str *parts = eddyi_arena_alloc(&req->arena, (count + 1) * sizeof(*parts));
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
	send_head(req, length);
	if (eddyi_res_is_silent(res))
		return req->stream->verbs->send(req, EDDY_STR(""), true);
	for (size_t i = 0; i < count; i++) {
		struct eddy_transfer part = part_of(&res->file, res->ranges->ranges[i]);

		part.head = parts[i];
		r = req->stream->verbs->file_out(req, &part, false);
		if (r < 0)
			return r;
	}
	return req->stream->verbs->send(req, parts[count], true);
}

/* ---- streams ---- */

/* Send a stream's head, if it has not been sent, and a piece. Suspends. Return: 0, -errno. */
static int send_stream(struct eddy_req *req, const void *buf, size_t len)
{
	struct eddy_res *res = &req->res;

	if (!res->head_sent) {
		res->kind = EDDYI_RES_STREAM;
		eddyi_coded_look(req);
		res->unsized = true;
	}
	if (res->coded.coder)
		return eddyi_coded_write(req, eddy_str(buf, len));
	return eddyi_res_send(res, eddy_str(buf, len), false);
}

int eddy_res_write(struct eddy_res *res, const void *buf, size_t len)
{
	int r = res->failed;

	if (r == 0 && (len || !res->head_sent))
		r = send_stream(res->req, buf, len);
	if (r < 0)
		res->failed = r;
	/* Without a body, stop the handler: a stream may be endless. */
	return r == 0 && eddyi_res_is_silent(res) ? -EPIPE : r;
}

static int end_stream(struct eddy_req *req)
{
	if (req->res.coded.coder)
		return eddyi_coded_end(req);
	return eddyi_res_send(&req->res, EDDY_STR(""), true);
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
