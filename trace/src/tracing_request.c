/* Request ids, server spans and the access log. */
#include "span.h"
#include "trace_context.h"
#include "tracing.h"

#include <eddy/internal/log.h>
#include <eddy/local.h>
#include <eddy/log.h>
#include <eddy/peer.h>
#include <stdio.h>

#define HEADER_DEFAULT "request-id"
#define ACCESS_TARGET "eddy::access"

/* Limits of what a span gets at the end. */
#define ATTRIBUTES_MAX 14
#define NAME_SIZE 1024

/* The state of a request, in request memory; fields and locals point into it. */
struct visit {
	uint64_t id;
	struct eddy_span span;
	struct eddy_field fields[4];
	struct eddy_local locals[3];
};

static const struct eddy_local_key visit_key = { "request" };

/* The name of a span that the handler has not renamed. */
static const char unnamed[] = "request";

/* ---- begin ---- */

static size_t write_id(const void *data, char text[EDDY_FIELD_LAZY_MAX])
{
	const struct visit *visit = data;

	return eddy_u64_format(visit->id, text);
}

/* Get the tracestate to propagate. Return: NULL if it is missing or malformed. */
static const char *find_state(struct eddy_req *req)
{
	struct eddy_str state = eddy_req_header_joined(req, "tracestate");
	char *text = eddyi_tracestate_is_valid(state) ? eddy_req_alloc(req, state.len + 1) : NULL;

	if (text)
		*(char *)mempcpy(text, state.ptr, state.len) = 0;
	return text;
}

/* Continue the request's trace, or begin one. Several traceparents, joined, are invalid. */
static void begin_span(struct visit *visit, struct eddy_req *req, double sample)
{
	struct eddy_span_options options = {
		.kind = EDDY_SPAN_SERVER,
		.sample = sample,
		.off_timeline = true, /* http records it */
	};
	struct eddy_str text = eddy_req_header_joined(req, "traceparent");
	struct eddy_trace_context parent;

	if (eddy_trace_context_parse(text, &parent) == 0) {
		options.parent = &parent;
		options.trace_state = find_state(req);
	} else {
		if (text.ptr)
			eddyi_tracing_count_malformed();
		options.new_trace = true;
	}
	eddyi_span_init(&visit->span, unnamed, &options);
}

static void annotate(struct visit *visit, struct eddy_req *req)
{
	visit->fields[0] = eddy_field_lazy("request_id", write_id, visit);
	visit->fields[1] = visit->span.fields[0];
	visit->fields[2] = visit->span.fields[1];
	visit->fields[3] = (struct eddy_field){ 0 };
	visit->locals[0] = (struct eddy_local){ &visit_key, visit };
	visit->locals[1] = visit->span.locals[0];
	visit->locals[2] = (struct eddy_local){ 0 };
	eddy_req_annotate(req, visit->fields, visit->locals);
}

static void *begin(void *data, struct eddy_req *req, struct eddy_res *res)
{
	const struct eddy_tracing_options *options = &((struct eddyi_tracing *)data)->options;
	struct visit *visit = eddy_req_alloc(req, sizeof(*visit));
	char id[EDDY_FIELD_LAZY_MAX];

	if (!visit)
		return NULL;
	visit->id = eddyi_trace_unique();
	begin_span(visit, req, options->sample);
	annotate(visit, req);
	if (options->header)
		eddy_res_set(res, options->header_name ? options->header_name : HEADER_DEFAULT,
			     eddy_str(id, write_id(visit, id)));
	return visit;
}

/* ---- end of the span ---- */

struct attributes {
	struct eddy_field fields[ATTRIBUTES_MAX + 1];
	size_t count;
	char id[EDDY_FIELD_LAZY_MAX];
	char status[16];
};

static void add(struct attributes *attributes, struct eddy_field field)
{
	attributes->fields[attributes->count++] = field;
}

/* Unknown values are left out. */
static void add_str(struct attributes *attributes, const char *name, struct eddy_str value)
{
	if (value.len)
		add(attributes, eddy_field_str(name, value));
}

const char *eddyi_tracing_method(struct eddy_str method)
{
	static const char *const names[] = { "GET",     "HEAD",    "POST",  "PUT",  "DELETE",
					     "CONNECT", "OPTIONS", "TRACE", "PATCH" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (eddy_str_eq_z(method, names[i]))
			return names[i];
	return "_OTHER";
}

/* Add the server's address and port as the client used them; the default port is the scheme's. */
static void add_server(struct attributes *attributes, const struct eddy_req *req)
{
	struct eddy_str host = eddy_req_host(req), address = host;
	uint64_t port = eddy_str_eq_z(eddy_req_scheme(req), "https") ? 443 : 80;
	const char *colon = host.len ? memrchr(host.ptr, ':', host.len) : NULL;

	if (!host.len)
		return;
	if (colon && host.ptr[host.len - 1] != ']') {
		address.len = (size_t)(colon - host.ptr);
		eddy_str_to_u64(eddy_str_skip(host, address.len + 1), &port);
	}
	if (address.len > 2 && address.ptr[0] == '[')
		address = eddy_str(address.ptr + 1, address.len - 2);
	add_str(attributes, "server.address", address);
	add(attributes, eddy_field_u64("server.port", port));
}

static void add_client(struct attributes *attributes, const struct eddy_req *req)
{
	const struct eddy_peer *peer = eddy_req_peer(req);
	int family = peer->addr.addr.any.sa_family;

	if (family == AF_INET || family == AF_INET6)
		add_str(attributes, "client.address", peer->text);
	add_str(attributes, "user_agent.original", eddy_req_header(req, "user-agent"));
}

static void add_outcome(struct attributes *attributes, const struct eddy_outcome *outcome)
{
	snprintf(attributes->status, sizeof(attributes->status), "%d", outcome->status);
	add(attributes, eddy_field_i64("http.response.status_code", outcome->status));
	if (outcome->status >= 500)
		add(attributes, eddy_field_text("error.type", attributes->status));
	else if (!outcome->whole)
		add(attributes, eddy_field_text("error.type", "cut"));
}

static void gather(struct attributes *attributes, const struct visit *visit,
		   const struct eddy_req *req, const struct eddy_outcome *outcome)
{
	struct eddy_str method = eddy_req_method(req);
	const char *known = eddyi_tracing_method(method);

	add(attributes, eddy_field_text("http.request.method", known));
	if (known[0] == '_')
		add_str(attributes, "http.request.method_original", method);
	add_str(attributes, "url.path", eddy_req_target_path(req));
	add_str(attributes, "url.scheme", eddy_req_scheme(req));
	add_str(attributes, "http.route", eddy_req_pattern(req));
	add_server(attributes, req);
	add_client(attributes, req);
	add(attributes,
	    eddy_field_text("network.protocol.version", eddy_req_minor(req) ? "1.1" : "1.0"));
	add(attributes, eddy_field_str("request_id",
				       eddy_str(attributes->id, write_id(visit, attributes->id))));
	add_outcome(attributes, outcome);
	add(attributes, (struct eddy_field){ 0 });
}

/* "GET /orders/{id}"; without a route only the method. */
static void name_span(struct eddy_span *span, const struct eddy_req *req, char name[NAME_SIZE])
{
	const char *method = eddyi_tracing_method(eddy_req_method(req));
	struct eddy_str pattern = eddy_req_pattern(req);

	if (span->name != unnamed)
		return;
	snprintf(name, NAME_SIZE, "%s%s%.*s", method[0] == '_' ? "HTTP" : method,
		 pattern.len ? " " : "", EDDY_FMT(pattern));
	eddy_span_set_name(span, name);
}

static void end_span(struct visit *visit, const struct eddy_req *req,
		     const struct eddy_outcome *outcome)
{
	struct eddy_span *span = &visit->span;
	struct attributes attributes;
	char name[NAME_SIZE];

	attributes.count = 0;
	if ((outcome->status >= 500 || !outcome->whole) && span->status == EDDY_SPAN_UNSET)
		eddy_span_set_status(span, EDDY_SPAN_ERROR, NULL);
	if (span->recorded) {
		name_span(span, req, name);
		gather(&attributes, visit, req, outcome);
	}
	eddyi_span_deinit(span, span->recorded ? attributes.fields : NULL);
}

/* ---- the access log ---- */

/* Longer messages are cut anyway. */
#define MESSAGE_SIZE 2200
#define AROUND_PATH 64

static char *put_text(char *at, struct eddy_str text, size_t max)
{
	if (!text.len)
		text = EDDY_STR("-");
	return mempcpy(at, text.ptr, text.len < max ? text.len : max);
}

/* "GET /path 200"; "-" for unknown parts of a refused head. Return: its length. */
static size_t put_message(char message[MESSAGE_SIZE], const struct eddy_req *req, int status)
{
	char number[EDDY_U64_SIZE], *at = message;

	at = put_text(at, eddy_req_method(req), AROUND_PATH / 2);
	*at++ = ' ';
	at = put_text(at, eddy_req_target_path(req), MESSAGE_SIZE - AROUND_PATH);
	*at++ = ' ';
	at = mempcpy(at, number, eddy_u64_format((uint64_t)status, number));
	return (size_t)(at - message);
}

static void write_access(const struct visit *visit, struct eddy_req *req,
			 const struct eddy_outcome *outcome)
{
	const struct eddy_peer *peer = eddy_req_peer(req);
	char message[MESSAGE_SIZE];

	eddyi_log_message(EDDY_LOG_INFO, ACCESS_TARGET,
			  EDDY_FIELDS(visit->fields[0], visit->fields[1], visit->fields[2],
				      eddy_field_str("peer", peer->text),
				      eddy_field_str("pattern", eddy_req_pattern(req)),
				      eddy_field_u64("received", outcome->received),
				      eddy_field_u64("sent", outcome->sent),
				      eddy_field_u64("us", outcome->duration_ns / EDDY_US),
				      eddy_field_bool("whole", outcome->whole)),
			  eddy_str(message, put_message(message, req, outcome->status)));
}

/* ---- end ---- */

static void end(void *data, void *state, struct eddy_req *req, const struct eddy_outcome *outcome)
{
	const struct eddyi_tracing *tracing = data;

	if (!state)
		return;
	end_span(state, req, outcome);
	if (tracing->options.access_log && eddy_log_is_enabled(EDDY_LOG_INFO, ACCESS_TARGET))
		write_access(state, req, outcome);
}

const struct eddy_observer eddyi_tracing_observer = { begin, end };

/* ---- public functions ---- */

static const struct visit *current(void)
{
	return eddy_local_get(&visit_key);
}

uint64_t eddy_request_id(void)
{
	const struct visit *visit = current();

	return visit ? visit->id : 0;
}

const struct eddy_trace_context *eddy_request_trace(void)
{
	const struct visit *visit = current();

	return visit ? &visit->span.context : NULL;
}
