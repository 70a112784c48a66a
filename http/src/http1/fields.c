#include "fields.h"

#include "text/host.h"
#include "text/syntax.h"

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

static int refuse(struct eddyi_framed *framed, int status, const char *problem)
{
	framed->problem = problem;
	return status;
}

static int judge_body(const struct eddyi_fields *fields, const struct summary *summary,
		      struct eddyi_framed *framed)
{
	if (summary->content_types > 1)
		return refuse(framed, 400, "there is more than one content-type");
	if (summary->transfer_encodings) {
		if (!fields->minor)
			return refuse(framed, 400, "transfer-encoding is not allowed in HTTP/1.0");
		if (summary->content_lengths)
			return refuse(framed, 400,
				      "both content-length and transfer-encoding are present");
		if (summary->transfer_encodings > 1 ||
		    !eddy_str_eq_nocase(summary->transfer_encoding, EDDY_STR("chunked")))
			return refuse(framed, 400,
				      "the only supported transfer-encoding is chunked");
		framed->framing = EDDYI_BODY_CHUNKED;
	} else if (summary->content_lengths > 1) {
		return refuse(framed, 400, "there is more than one content-length");
	} else if (summary->odd_length) {
		return refuse(framed, 400,
			      "the content-length has leading zeros or surrounding blanks");
	} else if (summary->content_lengths) {
		/* UINT64_MAX is EDDY_LENGTH_UNKNOWN. */
		if (fields->content_length > INT64_MAX)
			return refuse(framed, 413, "the content-length is too large");
		framed->framing = EDDYI_BODY_LENGTH;
		framed->length = fields->content_length;
	}
	return 200;
}

static int judge_host(const struct eddyi_fields *fields, const struct summary *summary,
		      struct eddyi_framed *framed)
{
	struct eddyi_host host;

	if (summary->hosts > 1)
		return refuse(framed, 400, "there is more than one host field");
	if (!summary->hosts && fields->minor)
		return refuse(framed, 400, "the host field is missing");
	if (summary->hosts && eddyi_host_parse(summary->host, &host) < 0)
		return refuse(framed, 400, "the host is malformed");
	framed->host = summary->host;
	return 200;
}

/* HTTP/1.0 has neither expectations nor upgrades. */
static int judge_wishes(const struct eddyi_fields *fields, const struct summary *summary,
			struct eddyi_framed *framed)
{
	struct eddy_str version = summary->websocket_version;

	if (!fields->minor)
		return 200;
	if (summary->expects && !summary->expects_continue)
		return refuse(framed, 417, "the only supported expectation is 100-continue");
	if (summary->upgrade && fields->method == EDDYI_METHOD_GET && version.ptr &&
	    !eddy_str_eq_z(version, "13"))
		return refuse(framed, 400, "the only supported version of WebSocket is 13");
	framed->expect_continue = summary->expects && framed->framing != EDDYI_BODY_NONE;
	return 200;
}

int eddyi_fields_judge(const struct eddyi_fields *fields, struct eddyi_framed *ret_framed)
{
	struct summary summary = { .host = { "", 0 } };
	int status;

	for (unsigned i = 0; i < fields->count; i++)
		sum_header(&summary, &fields->headers[i]);
	*ret_framed = (struct eddyi_framed){ .framing = EDDYI_BODY_NONE };
	status = judge_host(fields, &summary, ret_framed);
	if (status == 200)
		status = judge_body(fields, &summary, ret_framed);
	if (status == 200)
		status = judge_wishes(fields, &summary, ret_framed);
	ret_framed->keep_alive = fields->minor ? !summary.close :
						 summary.keep_alive && !summary.close;
	return status;
}
