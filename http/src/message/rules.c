#include "rules.h"

#include "text/path.h"
#include "text/syntax.h"

/* Collected in one pass. */
struct summary {
	struct eddy_str host;
	struct eddy_str transfer_encoding;
	struct eddy_str websocket_version;
	const struct eddyi_header *content_length;
	unsigned hosts;
	unsigned transfer_encodings;
	unsigned content_lengths;
	unsigned content_types;
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
			summary->content_length = header;
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

/* HTTP/2 has no absolute form (RFC 9113 section 8.3.1). */
static int judge_line(struct eddyi_head *head, const struct eddyi_line *line)
{
	head->method_name = line->method;
	head->method = eddyi_method_from(line->method);
	if (eddyi_target_parse(line->target, head->method, &head->target) < 0 ||
	    (head->version == EDDY_HTTP_2 && head->target.authority.ptr &&
	     head->method != EDDYI_METHOD_CONNECT))
		return eddyi_head_refuse(head, 400, "the request target is malformed");
	if (!eddyi_path_remove_dots(&head->target.path))
		return eddyi_head_refuse(head, 400, "the path leads above the root");
	return 200;
}

static bool is_same_host(const struct eddyi_host *a, const struct eddyi_host *b)
{
	return eddy_str_eq_nocase(a->name, b->name) && a->has_port == b->has_port &&
	       (!a->has_port || a->port == b->port);
}

static int judge_host(struct eddyi_head *head, const struct summary *summary,
		      struct eddy_str authority)
{
	struct eddyi_host host, other;

	if (summary->hosts > 1)
		return eddyi_head_refuse(head, 400, "there is more than one host field");
	if (!summary->hosts && !authority.ptr && head->version != EDDY_HTTP_1_0)
		return eddyi_head_refuse(head, 400, "the host field is missing");
	if ((summary->hosts && eddyi_host_parse(summary->host, &host) < 0) ||
	    (authority.ptr && eddyi_host_parse(authority, &other) < 0))
		return eddyi_head_refuse(head, 400, "the host is malformed");
	if (summary->hosts && authority.ptr && !is_same_host(&host, &other))
		return eddyi_head_refuse(head, 400, "the host differs from :authority");
	head->host = head->target.authority.ptr ? head->target.authority :
		     authority.ptr              ? authority :
						  summary->host;
	return 200;
}

/* Only HTTP/1 has bytes around the value: those of the line. */
static bool is_odd_length(const struct eddyi_header *header, enum eddy_http_version version)
{
	const char *colon = header->name.ptr + header->name.len;
	struct eddy_str value = header->value;

	if (value.len > 1 && value.ptr[0] == '0')
		return true;
	if (version == EDDY_HTTP_2)
		return false;
	if (value.ptr != colon + 1 && !(value.ptr == colon + 2 && colon[1] == ' '))
		return true;
	return value.ptr[value.len] != '\r';
}

static int judge_length(struct eddyi_head *head, const struct eddyi_header *header)
{
	struct eddy_str value = header->value;
	bool malformed = !value.len;
	uint64_t length = 0;

	if (is_odd_length(header, head->version))
		return eddyi_head_refuse(
			head, 400, "the content-length has leading zeros or surrounding blanks");
	for (size_t i = 0; i < value.len; i++) {
		unsigned digit = (unsigned char)value.ptr[i] - '0';

		malformed |= digit > 9;
		/* A number that is too large stays so. */
		length = length <= INT64_MAX / 10 ? length * 10 + digit : UINT64_MAX;
	}
	if (malformed)
		return eddyi_head_refuse(head, 400, "the content-length is malformed");
	/* UINT64_MAX is EDDY_LENGTH_UNKNOWN. */
	if (length > INT64_MAX)
		return eddyi_head_refuse(head, 413, "the content-length is too large");
	head->length = length;
	return 200;
}

static int judge_body(struct eddyi_head *head, const struct summary *summary)
{
	if (summary->content_types > 1)
		return eddyi_head_refuse(head, 400, "there is more than one content-type");
	if (summary->transfer_encodings) {
		if (head->version == EDDY_HTTP_1_0)
			return eddyi_head_refuse(head, 400,
						 "transfer-encoding is not allowed in HTTP/1.0");
		if (head->version == EDDY_HTTP_2)
			return eddyi_head_refuse(head, 400,
						 "transfer-encoding is not allowed in HTTP/2");
		if (summary->content_lengths)
			return eddyi_head_refuse(
				head, 400, "both content-length and transfer-encoding are present");
		if (summary->transfer_encodings > 1 ||
		    !eddy_str_eq_nocase(summary->transfer_encoding, EDDY_STR("chunked")))
			return eddyi_head_refuse(head, 400,
						 "the only supported transfer-encoding is chunked");
		head->length = EDDY_LENGTH_UNKNOWN;
		return 200;
	}
	if (summary->content_lengths > 1)
		return eddyi_head_refuse(head, 400, "there is more than one content-length");
	if (summary->content_lengths)
		return judge_length(head, summary->content_length);
	head->length = head->version == EDDY_HTTP_2 ? EDDY_LENGTH_UNKNOWN : 0;
	return 200;
}

/* HTTP/1.0 has neither expectations nor upgrades, HTTP/2 no upgrades. */
static int judge_wishes(struct eddyi_head *head, const struct summary *summary)
{
	struct eddy_str version = summary->websocket_version;

	if (head->version == EDDY_HTTP_1_0)
		return 200;
	if (summary->expects && !summary->expects_continue)
		return eddyi_head_refuse(head, 417,
					 "the only supported expectation is 100-continue");
	if (head->version == EDDY_HTTP_1_1 && summary->upgrade &&
	    head->method == EDDYI_METHOD_GET && version.ptr && !eddy_str_eq_z(version, "13"))
		return eddyi_head_refuse(head, 426,
					 "the only supported version of WebSocket is 13");
	return 200;
}

static bool keeps_alive(const struct summary *summary, enum eddy_http_version version)
{
	if (version == EDDY_HTTP_2)
		return true;
	return !summary->close && (summary->keep_alive || version == EDDY_HTTP_1_1);
}

int eddyi_rules_judge(struct eddyi_head *head, const struct eddyi_line *line,
		      struct eddyi_ruling *ret_ruling)
{
	struct summary summary = { .host = { "", 0 } };
	int status = judge_line(head, line);

	if (status != 200)
		return status;
	for (unsigned i = 0; i < head->header_count; i++)
		sum_header(&summary, &head->headers[i]);
	status = judge_host(head, &summary, line->authority);
	if (status == 200)
		status = judge_body(head, &summary);
	if (status == 200)
		status = judge_wishes(head, &summary);
	if (status != 200)
		return status;
	*ret_ruling = (struct eddyi_ruling){
		.has_length = summary.content_lengths,
		.chunked = summary.transfer_encodings,
		.keep_alive = keeps_alive(&summary, head->version),
		.expect_continue = summary.expects && head->version != EDDY_HTTP_1_0 &&
				   (summary.content_lengths || head->length),
	};
	return 200;
}
