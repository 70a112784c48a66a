#include "response_head.h"

#include "request_head.h"
#include "text/syntax.h"

#include <errno.h>

void eddyi_response_head_init(struct eddyi_response_head *head, struct eddyi_arena *arena,
			      size_t block_max, unsigned header_count_max)
{
	*head = (struct eddyi_response_head){
		.arena = arena,
		.block_max = block_max,
		.header_count_max = header_count_max,
	};
}

static int refuse(struct eddyi_response_head *head, const char *problem)
{
	head->problem = problem;
	return -EBADMSG;
}

/* ---- llhttp ---- */

static int on_header_field(llhttp_t *parser, const char *at, size_t len)
{
	struct eddyi_response_head *head = parser->data;

	head->headers[head->header_count++].name = eddy_str(at, len);
	return 0;
}

/* Called after the colon, also for an empty value. */
static int on_header_value(llhttp_t *parser, const char *at, size_t len)
{
	struct eddyi_response_head *head = parser->data;

	head->headers[head->header_count - 1].value = eddy_str_trim(eddy_str(at, len));
	return 0;
}

static int on_headers_complete(llhttp_t *parser)
{
	(void)parser;
	return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
	.on_header_field = on_header_field,
	.on_header_value = on_header_value,
	.on_headers_complete = on_headers_complete,
};

static const char *problem_of(llhttp_errno_t error)
{
	switch (error) {
	case HPE_INVALID_CONTENT_LENGTH:
	case HPE_UNEXPECTED_CONTENT_LENGTH:
		return "the content-length is malformed, repeated or combined with "
		       "transfer-encoding";
	case HPE_INVALID_TRANSFER_ENCODING:
		return "the transfer-encoding is malformed or not supported";
	case HPE_INVALID_HEADER_TOKEN:
		return "a header field is malformed";
	default:
		return "the response head is malformed";
	}
}

/* ---- checking ---- */

/* Whether the bytes begin with "HTTP/1.1 200" and a blank or CR (RFC 9112 section 4). */
static bool status_line_is_clean(struct eddy_str bytes)
{
	static const char pattern[] = "HTTP/1.d ddd";

	if (bytes.len < sizeof(pattern))
		return false;
	for (size_t i = 0; i < sizeof(pattern) - 1; i++) {
		char c = bytes.ptr[i];

		if (pattern[i] == 'd' ? c < '0' || c > '9' : c != pattern[i])
			return false;
	}
	return bytes.ptr[9] >= '1' &&
	       (bytes.ptr[sizeof(pattern) - 1] == ' ' || bytes.ptr[sizeof(pattern) - 1] == '\r');
}

static size_t count_lines(struct eddy_str bytes)
{
	size_t count = 0;

	for (size_t i = 0; i < bytes.len; i++)
		count += bytes.ptr[i] == '\n';
	return count;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Replace each fold and the blanks around it by one blank (RFC 9112 section 5.2), as well as the
 * blanks around each value, where llhttp accepts no tabs.
 * Return: false if a line is still malformed. */
static bool tidy_fields(struct eddyi_response_head *head)
{
	char *at = (char *)memchr(head->bytes, '\n', head->len) + 1, *out = at;
	char *end = head->bytes + head->len, *value = NULL;

	while (at < end) {
		char *blanks = at;
		bool folded = false;

		while (is_blank(*at) ||
		       (end - at > 2 && at[0] == '\r' && at[1] == '\n' && is_blank(at[2]))) {
			folded |= *at == '\r';
			at += *at == '\r' ? 2 : 1;
		}
		if (at > blanks && (folded || out == value || *at == '\r'))
			*out++ = ' ';
		else
			while (blanks < at)
				*out++ = *blanks++;
		*out++ = *at;
		if (*at == '\n')
			value = NULL;
		else if (*at == ':' && !value)
			value = out;
		at++;
	}
	head->len = (size_t)(out - head->bytes);
	return eddyi_head_lines_are_clean(eddy_str(head->bytes, head->len));
}

struct summary {
	unsigned content_lengths;
	unsigned transfer_encodings;
	bool chunked;
	bool close;
	bool keep_alive;
};

static void sum_header(struct summary *summary, const struct eddyi_header *header)
{
	struct eddy_str rest = header->value, option;

	if (eddy_str_eq_nocase(header->name, EDDY_STR("content-length"))) {
		summary->content_lengths++;
	} else if (eddy_str_eq_nocase(header->name, EDDY_STR("transfer-encoding"))) {
		summary->transfer_encodings++;
		summary->chunked = eddy_str_eq_nocase(header->value, EDDY_STR("chunked"));
	} else if (eddy_str_eq_nocase(header->name, EDDY_STR("connection"))) {
		while (eddyi_syntax_take_member(&rest, &option)) {
			summary->close |= eddy_str_eq_nocase(option, EDDY_STR("close"));
			summary->keep_alive |= eddy_str_eq_nocase(option, EDDY_STR("keep-alive"));
		}
	}
}

/* RFC 9112 section 6.3. */
static int judge_framing(struct eddyi_response_head *head, const struct summary *summary,
			 uint64_t length, bool no_body)
{
	if (summary->transfer_encodings && summary->content_lengths)
		return refuse(head, "both content-length and transfer-encoding are present");
	if (summary->transfer_encodings && !head->minor)
		return refuse(head, "transfer-encoding is not allowed in HTTP/1.0");
	if (summary->transfer_encodings > 1 || (summary->transfer_encodings && !summary->chunked))
		return refuse(head, "the only supported transfer-encoding is chunked");
	if (summary->content_lengths && length > INT64_MAX)
		return refuse(head, "the content-length is too large");
	if (no_body || head->status < 200 || head->status == 204 || head->status == 304)
		head->framing = EDDYI_BODY_NONE;
	else if (summary->chunked)
		head->framing = EDDYI_BODY_CHUNKED;
	else if (summary->content_lengths)
		head->framing = EDDYI_BODY_LENGTH;
	else
		head->framing = EDDYI_BODY_CLOSE;
	head->length = summary->content_lengths ? length : UINT64_MAX;
	head->keep_alive = head->framing != EDDYI_BODY_CLOSE && !summary->close &&
			   (head->minor || summary->keep_alive);
	return 1;
}

static int judge(struct eddyi_response_head *head, bool no_body)
{
	struct eddy_str bytes = eddy_str(head->bytes, head->len);
	struct summary summary = { 0 };
	size_t lines = count_lines(bytes);
	llhttp_errno_t error;
	llhttp_t parser;

	if (!status_line_is_clean(bytes))
		return refuse(head, "the status line is not HTTP/1.0 or HTTP/1.1");
	/* Except the status line and the blank line. */
	if (lines - 2 > head->header_count_max) {
		head->problem = "there are too many header fields";
		return -EMSGSIZE;
	}
	if ((!eddyi_head_lines_are_clean(bytes) || memchr(bytes.ptr, '\t', bytes.len)) &&
	    !tidy_fields(head))
		return refuse(head,
			      "a line of the head does not end in CRLF or begins with a blank");
	/* Treat HTTP/1.2 to 1.9 as 1.1 (RFC 9110 section 2.5), since llhttp knows only that. */
	if (head->bytes[7] > '1')
		head->bytes[7] = '1';
	head->minor = (unsigned)(head->bytes[7] - '0');
	head->headers = eddyi_arena_alloc(head->arena, lines * sizeof(*head->headers));
	if (!head->headers)
		return -ENOMEM;
	memset(head->headers, 0, lines * sizeof(*head->headers));
	llhttp_init(&parser, HTTP_RESPONSE, &settings);
	parser.data = head;
	error = llhttp_execute(&parser, head->bytes, head->len);
	if (error != HPE_PAUSED)
		return refuse(head, problem_of(error));
	head->status = parser.status_code;
	for (unsigned i = 0; i < head->header_count; i++) {
		if (!head->headers[i].name.len)
			return refuse(head, "a header field has no name");
		if (!head->headers[i].value.ptr)
			head->headers[i].value = EDDY_STR("");
		sum_header(&summary, &head->headers[i]);
	}
	return judge_framing(head, &summary, parser.content_length, no_body);
}

/* ---- collecting ---- */

/* Find the length of the head with its blank line. A bare LF ends a line here too, so that judge()
 * rejects it at once. Return: 0 if the end has not arrived. */
static size_t find_end(struct eddyi_response_head *head)
{
	const char *end = head->bytes + head->len;
	const char *at = head->bytes + head->looked, *feed;

	while ((feed = memchr(at, '\n', (size_t)(end - at)))) {
		at = feed + 1;
		if (at < end && *at == '\n')
			return (size_t)(at + 1 - head->bytes);
		if (at + 1 < end && at[0] == '\r' && at[1] == '\n')
			return (size_t)(at + 2 - head->bytes);
		if (at + 1 >= end) {
			at = feed;
			break;
		}
	}
	head->looked = feed ? (size_t)(feed - head->bytes) : head->len;
	return 0;
}

int eddyi_response_head_feed(struct eddyi_response_head *head, const char *bytes, size_t len,
			     bool no_body, size_t *ret_used)
{
	size_t before = head->len, most = head->block_max + 1 - before, end;
	char *into;

	if (len > most)
		len = most;
	*ret_used = len;
	into = eddyi_arena_grow(head->arena, head->bytes, before, &head->capacity, before + len);
	if (!into)
		return -ENOMEM;
	head->bytes = into;
	memcpy(head->bytes + before, bytes, len);
	head->len += len;
	end = find_end(head);
	if (end) {
		head->len = end;
		*ret_used = end - before;
	}
	if (head->len > head->block_max) {
		head->problem = "the response head is too large";
		return -EMSGSIZE;
	}
	if (!end)
		return head->len && head->bytes[0] != 'H' ?
			       refuse(head, "the response is not HTTP/1.1") :
			       0;
	return judge(head, no_body);
}
