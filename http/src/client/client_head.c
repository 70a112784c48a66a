#include "client_head.h"

#include "client_observer.h"
#include "text/syntax.h"

#include <stdio.h>
#include <eddy/internal/http.h>

/* Size of what eddyi_client_make_head() adds to the given texts. */
#define OWN_FIELDS_MAX 256

/* Fields for the destination and framing, which the program can't set. */
static const char *const own_fields[] = {
	"host", "content-length", "transfer-encoding", "connection",       "expect", "upgrade",
	"te",   "trailer",        "keep-alive",        "proxy-connection", NULL,
};

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (eddy_str_eq_nocase(eddy_str_from(name), eddy_str_from(*names)))
			return true;
	return false;
}

bool eddyi_client_may_set(const char *name)
{
	return eddyi_syntax_is_token(eddy_str_from(name)) && !is_one_of(name, own_fields);
}

/* Whether a field of the program is still sent after the redirects so far. */
static bool is_sent(const struct eddyi_call *call, const char *name)
{
	static const char *const secrets[] = { "authorization", "cookie", "proxy-authorization",
					       NULL };
	static const char *const of_body[] = { "content-type",     "content-encoding",
					       "content-language", "content-location",
					       "content-range",    "last-modified",
					       "digest",           "content-digest",
					       "repr-digest",      NULL };

	return !(call->foreign && is_one_of(name, secrets)) &&
	       !(call->without_body && is_one_of(name, of_body));
}

static size_t fields_size(const struct eddy_header *header)
{
	size_t size = 0;

	for (; header && header->name; header++)
		size += strlen(header->name) + strlen(header->value) + 4;
	return size;
}

static size_t head_size(const struct eddyi_call *call, struct eddy_str host)
{
	size_t size = OWN_FIELDS_MAX + strlen(call->method) + call->response->url.target.len +
		      host.len + strlen(call->client->options.user_agent);

	for (unsigned i = 0; i < call->watch_count; i++)
		size += fields_size(call->watches[i].fields);
	return size + fields_size(call->request->headers);
}

static char *put(char *at, struct eddy_str text)
{
	return mempcpy(at, text.ptr, text.len);
}

static char *put_field(char *at, const char *name, const char *value)
{
	return stpcpy(stpcpy(stpcpy(stpcpy(at, name), ": "), value), "\r\n");
}

static char *put_observed(char *at, const struct eddyi_call *call)
{
	for (unsigned i = 0; i < call->watch_count; i++) {
		const struct eddy_header *header = call->watches[i].fields;

		for (; header && header->name; header++)
			at = put_field(at, header->name, header->value);
	}
	return at;
}

static char *put_framing(char *at, const struct eddyi_call *call)
{
	const struct eddy_client_request *request = call->request;
	uint64_t length = request->file ? request->file->len :
			  request->pull ? request->pull_len :
					  request->body.len;
	char digits[24];

	if (call->without_body)
		return at;
	if (request->pull && !length)
		return put_field(at, "transfer-encoding", "chunked");
	/* Methods that define a body announce an empty one (RFC 9110 section 8.6). */
	if (!length && !request->file && strcmp(call->method, "POST") != 0 &&
	    strcmp(call->method, "PUT") != 0 && strcmp(call->method, "PATCH") != 0)
		return at;
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)length);
	return put_field(at, "content-length", digits);
}

struct eddy_str eddyi_client_make_head(const struct eddyi_call *call)
{
	struct eddy_response *response = call->response;
	struct eddy_str host = eddyi_url_host_field(&response->arena, &response->url);
	const struct eddy_header *header = call->request->headers;
	char *head, *at;

	if (!host.ptr)
		return eddy_str(NULL, 0);
	at = head = eddyi_arena_alloc(&response->arena, head_size(call, host));
	if (!head)
		return eddy_str(NULL, 0);
	at = stpcpy(stpcpy(at, call->method), " ");
	at = stpcpy(at, response->url.path.len ? "" : "/");
	at = stpcpy(put(at, response->url.target), " HTTP/1.1\r\n");
	at = put_field(at, "host", host.ptr);
	if (!eddyi_client_has_field(call, "user-agent"))
		at = put_field(at, "user-agent", call->client->options.user_agent);
	if (!eddyi_client_has_field(call, "accept"))
		at = put_field(at, "accept", "*/*");
	if (!eddyi_client_has_field(call, "accept-encoding"))
		at = put_field(at, "accept-encoding", "identity");
	for (; header && header->name; header++)
		if (is_sent(call, header->name))
			at = put_field(at, header->name, header->value);
	at = put_observed(at, call);
	at = put_framing(at, call);
	if (call->request->expect_continue && !call->without_body)
		at = put_field(at, "expect", "100-continue");
	at = stpcpy(at, "\r\n");
	return eddy_str(head, (size_t)(at - head));
}
