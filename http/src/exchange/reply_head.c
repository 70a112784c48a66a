#include "reply_head.h"

#include "message/status.h"

bool eddyi_reply_has_body(const struct eddy_req *req)
{
	return req->head.method != EDDYI_METHOD_HEAD && eddyi_status_has_body(req->res.status);
}

bool eddyi_reply_is_length_unsaid(const struct eddy_req *req)
{
	return req->res.kind == EDDYI_RES_EMPTY && req->route &&
	       req->route->method == EDDYI_METHOD_HEAD;
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

bool eddyi_reply_is_followed(const struct eddy_req *req)
{
	struct eddy_str next = eddyi_wire_pending(req->wire);

	return req->keep && req->body.ended && has_empty_line(next);
}

/* ---- writing ---- */

struct writer {
	char *at;
	char *end;
};

/* Inlined, a text of constant length needs no call. */
static inline __attribute__((always_inline)) void put(struct writer *writer, struct eddy_str text)
{
	if (text.len > (size_t)(writer->end - writer->at))
		return;
	memcpy(writer->at, text.ptr, text.len);
	writer->at += text.len;
}

#define PUT(writer, literal) put(writer, eddy_str(literal, sizeof(literal) - 1))

static void put_field(struct writer *writer, struct eddy_str name, struct eddy_str value)
{
	put(writer, name);
	PUT(writer, ": ");
	put(writer, value);
	PUT(writer, "\r\n");
}

static void put_number(struct writer *writer, uint64_t number)
{
	char text[EDDY_U64_SIZE];

	put(writer, eddy_str(text, eddy_u64_format(number, text)));
}

static void put_status(struct writer *writer, int status)
{
	if (status == 200) {
		PUT(writer, "HTTP/1.1 200 OK");
		return;
	}
	PUT(writer, "HTTP/1.1 ");
	put_number(writer, (uint64_t)status);
	PUT(writer, " ");
	put(writer, eddy_str_from(eddyi_status_phrase(status)));
}

/* Room for what put_head() adds to the response's fields. */
#define OWN_FIELDS_MAX 256

static size_t head_size(const struct eddy_res *res)
{
	size_t size = OWN_FIELDS_MAX;

	for (unsigned i = 0; i < res->header_count; i++)
		size += res->headers[i].name.len + res->headers[i].value.len + 4;
	return size;
}

/* `length` is EDDY_LENGTH_UNKNOWN for no content-length. */
static void put_head(struct writer *writer, struct eddy_req *req, uint64_t length)
{
	struct eddy_res *res = &req->res;

	put_status(writer, res->status);
	put(writer, eddyi_clocks_own_lines(req->wire->clocks));
	for (unsigned i = 0; i < res->header_count; i++)
		put_field(writer, res->headers[i].name, res->headers[i].value);
	if (res->chunked) {
		PUT(writer, "transfer-encoding: chunked\r\n");
	} else if (!res->unsized && length != EDDY_LENGTH_UNKNOWN &&
		   eddyi_status_has_body(res->status)) {
		PUT(writer, "content-length: ");
		put_number(writer, length);
		PUT(writer, "\r\n");
	}
	if (!req->keep)
		PUT(writer, "connection: close\r\n");
	else if (!req->head.minor)
		PUT(writer, "connection: keep-alive\r\n");
	PUT(writer, "\r\n");
}

struct eddy_str eddyi_reply_head(struct eddy_req *req, uint64_t length, size_t extra)
{
	size_t size = head_size(&req->res);
	char *buf = eddyi_arena_alloc(&req->arena, size + extra);
	struct writer writer;

	if (!buf)
		return eddy_str(NULL, 0);
	writer = (struct writer){ buf, buf + size };
	put_head(&writer, req, length);
	return eddy_str(buf, (size_t)(writer.at - buf));
}
