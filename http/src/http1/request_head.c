#include "request_head.h"

#include "text/host.h"
#include "text/path.h"
#include "text/syntax.h"

#include <eddy/req.h>

#define HEADERS_FIRST 16
/* An unknown but possible method gets a 501. RFC 9110 has no limit of its length. */
#define METHOD_LEN_MAX 32
#define BLANK_LINES_MAX 2

/* While parsing, strings hold offsets into `bytes`, which may be moved. */
static const char *offset_of(const struct eddyi_request_head *request, const char *at)
{
	return (const char *)(uintptr_t)(at - request->bytes);
}

static void extend(const struct eddyi_request_head *request, struct eddy_str *str, const char *at,
		   size_t len)
{
	if (!str->len)
		str->ptr = offset_of(request, at);
	str->len += len;
}

static struct eddy_str resolve(const struct eddyi_request_head *request, struct eddy_str str)
{
	if (!str.len)
		return EDDY_STR("");
	return eddy_str(request->bytes + (uintptr_t)str.ptr, str.len);
}

static int on_url(llhttp_t *parser, const char *at, size_t len)
{
	struct eddyi_request_head *request = parser->data;

	extend(request, &request->head->target.path, at, len);
	return 0;
}

static bool add_header(struct eddyi_request_head *request)
{
	struct eddyi_head *head = request->head;

	if (head->header_count == request->limits->header_count_max) {
		request->too_many_headers = true;
		return false;
	}
	if (head->header_count == request->header_capacity) {
		unsigned capacity = request->header_capacity ? request->header_capacity * 2 :
							       HEADERS_FIRST;
		struct eddyi_header *headers =
			eddyi_arena_alloc(head->arena, capacity * sizeof(*headers));

		if (!headers)
			return false;
		if (head->header_count)
			memcpy(headers, head->headers, head->header_count * sizeof(*headers));
		head->headers = headers;
		request->header_capacity = capacity;
	}
	head->headers[head->header_count++] = (struct eddyi_header){ 0 };
	return true;
}

static int on_header_field(llhttp_t *parser, const char *at, size_t len)
{
	struct eddyi_request_head *request = parser->data;
	struct eddyi_head *head = request->head;

	if (!request->in_name && !add_header(request)) {
		request->failed_in_callback = true;
		return -1;
	}
	request->in_name = true;
	extend(request, &head->headers[head->header_count - 1].name, at, len);
	return 0;
}

static int on_header_value(llhttp_t *parser, const char *at, size_t len)
{
	struct eddyi_request_head *request = parser->data;
	struct eddyi_head *head = request->head;

	request->in_name = false;
	extend(request, &head->headers[head->header_count - 1].value, at, len);
	return 0;
}

static int on_header_value_complete(llhttp_t *parser)
{
	struct eddyi_request_head *request = parser->data;

	request->in_name = false;
	return 0;
}

static int on_headers_complete(llhttp_t *parser)
{
	struct eddyi_request_head *request = parser->data;

	request->complete = true;
	return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
	.on_url = on_url,
	.on_header_field = on_header_field,
	.on_header_value = on_header_value,
	.on_header_value_complete = on_header_value_complete,
	.on_headers_complete = on_headers_complete,
};

void eddyi_request_head_init(struct eddyi_request_head *request, struct eddyi_head *head,
			     const struct eddyi_head_limits *limits)
{
	*request = (struct eddyi_request_head){ .head = head, .limits = limits };
	llhttp_init(&request->parser, HTTP_REQUEST, &settings);
	request->parser.data = request;
}

int eddyi_request_head_refuse(struct eddyi_request_head *request, int status, const char *problem)
{
	request->framing = EDDYI_BODY_NONE;
	return eddyi_head_refuse(request->head, status, problem);
}

/* Find the "1.1" of a well-formed end of the request line. Return: NULL if it is malformed. */
static char *find_version(const struct eddyi_request_head *request)
{
	static const char before[] = " HTTP/";
	const size_t len = sizeof(before) - 1, behind = sizeof("1.1\r\n") - 1;
	char *at = request->bytes + request->line_end - behind;

	if (request->line_end < len + behind || memcmp(at - len, before, len) != 0)
		return NULL;
	if (at[0] < '0' || at[0] > '9' || at[1] != '.' || at[2] < '0' || at[2] > '9' ||
	    at[3] != '\r')
		return NULL;
	return at;
}

/* Treat HTTP/1.2 to 1.9 as 1.1 (RFC 9110 section 2.5), as well as 2.0 in the syntax of 1.1, except
 * for the preface of HTTP/2. llhttp knows only 1.1. */
static void lower_version(struct eddyi_request_head *request)
{
	char *at = find_version(request);

	if (!at || memcmp(request->bytes, "PRI ", 4) == 0)
		return;
	if ((at[0] == '1' && at[2] > '1') || (at[0] == '2' && at[2] == '0'))
		memcpy(at, "1.1", 3);
}

static size_t letters_in_front(const struct eddyi_request_head *request)
{
	size_t len = 0;

	while (len < request->len && (request->bytes[len] | 0x20) >= 'a' &&
	       (request->bytes[len] | 0x20) <= 'z')
		len++;
	return len;
}

/* Whether the request line is well-formed and its method possible: letters of any case. */
static bool has_possible_method(const struct eddyi_request_head *request)
{
	const char *version = request->line_end ? find_version(request) : NULL;
	size_t len = letters_in_front(request);
	struct eddy_str rest;

	if (!version || version[0] != '1' || !len || len > METHOD_LEN_MAX ||
	    request->bytes[len] != ' ')
		return false;
	rest = eddy_str(request->bytes + len + 1, (size_t)(version - request->bytes) - len - 1);
	return rest.len > sizeof(" HTTP/") - 1 &&
	       !memchr(rest.ptr, ' ', rest.len - (sizeof(" HTTP/") - 1));
}

static int refuse_error(struct eddyi_request_head *request, llhttp_errno_t error)
{
	if (request->failed_in_callback)
		return request->too_many_headers ?
			       eddyi_request_head_refuse(request, 431,
							 "there are too many header fields") :
			       eddyi_request_head_refuse(request, 503,
							 "the server is out of memory");
	switch (error) {
	case HPE_INVALID_METHOD:
		if (has_possible_method(request))
			return eddyi_request_head_refuse(request, 501, "the method is not known");
		return eddyi_request_head_refuse(request, 400, "the method is malformed");
	case HPE_INVALID_URL:
		return eddyi_request_head_refuse(request, 400, "the request target is malformed");
	case HPE_INVALID_VERSION:
	case HPE_PAUSED_H2_UPGRADE:
		return eddyi_request_head_refuse(
			request, 400, "the protocol version is not HTTP/1.0 or HTTP/1.1");
	case HPE_INVALID_CONTENT_LENGTH:
	case HPE_UNEXPECTED_CONTENT_LENGTH:
		return eddyi_request_head_refuse(
			request, 400,
			"the content-length is malformed, repeated or combined with "
			"transfer-encoding");
	case HPE_INVALID_TRANSFER_ENCODING:
		return eddyi_request_head_refuse(
			request, 400, "the transfer-encoding is malformed or not supported");
	case HPE_INVALID_HEADER_TOKEN:
		return eddyi_request_head_refuse(request, 400, "a header field is malformed");
	default:
		return eddyi_request_head_refuse(request, 400, "the request head is malformed");
	}
}

bool eddyi_head_lines_are_clean(struct eddy_str head)
{
	const char *at = head.ptr, *end = head.ptr + head.len;

	while (at < end) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));

		if (!feed || feed == at || feed[-1] != '\r' || *at == ' ' || *at == '\t')
			return false;
		if (memchr(at, '\r', (size_t)(feed - at)) != feed - 1)
			return false;
		at = feed + 1;
	}
	return true;
}

/* ---- framing and validation ---- */

/* A parsed head's method and fields. */
struct fields {
	const struct eddyi_header *headers;
	unsigned count;
	enum eddy_http_version version;
	enum eddyi_method method;
	uint64_t content_length; /* value of the field */
};

struct meaning {
	struct eddy_str host; /* the Host field; may be empty in 1.0 */
	enum eddyi_framing framing;
	uint64_t length; /* of the body, for EDDYI_BODY_LENGTH */
	bool keep_alive;
	bool expect_continue;
	const char *problem; /* why it is rejected; static text */
};

/* Collected in one pass. */
struct summary {
	struct eddy_str host;
	struct eddy_str transfer_encoding;
	struct eddy_str websocket_version;
	unsigned hosts;
	unsigned transfer_encodings;
	unsigned content_lengths;
	unsigned content_types;
	bool odd_length; /* a content-length in an unusual spelling */
	bool close;
	bool keep_alive;
	bool upgrade;
	bool expects;
	bool expects_continue;
};

static void sum_connection(struct summary *summary, struct eddy_str value)
{
	struct eddy_str option;

	while (eddyi_syntax_take_member(&value, &option)) {
		if (eddy_str_eq_nocase(option, EDDY_STR("close")))
			summary->close = true;
		else if (eddy_str_eq_nocase(option, EDDY_STR("keep-alive")))
			summary->keep_alive = true;
		else if (eddy_str_eq_nocase(option, EDDY_STR("upgrade")))
			summary->upgrade = true;
	}
}

/* Checks the bytes around the value, which are still those of the line. */
static bool is_odd_length(const struct eddyi_header *header)
{
	const char *colon = header->name.ptr + header->name.len;
	struct eddy_str value = header->value;

	if (value.len > 1 && value.ptr[0] == '0')
		return true;
	if (value.ptr != colon + 1 && !(value.ptr == colon + 2 && colon[1] == ' '))
		return true;
	return value.ptr[value.len] != '\r';
}

static void sum_header(struct summary *summary, const struct eddyi_header *header)
{
	struct eddy_str name = header->name, value = header->value;

#define IS(text) eddy_str_eq_nocase(name, eddy_str(text, sizeof(text) - 1))
	switch (name.len) {
	case 4:
		if (IS("host")) {
			summary->hosts++;
			summary->host = value;
		}
		break;
	case 6:
		if (IS("expect")) {
			summary->expects = true;
			summary->expects_continue =
				eddy_str_eq_nocase(value, EDDY_STR("100-continue"));
		}
		break;
	case 10:
		if (IS("connection"))
			sum_connection(summary, value);
		break;
	case 12:
		summary->content_types += IS("content-type");
		break;
	case 14:
		if (IS("content-length")) {
			summary->content_lengths++;
			summary->odd_length |= is_odd_length(header);
		}
		break;
	case 17:
		if (IS("transfer-encoding")) {
			summary->transfer_encodings++;
			summary->transfer_encoding = value;
		}
		break;
	case 21:
		if (IS("sec-websocket-version"))
			summary->websocket_version = value;
		break;
	}
#undef IS
}

static int refuse_for(struct meaning *meaning, int status, const char *problem)
{
	meaning->problem = problem;
	return status;
}

static int judge_body(const struct fields *fields, const struct summary *summary,
		      struct meaning *meaning)
{
	if (summary->content_types > 1)
		return refuse_for(meaning, 400, "there is more than one content-type");
	if (summary->transfer_encodings) {
		if (fields->version == EDDY_HTTP_1_0)
			return refuse_for(meaning, 400,
					  "transfer-encoding is not allowed in HTTP/1.0");
		if (summary->content_lengths)
			return refuse_for(meaning, 400,
					  "both content-length and transfer-encoding are present");
		if (summary->transfer_encodings > 1 ||
		    !eddy_str_eq_nocase(summary->transfer_encoding, EDDY_STR("chunked")))
			return refuse_for(meaning, 400,
					  "the only supported transfer-encoding is chunked");
		meaning->framing = EDDYI_BODY_CHUNKED;
	} else if (summary->content_lengths > 1) {
		return refuse_for(meaning, 400, "there is more than one content-length");
	} else if (summary->odd_length) {
		return refuse_for(meaning, 400,
				  "the content-length has leading zeros or surrounding blanks");
	} else if (summary->content_lengths) {
		/* UINT64_MAX is EDDY_LENGTH_UNKNOWN. */
		if (fields->content_length > INT64_MAX)
			return refuse_for(meaning, 413, "the content-length is too large");
		meaning->framing = EDDYI_BODY_LENGTH;
		meaning->length = fields->content_length;
	}
	return 200;
}

static int judge_host(const struct fields *fields, const struct summary *summary,
		      struct meaning *meaning)
{
	struct eddyi_host host;

	if (summary->hosts > 1)
		return refuse_for(meaning, 400, "there is more than one host field");
	if (!summary->hosts && fields->version != EDDY_HTTP_1_0)
		return refuse_for(meaning, 400, "the host field is missing");
	if (summary->hosts && eddyi_host_parse(summary->host, &host) < 0)
		return refuse_for(meaning, 400, "the host is malformed");
	meaning->host = summary->host;
	return 200;
}

/* HTTP/1.0 has neither expectations nor upgrades. */
static int judge_wishes(const struct fields *fields, const struct summary *summary,
			struct meaning *meaning)
{
	struct eddy_str version = summary->websocket_version;

	if (fields->version == EDDY_HTTP_1_0)
		return 200;
	if (summary->expects && !summary->expects_continue)
		return refuse_for(meaning, 417, "the only supported expectation is 100-continue");
	if (summary->upgrade && fields->method == EDDYI_METHOD_GET && version.ptr &&
	    !eddy_str_eq_z(version, "13"))
		return refuse_for(meaning, 426, "the only supported version of WebSocket is 13");
	meaning->expect_continue = summary->expects && meaning->framing != EDDYI_BODY_NONE;
	return 200;
}

/* Check the fields of a head. Return: 200; the status that rejects it, and `problem` says why. */
static int judge_meaning(const struct fields *fields, struct meaning *ret_meaning)
{
	struct summary summary = { .host = { "", 0 } };
	int status;

	for (unsigned i = 0; i < fields->count; i++)
		sum_header(&summary, &fields->headers[i]);
	*ret_meaning = (struct meaning){ .framing = EDDYI_BODY_NONE };
	status = judge_host(fields, &summary, ret_meaning);
	if (status == 200)
		status = judge_body(fields, &summary, ret_meaning);
	if (status == 200)
		status = judge_wishes(fields, &summary, ret_meaning);
	ret_meaning->keep_alive = !summary.close &&
				  (summary.keep_alive || fields->version != EDDY_HTTP_1_0);
	return status;
}

static int judge_fields(struct eddyi_request_head *request)
{
	struct eddyi_head *head = request->head;
	const struct fields fields = {
		.headers = head->headers,
		.count = head->header_count,
		.version = head->version,
		.method = head->method,
		.content_length = request->parser.content_length,
	};
	struct meaning meaning;
	int status = judge_meaning(&fields, &meaning);

	request->keep_alive = meaning.keep_alive;
	if (status != 200)
		return eddyi_request_head_refuse(request, status, meaning.problem);
	head->host = head->target.authority.ptr ? head->target.authority : meaning.host;
	head->length = meaning.framing == EDDYI_BODY_CHUNKED ? EDDY_LENGTH_UNKNOWN : meaning.length;
	request->framing = meaning.framing;
	request->expect_continue = meaning.expect_continue;
	return 200;
}

static int judge(struct eddyi_request_head *request)
{
	struct eddyi_head *head = request->head;
	struct eddy_str target;

	if (!eddyi_head_lines_are_clean(eddy_str(request->bytes, request->len)))
		return eddyi_request_head_refuse(
			request, 400, "a line of the head is folded or does not end in CRLF");
	head->version = request->parser.http_minor ? EDDY_HTTP_1_1 : EDDY_HTTP_1_0;
	if (request->parser.http_major != 1)
		return eddyi_request_head_refuse(
			request, 400, "the protocol version is not HTTP/1.0 or HTTP/1.1");
	for (unsigned i = 0; i < head->header_count; i++) {
		struct eddyi_header *header = &head->headers[i];

		if (!header->name.len)
			return eddyi_request_head_refuse(request, 400,
							 "a header field has no name");
		header->name = resolve(request, header->name);
		header->value = eddy_str_trim(resolve(request, header->value));
	}
	head->method_name = eddy_str_from(llhttp_method_name(request->parser.method));
	head->method = eddyi_method_from(head->method_name);
	target = resolve(request, head->target.path);
	/* One space between the parts (RFC 9112 section 3). llhttp also accepts other protocols. */
	if (head->method_name.len + target.len + sizeof("  HTTP/1.1\r\n") - 1 !=
		    request->line_end ||
	    !find_version(request))
		return eddyi_request_head_refuse(request, 400, "the request line is malformed");
	if (eddyi_target_parse(target, head->method, &head->target) < 0)
		return eddyi_request_head_refuse(request, 400, "the request target is malformed");
	if (!eddyi_path_remove_dots(&head->target.path))
		return eddyi_request_head_refuse(request, 400, "the path leads above the root");
	return judge_fields(request);
}

static int check_limits(struct eddyi_request_head *request)
{
	size_t line = request->line_end ? request->line_end : request->len;

	if (line > request->limits->request_line_max) {
		if (letters_in_front(request) > METHOD_LEN_MAX)
			return eddyi_request_head_refuse(request, 400, "the method is malformed");
		return eddyi_request_head_refuse(request, 414, "the request line is too long");
	}
	if (request->len - line > request->limits->header_block_max)
		return eddyi_request_head_refuse(request, 431, "the header fields are too large");
	return 0;
}

/* Check an incomplete request line. A first byte that begins no method is another protocol, such as
 * TLS, whose client may wait for a response before it sends the end of a line. */
static int check_part_of_line(struct eddyi_request_head *request)
{
	unsigned char first = request->len ? (unsigned char)request->bytes[0] : '\r';

	if ((first < ' ' && first != '\r') || first >= 0x7f)
		return eddyi_request_head_refuse(request, 400, "the method is malformed");
	return check_limits(request);
}

/* Skip blank lines before a request (RFC 9112 section 2.2). Return: false if there are too many. */
static bool drop_blank_lines(struct eddyi_request_head *request)
{
	unsigned most = request->is_first ? 1 : BLANK_LINES_MAX;
	size_t at = 0;

	while (at + 1 < request->len && request->bytes[at] == '\r' &&
	       request->bytes[at + 1] == '\n') {
		at += 2;
		request->blank_lines++;
	}
	if (at) {
		request->len -= at;
		memmove(request->bytes, request->bytes + at, request->len);
	}
	return request->blank_lines <= most;
}

static int parse(struct eddyi_request_head *request, size_t from)
{
	llhttp_errno_t error =
		llhttp_execute(&request->parser, request->bytes + from, request->len - from);

	if (error == HPE_OK)
		return 0;
	if (!request->complete)
		return refuse_error(request, error);
	request->len = (size_t)(llhttp_get_error_pos(&request->parser) - request->bytes);
	return 200;
}

/* llhttp gets the request line complete, so that its version is rewritten before. */
static bool find_line(struct eddyi_request_head *request)
{
	const char *feed = request->len ? memchr(request->bytes, '\n', request->len) : NULL;

	if (!feed)
		return false;
	request->line_end = (size_t)(feed + 1 - request->bytes);
	lower_version(request);
	return true;
}

int eddyi_request_head_feed(struct eddyi_request_head *request, const char *bytes, size_t len,
			    size_t *ret_used)
{
	/* Enough to exceed a limit even after blank lines have been dropped. */
	size_t most = request->limits->request_line_max + request->limits->header_block_max + 1 +
		      2 * BLANK_LINES_MAX;
	size_t from = request->len, all;
	char *into;
	int status;

	if (len > most - request->len)
		len = most - request->len;
	*ret_used = len;
	into = eddyi_arena_grow(request->head->arena, request->bytes, request->len,
				&request->capacity, request->len + len);
	if (!into)
		return eddyi_request_head_refuse(request, 503, "the server is out of memory");
	request->bytes = into;
	if (len)
		memcpy(request->bytes + request->len, bytes, len);
	request->len += len;
	if (!request->line_end) {
		if (!drop_blank_lines(request))
			return eddyi_request_head_refuse(
				request, 400, "there are too many blank lines before the request");
		if (!find_line(request))
			return check_part_of_line(request);
		from = 0;
	}
	all = request->len;
	status = parse(request, from);
	if (status == 200) {
		*ret_used = len - (all - request->len);
		status = check_limits(request);
		return status ? status : judge(request);
	}
	return status ? status : check_limits(request);
}

int eddyi_request_head_end(struct eddyi_request_head *request)
{
	if (!request->line_end || request->parser.http_major != 1)
		return 0;
	return eddyi_request_head_refuse(request, 400, "the request head ended too early");
}
