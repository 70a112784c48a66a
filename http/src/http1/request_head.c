#include "request_head.h"

#include "message/rules.h"

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

bool eddyi_method_is_known(struct eddy_str name)
{
#define NAME(number, identifier, text) #text,
	static const char *const names[] = { HTTP_METHOD_MAP(NAME) };
#undef NAME

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (eddy_str_eq_z(name, names[i]))
			return true;
	return false;
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
	return eddyi_head_add(head);
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

/* Judge the request by its line and fields. */
static int judge_request(struct eddyi_request_head *request, const struct eddyi_line *line)
{
	struct eddyi_ruling ruling;
	int status = eddyi_rules_judge(request->head, line, &ruling);

	if (status != 200)
		return status;
	request->framing = ruling.chunked    ? EDDYI_BODY_CHUNKED :
			   ruling.has_length ? EDDYI_BODY_LENGTH :
					       EDDYI_BODY_NONE;
	request->keep_alive = ruling.keep_alive;
	request->expect_continue = ruling.expect_continue;
	return 200;
}

static int judge(struct eddyi_request_head *request)
{
	struct eddyi_head *head = request->head;
	struct eddyi_line line = { 0 };

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
	line.method = eddy_str_from(llhttp_method_name(request->parser.method));
	line.target = resolve(request, head->target.path);
	/* One space between the parts (RFC 9112 section 3). llhttp also accepts other protocols. */
	if (line.method.len + line.target.len + sizeof("  HTTP/1.1\r\n") - 1 != request->line_end ||
	    !find_version(request))
		return eddyi_request_head_refuse(request, 400, "the request line is malformed");
	return judge_request(request, &line);
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

static bool is_h2(const struct eddyi_request_head *request)
{
	return request->may_be_h2 &&
	       eddy_str_eq_z(eddy_str(request->bytes, request->line_end), "PRI * HTTP/2.0\r\n");
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
		if (is_h2(request))
			return EDDYI_HEAD_IS_H2;
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
