/* Tracing of an app: request ids, server spans and the access log; client spans; the settings. */
#include "otlp_settings.h"
#include "span.h"
#include "span_exporter.h"
#include "trace_context.h"

#include <eddy/client.h>
#include <eddy/client_observer.h>
#include <eddy/config.h>
#include <eddy/internal/http.h>
#include <eddy/internal/log.h>
#include <eddy/layer.h>
#include <eddy/local.h>
#include <eddy/log.h>
#include <eddy/observer.h>
#include <eddy/peer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tracing {
	struct eddy_tracing_options options; /* the configuration file may change them */
	bool used;
};

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

/* ---- begin of a request ---- */

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
			eddyi_span_exporter_count_malformed();
		options.new_trace = true;
	}
	eddyi_span_init(&visit->span, unnamed, &options);
}

/* Fill in the fields and locals. */
static void take_notes(struct visit *visit)
{
	visit->fields[0] = eddy_field_lazy("request_id", write_id, visit);
	visit->fields[1] = visit->span.fields[0];
	visit->fields[2] = visit->span.fields[1];
	visit->fields[3] = (struct eddy_field){ 0 };
	visit->locals[0] = (struct eddy_local){ &visit_key, visit };
	visit->locals[1] = visit->span.locals[0];
	visit->locals[2] = (struct eddy_local){ 0 };
}

static void *begin_request(void *data, struct eddy_req *req, struct eddy_res *res)
{
	const struct eddy_tracing_options *options = &((struct tracing *)data)->options;
	struct visit *visit = eddy_req_alloc(req, sizeof(*visit));
	char id[EDDY_FIELD_LAZY_MAX];

	if (!visit)
		return NULL;
	visit->id = eddyi_trace_unique();
	begin_span(visit, req, options->sample);
	take_notes(visit);
	eddy_req_annotate(req, visit->fields, visit->locals);
	if (options->header)
		eddy_res_set(res, options->header_name ? options->header_name : HEADER_DEFAULT,
			     eddy_str(id, write_id(visit, id)));
	return visit;
}

/* ---- end of its span ---- */

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

/* Get OpenTelemetry's name of a method, "_OTHER" outside of RFC 9110 and RFC 5789. Static
 * memory. */
static const char *method_name(struct eddy_str method)
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
	static const char *const versions[] = {
		[EDDY_HTTP_1_0] = "1.0", [EDDY_HTTP_1_1] = "1.1", [EDDY_HTTP_2] = "2"
	};
	struct eddy_str method = eddy_req_method(req);
	const char *known = method_name(method);

	add(attributes, eddy_field_text("http.request.method", known));
	if (known[0] == '_')
		add_str(attributes, "http.request.method_original", method);
	add_str(attributes, "url.path", eddy_req_target_path(req));
	add_str(attributes, "url.scheme", eddy_req_scheme(req));
	add_str(attributes, "http.route", eddy_req_pattern(req));
	add_server(attributes, req);
	add_client(attributes, req);
	add(attributes,
	    eddy_field_text("network.protocol.version", versions[eddy_req_version(req)]));
	add(attributes, eddy_field_str("request_id",
				       eddy_str(attributes->id, write_id(visit, attributes->id))));
	add_outcome(attributes, outcome);
	add(attributes, (struct eddy_field){ 0 });
}

/* "GET /orders/{id}"; without a route only the method. */
static void name_span(struct eddy_span *span, const struct eddy_req *req, char name[NAME_SIZE])
{
	const char *method = method_name(eddy_req_method(req));
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

/* ---- end of a request ---- */

static void end_request(void *data, void *state, struct eddy_req *req,
			const struct eddy_outcome *outcome)
{
	const struct tracing *tracing = data;

	if (!state)
		return;
	end_span(state, req, outcome);
	if (tracing->options.access_log && eddy_log_is_enabled(EDDY_LOG_INFO, ACCESS_TARGET))
		write_access(state, req, outcome);
}

/* ---- WebSockets ---- */

/* The state of a socket: its span, a child of its handshake's, whose id it shares. */
struct socket_visit {
	struct visit visit;
	char *path, *peer, *pattern, *trace_state; /* owned; NULL: there is none */
};

/* Return: NULL for an empty text, and on allocation failure. */
static char *copy(struct eddy_str text)
{
	return text.len ? strndup(text.ptr, text.len) : NULL;
}

static void *begin_socket(void *data, void *state, struct eddy_req *req,
			  struct eddy_socket_notes *notes)
{
	struct socket_visit *socket = state ? calloc(1, sizeof(*socket)) : NULL;
	const struct visit *request = state;

	(void)data;
	if (!socket)
		return NULL;
	socket->visit.id = request->id;
	socket->path = copy(eddy_req_target_path(req));
	socket->peer = copy(eddy_req_peer(req)->text);
	socket->pattern = copy(eddy_req_pattern(req));
	socket->trace_state = copy(eddy_str_from(request->span.trace_state));
	eddyi_span_init(&socket->visit.span, "WebSocket",
			&(struct eddy_span_options){
				.off_timeline = true, /* http records it */
			});
	socket->visit.span.trace_state = socket->trace_state;
	take_notes(&socket->visit);
	notes->fields = socket->visit.fields;
	notes->locals = socket->visit.locals;
	return socket;
}

/* Fields of the access log, and attributes of the span. */
#define SOCKET_FIELDS(outcome)                                                                     \
	eddy_field_u64("code", (outcome)->code),                                                   \
		eddy_field_u64("messages_received", (outcome)->messages_received),                 \
		eddy_field_u64("messages_sent", (outcome)->messages_sent),                         \
		eddy_field_u64("received", (outcome)->received),                                   \
		eddy_field_u64("sent", (outcome)->sent)

static void write_socket(const struct socket_visit *socket,
			 const struct eddy_socket_outcome *outcome)
{
	const struct visit *visit = &socket->visit;
	char message[MESSAGE_SIZE], number[EDDY_U64_SIZE], *at = message;

	at = mempcpy(at, "WEBSOCKET ", 10);
	at = put_text(at, eddy_str_from(socket->path), MESSAGE_SIZE - AROUND_PATH);
	*at++ = ' ';
	at = mempcpy(at, number, eddy_u64_format(outcome->code, number));
	eddyi_log_message(EDDY_LOG_INFO, ACCESS_TARGET,
			  EDDY_FIELDS(visit->fields[0], visit->fields[1], visit->fields[2],
				      eddy_field_str("peer", eddy_str_from(socket->peer)),
				      eddy_field_str("pattern", eddy_str_from(socket->pattern)),
				      SOCKET_FIELDS(outcome),
				      eddy_field_u64("us", outcome->duration_ns / EDDY_US)),
			  eddy_str(message, (size_t)(at - message)));
}

static void end_socket(void *data, void *state, const struct eddy_socket_outcome *outcome)
{
	const struct tracing *tracing = data;
	struct socket_visit *socket = state;

	if (!socket)
		return;
	eddyi_span_deinit(&socket->visit.span,
			  EDDY_FIELDS(eddy_field_str("http.route", eddy_str_from(socket->pattern)),
				      eddy_field_str("url.path", eddy_str_from(socket->path)),
				      SOCKET_FIELDS(outcome)));
	if (tracing->options.access_log && eddy_log_is_enabled(EDDY_LOG_INFO, ACCESS_TARGET))
		write_socket(socket, outcome);
	free(socket->path);
	free(socket->peer);
	free(socket->pattern);
	free(socket->trace_state);
	free(socket);
}

/* Makes server spans and access log records; `data` is a struct tracing. */
static const struct eddy_observer request_observer = {
	.begin = begin_request,
	.end = end_request,
	.socket = begin_socket,
	.socket_end = end_socket,
};

/* ---- ids of the current request ---- */

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

/* ---- client spans, and the propagation of their ids (W3C Trace Context) ---- */

struct call {
	struct eddy_span span;
	bool is_traced; /* the task has a span */
	struct eddy_client_hop hop;
	char parent_text[EDDY_TRACEPARENT_SIZE];
	struct eddy_header fields[3];
};

static const struct eddy_header *begin_call(void *state, const struct eddy_client_hop *hop)
{
	struct call *call = state;
	const char *method = method_name(eddy_str_from(hop->method));

	if (!eddy_span_current())
		return NULL;
	call->is_traced = true;
	call->hop = *hop;
	eddyi_span_init(&call->span, method[0] == '_' ? "HTTP" : method,
			&(struct eddy_span_options){ .kind = EDDY_SPAN_CLIENT });
	eddy_trace_context_format(&call->span.context, call->parent_text);
	call->fields[0] = (struct eddy_header){ "traceparent", call->parent_text };
	if (call->span.trace_state)
		call->fields[1] = (struct eddy_header){ "tracestate", call->span.trace_state };
	return call->fields;
}

/* Get error.type: the status, or the name of the error number. */
static const char *error_of(int result, char text[16])
{
	const char *name = result < 0 ? strerrorname_np(-result) : NULL;

	if (name)
		return name;
	snprintf(text, 16, "%d", result);
	return text;
}

/* The query may hold a key or a signature. */
static struct eddy_str without_query(struct eddy_str url)
{
	const char *query = memchr(url.ptr, '?', url.len);

	return query ? eddy_str(url.ptr, (size_t)(query - url.ptr)) : url;
}

static void end_call(void *state, int result)
{
	struct call *call = state;
	const struct eddy_client_hop *hop = &call->hop;
	struct eddy_field more[9] = { 0 };
	size_t count = 0;
	char text[16];

	if (!call->is_traced)
		return;
	more[count++] =
		eddy_field_text("http.request.method", method_name(eddy_str_from(hop->method)));
	more[count++] = eddy_field_str("url.full", without_query(hop->url));
	more[count++] = eddy_field_str("server.address", hop->host);
	more[count++] = eddy_field_u64("server.port", hop->port);
	if (more[0].value.str.ptr[0] == '_')
		more[count++] = eddy_field_text("http.request.method_original", hop->method);
	if (hop->redirects)
		more[count++] = eddy_field_u64("http.request.resend_count", hop->redirects);
	if (result > 0)
		more[count++] = eddy_field_i64("http.response.status_code", result);
	if (result < 0 || result >= 400) {
		more[count++] = eddy_field_text("error.type", error_of(result, text));
		eddy_span_set_status(&call->span, EDDY_SPAN_ERROR, NULL);
	}
	eddyi_span_deinit(&call->span, more);
}

/* Makes client spans, in tasks that have a span. */
static const struct eddy_client_observer client_observer = { sizeof(struct call), begin_call,
							     end_call };

/* ---- settings, and the section [tracing] ---- */

#define MEMBER(name) EDDY_CONFIG_AT(struct eddy_tracing_options, name)

#define BATCH_MAX 10000
#define QUEUE_MAX 1000000

static const struct eddy_config_key keys[] = {
	{ "header", EDDY_CONFIG_BOOL, MEMBER(header) },
	{ "header_name", EDDY_CONFIG_STRING, MEMBER(header_name), .min = 1, .max = 64 },
	{ "access_log", EDDY_CONFIG_BOOL, MEMBER(access_log) },
	{ "sample", EDDY_CONFIG_SHARE, MEMBER(sample) },
	{ "collector", EDDY_CONFIG_STRING, MEMBER(collector), .min = 1 },
	{ "collector_headers", EDDY_CONFIG_STRINGS, MEMBER(collector_headers),
	  .count_max = EDDYI_OTLP_HEADERS_MAX, .accepts = eddyi_otlp_settings_is_header,
	  .expected = "an array of up to 16 fields like \"name: value\"" },
	{ "collector_ca", EDDY_CONFIG_PATH, MEMBER(collector_ca), .min = 1 },
	{ "service", EDDY_CONFIG_STRING, MEMBER(service), .min = 1, .max = 255 },
	{ "batch_max", EDDY_CONFIG_INTEGER, MEMBER(batch_max), .min = 1, .max = BATCH_MAX },
	{ "queue_max", EDDY_CONFIG_INTEGER, MEMBER(queue_max), .min = 1, .max = QUEUE_MAX },
	{ "age_ms", EDDY_CONFIG_MS, MEMBER(age_ns), .min = 1 },
	{ "timeout_ms", EDDY_CONFIG_MS, MEMBER(timeout_ns), .min = 1 },
	{ "retry_ms", EDDY_CONFIG_MS, MEMBER(retry_ns), .min = 1 },
	{ "flush_ms", EDDY_CONFIG_MS, MEMBER(flush_ns), .min = 1 },
	{ 0 },
};

static bool are_headers(const char *const *lines)
{
	size_t count = 0;

	for (; lines && lines[count]; count++)
		if (count == EDDYI_OTLP_HEADERS_MAX || !eddyi_otlp_settings_is_header(lines[count]))
			return false;
	return true;
}

static const char *check(const struct eddy_tracing_options *options)
{
	if (options->header_name && !eddyi_res_may_set(options->header_name))
		return "header_name is not a valid field name, or is a field that the server sets";
	if (!(options->sample >= 0 && options->sample <= 1))
		return "sample must be above 0 and at most 1";
	if (options->collector && eddyi_client_check_url(options->collector) < 0)
		return "collector must be a URL like http://localhost:4318/v1/traces";
	if (!are_headers(options->collector_headers))
		return "collector_headers must be at most 16 valid fields";
	if (options->batch_max > BATCH_MAX || options->queue_max > QUEUE_MAX)
		return "batch_max must be at most 10000, queue_max at most 1000000";
	return NULL;
}

static const char *check_section(void *target)
{
	return check(target);
}

static const struct eddy_config_section section = {
	.name = "tracing",
	.keys = keys,
	.done = check_section,
};

static void init(struct eddy_app *app, void *kept)
{
	struct tracing *tracing = kept;

	eddy_app_config_section(app, &section, &tracing->options);
}

static struct tracing *tracing_of(struct eddy_app *app)
{
	static const struct eddy_layer layer = { "tracing", sizeof(struct tracing), init, NULL };

	return eddy_app_layer(app, &layer);
}

void eddy_app_set_tracing(struct eddy_app *app, const struct eddy_tracing_options *options)
{
	struct tracing *tracing = tracing_of(app);
	const char *reason;

	tracing->options = options ? *options : (struct eddy_tracing_options){ 0 };
	eddy_app_keep_strings(app, keys, &tracing->options);
	reason = check(&tracing->options);
	if (reason)
		eddy_app_mistake(app, "eddy_app_set_tracing(): %s", reason);
}

void eddy_app_use_tracing(struct eddy_app *app)
{
	struct tracing *tracing = tracing_of(app);

	if (tracing->used)
		return;
	tracing->used = true;
	eddy_app_observe(app, &request_observer, tracing);
	if (eddy_client_observe(&client_observer) < 0)
		eddy_app_mistake(app, "eddy_app_use_tracing(): too many observers of HTTP clients");
	eddy_app_add_task(app, "spans", eddyi_span_exporter_run, &tracing->options);
}

void eddy_trace_config(struct eddy_app *app)
{
	tracing_of(app);
}
