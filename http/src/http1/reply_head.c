#include "reply_head.h"

#include "message/status.h"

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

static void put_head(struct writer *writer, const struct eddyi_reply *reply,
		     const struct eddy_req *req, struct eddyi_clocks *clocks)
{
	const struct eddy_res *res = &req->res;

	put_status(writer, res->status);
	put(writer, eddyi_clocks_own_lines(clocks));
	for (unsigned i = 0; i < res->header_count; i++)
		put_field(writer, res->headers[i].name, res->headers[i].value);
	if (reply->chunked) {
		PUT(writer, "transfer-encoding: chunked\r\n");
	} else if (reply->length != EDDY_LENGTH_UNKNOWN) {
		PUT(writer, "content-length: ");
		put_number(writer, reply->length);
		PUT(writer, "\r\n");
	}
	if (res->status == 101) {
		PUT(writer, "connection: upgrade\r\n");
		PUT(writer, "upgrade: websocket\r\n");
	} else if (res->status == 426) {
		PUT(writer, "connection: upgrade");
		if (!reply->keep)
			PUT(writer, ", close");
		PUT(writer, "\r\n");
	} else if (!reply->keep) {
		PUT(writer, "connection: close\r\n");
	} else if (req->head.version == EDDY_HTTP_1_0) {
		PUT(writer, "connection: keep-alive\r\n");
	}
	PUT(writer, "\r\n");
}

void eddyi_reply_begin(struct eddyi_reply *reply, const struct eddy_req *req, uint64_t length,
		       bool may_keep)
{
	const struct eddy_res *res = &req->res;
	bool has_body = eddyi_status_has_body(res->status);

	reply->length = res->unsized || !has_body ? EDDY_LENGTH_UNKNOWN : length;
	reply->chunked = res->unsized && has_body && req->head.version != EDDY_HTTP_1_0;
	reply->silent = !has_body || req->head.method == EDDYI_METHOD_HEAD;
	/* Without chunks, an unsized body ends with the connection. */
	reply->keep = may_keep && (!res->unsized || !has_body || reply->chunked);
}

struct eddy_str eddyi_reply_head(const struct eddyi_reply *reply, struct eddy_req *req,
				 struct eddyi_clocks *clocks, size_t extra)
{
	size_t size = head_size(&req->res);
	char *buf = eddyi_arena_alloc(&req->arena, size + extra);
	struct writer writer;

	if (!buf)
		return eddy_str(NULL, 0);
	writer = (struct writer){ buf, buf + size };
	put_head(&writer, reply, req, clocks);
	return eddy_str(buf, (size_t)(writer.at - buf));
}

struct eddy_str eddyi_reply_interim(struct eddyi_arena *arena, int status,
				    const struct eddy_header *fields)
{
	static const struct eddy_header none;
	const struct eddy_header *field;
	size_t size = OWN_FIELDS_MAX;
	struct writer writer;
	char *buf;

	fields = fields ? fields : &none;
	for (field = fields; field->name; field++)
		size += strlen(field->name) + strlen(field->value) + 4;
	buf = eddyi_arena_alloc(arena, size);
	if (!buf)
		return eddy_str(NULL, 0);
	writer = (struct writer){ buf, buf + size };
	put_status(&writer, status);
	PUT(&writer, "\r\n");
	for (field = fields; field->name; field++)
		put_field(&writer, eddy_str_from(field->name),
			  eddy_str_trim(eddy_str_from(field->value)));
	PUT(&writer, "\r\n");
	return eddy_str(buf, (size_t)(writer.at - buf));
}
