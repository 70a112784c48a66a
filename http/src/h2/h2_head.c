/* The fields of requests and responses. */
#include "h2.h"

#include "exchange/res.h"
#include "h2_output.h"
#include "message/status.h"

#include <errno.h>

/* ---- requests ---- */

/* Length of the request line in HTTP/1.1, beside method and target. */
#define LINE_EXTRA (sizeof("  HTTP/1.1\r\n") - 1)
/* And of a field, beside name and value. */
#define FIELD_EXTRA (sizeof(": \r\n") - 1)
/* And of the line that ends the fields. */
#define LINE_END (sizeof("\r\n") - 1)

static void refuse(struct eddyi_h2_stream *stream, int status, const char *problem)
{
	stream->req.refused = eddyi_head_refuse(&stream->req.head, status, problem);
}

/* Count a field, which :authority is like Host. */
static void count_field(struct eddyi_h2_stream *stream, size_t name_len, size_t value_len)
{
	const struct eddyi_head_limits *limits = &stream->req.app->head_limits;

	stream->fields_size += name_len + value_len + FIELD_EXTRA;
	if (stream->fields_size + LINE_END > limits->header_block_max)
		refuse(stream, 431, "the header fields are too large");
	else if (++stream->fields > limits->header_count_max)
		refuse(stream, 431, "there are too many header fields");
}

/* Keep a pseudo-header field; the session has checked that they are complete, and not repeated.
 * The scheme says nothing that the connection does not. */
static int add_pseudo(struct eddyi_h2_stream *stream, struct eddy_str name, struct eddy_str value)
{
	struct eddyi_head *head = &stream->req.head;
	struct eddy_str *member = eddy_str_eq_z(name, ":method")    ? &stream->line.method :
				  eddy_str_eq_z(name, ":path")      ? &stream->line.target :
				  eddy_str_eq_z(name, ":authority") ? &stream->line.authority :
								      NULL;

	if (!member)
		return 0;
	if (member == &stream->line.authority)
		count_field(stream, sizeof("host") - 1, value.len);
	else
		stream->line_size += value.len;
	if (stream->line_size + LINE_EXTRA > stream->req.app->head_limits.request_line_max)
		refuse(stream, 414, "the request line is too long");
	if (stream->req.refused)
		return 0;
	*member = eddyi_arena_dup(head->arena, value);
	return member->ptr ? 0 : -ENOMEM;
}

int eddyi_h2_head_add(struct eddyi_h2_stream *stream, struct eddy_str name, struct eddy_str value)
{
	struct eddyi_head *head = &stream->req.head;
	struct eddyi_header *header;

	if (stream->req.refused)
		return 0;
	if (name.ptr[0] == ':')
		return add_pseudo(stream, name, value);
	count_field(stream, name.len, value.len);
	if (stream->req.refused)
		return 0;
	header = eddyi_head_add(head);
	if (!header)
		return -ENOMEM;
	header->name = eddyi_arena_dup(head->arena, name);
	header->value = eddyi_arena_dup(head->arena, value);
	return header->name.ptr && header->value.ptr ? 0 : -ENOMEM;
}

void eddyi_h2_head_end(struct eddyi_h2_stream *stream, bool has_body)
{
	struct eddyi_head *head = &stream->req.head;
	struct eddyi_ruling ruling = { 0 };
	int status;

	head->version = EDDY_HTTP_2;
	stream->inbox.complete = !has_body;
	if (eddy_str_eq_z(stream->line.method, "CONNECT"))
		stream->line.target = stream->line.authority;
	if (!stream->req.refused && !eddyi_method_is_known(stream->line.method))
		refuse(stream, 501, "the method is not known");
	if (!stream->req.refused) {
		status = eddyi_rules_judge(head, &stream->line, &ruling);
		stream->req.refused = status >= 400 ? status : 0;
	}
	if (!has_body)
		head->length = 0;
	stream->expects = ruling.expect_continue && has_body;
}

/* ---- responses ---- */

/* Fields of a connection (RFC 9113 section 8.2.2). */
static bool is_of_connection(struct eddy_str name)
{
	static const char *const names[] = { "connection", "keep-alive", "proxy-connection",
					     "transfer-encoding", "upgrade" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (eddy_str_eq_nocase(name, eddy_str_from(names[i])))
			return true;
	return false;
}

struct fields {
	nghttp2_nv *list;
	size_t count;
	size_t size; /* of the text */
};

/* The session copies names and values, and makes the names small letters. */
static void add(struct fields *fields, struct eddy_str name, struct eddy_str value)
{
	fields->list[fields->count++] = (nghttp2_nv){ .name = (uint8_t *)name.ptr,
						      .value = (uint8_t *)value.ptr,
						      .namelen = name.len,
						      .valuelen = value.len };
	fields->size += name.len + value.len;
}

/* Add :status, formatted into `text`. */
static void add_status(struct fields *fields, int status, char text[EDDY_U64_SIZE])
{
	add(fields, EDDY_STR(":status"), eddy_str(text, eddy_u64_format((uint64_t)status, text)));
}

/* Fields beside those of the response: :status, server, date, content-length. */
#define OWN_FIELDS 4

int eddyi_h2_head_submit(struct eddyi_h2_stream *stream, bool ends)
{
	const struct eddy_res *res = &stream->req.res;
	const nghttp2_data_provider provider = { .read_callback = eddyi_h2_output_read };
	size_t size = (res->header_count + OWN_FIELDS) * sizeof(nghttp2_nv);
	struct fields fields = { .list = eddyi_arena_alloc(&stream->req.arena, size) };
	char status[EDDY_U64_SIZE], length[EDDY_U64_SIZE];

	if (!fields.list)
		return -ENOMEM;
	add_status(&fields, res->status, status);
	add(&fields, EDDY_STR("server"), EDDY_STR("eddy"));
	add(&fields, EDDY_STR("date"), eddyi_clocks_date(stream->h2->conn->wire.clocks));
	for (unsigned i = 0; i < res->header_count; i++)
		if (!is_of_connection(res->headers[i].name))
			add(&fields, res->headers[i].name, res->headers[i].value);
	if (stream->length != EDDY_LENGTH_UNKNOWN)
		add(&fields, EDDY_STR("content-length"),
		    eddy_str(length, eddy_u64_format(stream->length, length)));
	if (nghttp2_submit_response(stream->h2->session, stream->id, fields.list, fields.count,
				    ends ? NULL : &provider) != 0)
		return -ENOMEM;
	stream->sent += fields.size;
	return 0;
}

int eddyi_h2_head_interim(struct eddyi_h2_stream *stream, int status,
			  const struct eddy_header *fields)
{
	/* Not in request memory: there may be one a second, for a day. */
	EDDY_AUTO(eddyi_arena_deinit) struct eddyi_arena arena = { 0 };
	const struct eddy_header *field;
	struct fields list = { 0 };
	char text[EDDY_U64_SIZE];
	size_t count = 1;

	for (field = fields; field && field->name; field++)
		count++;
	list.list = eddyi_arena_alloc(&arena, count * sizeof(nghttp2_nv));
	if (!list.list)
		return -ENOMEM;
	add_status(&list, status, text);
	for (field = fields; field && field->name; field++)
		add(&list, eddy_str_from(field->name), eddy_str_trim(eddy_str_from(field->value)));
	if (nghttp2_submit_headers(stream->h2->session, NGHTTP2_FLAG_NONE, stream->id, NULL,
				   list.list, list.count, NULL) != 0)
		return -ENOMEM;
	stream->sent += list.size;
	return 0;
}
