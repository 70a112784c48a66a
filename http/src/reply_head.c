/* The head of a response, as it is sent. */
#include "exchange.h"

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

static void put_field(struct writer *writer, struct eddy_str name, struct eddy_str value)
{
	put(writer, name);
	put(writer, eddy_str(": ", 2));
	put(writer, value);
	put(writer, eddy_str("\r\n", 2));
}

static void put_number(struct writer *writer, const char *before, uint64_t number,
		       const char *after)
{
	char text[EDDY_U64_SIZE];

	put_z(writer, before);
	put(writer, eddy_str(text, eddy_u64_format(number, text)));
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

/* `length` is EDDY_LENGTH_UNKNOWN where it is not said. */
static void put_head(struct writer *writer, struct eddy_req *req, uint64_t length)
{
	struct eddy_res *res = &req->res;

	put_number(writer, "HTTP/1.1 ", (uint64_t)res->status, " ");
	put_z(writer, eddyi_status_phrase(res->status));
	put_z(writer, "\r\nserver: eddy\r\n");
	put_field(writer, eddy_str("date", 4), eddyi_clocks_date(req->wire->clocks));
	for (unsigned i = 0; i < res->header_count; i++)
		put_field(writer, res->headers[i].name, res->headers[i].value);
	if (res->chunked)
		put_z(writer, "transfer-encoding: chunked\r\n");
	else if (!res->unsized && length != EDDY_LENGTH_UNKNOWN &&
		 eddyi_status_has_body(res->status))
		put_number(writer, "content-length: ", length, "\r\n");
	if (!req->keep)
		put_z(writer, "connection: close\r\n");
	else if (!req->head.minor)
		put_z(writer, "connection: keep-alive\r\n");
	put_z(writer, "\r\n");
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
