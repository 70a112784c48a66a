/* Requests that have a number. */
#include <eddy/client.h>
#include <eddy/config.h>
#include <eddy/layer.h>
#include <eddy/local.h>
#include <eddy/log.h>
#include <eddy/observer.h>
#include <eddy/peer.h>
#include <eddy/tracing.h>
#include <inttypes.h>
#include <stdio.h>

#define HEADER_DEFAULT "request-id"

struct tracing {
	struct eddy_tracing_options options; /* a configuration file may change them */
	bool used;
};

/* One request. Invariant: it lives as long as that; what is annotated points into it. */
struct visit {
	uint64_t id;
	struct eddy_trace_context context;
	char id_text[21];
	char trace_text[33];
	char span_text[17];
	char parent_text[EDDY_TRACEPARENT_SIZE];
	struct eddy_field fields[4];
	struct eddy_local locals[3];
	struct eddy_header sent_on[3];
};

static const struct eddy_local_key visit_key = { "request" };

/* ---- a request ---- */

/* The one value of a field; .ptr is NULL when there is none, or several. */
static struct eddy_str only(const struct eddy_req *req, const char *name)
{
	struct eddy_str found = { NULL, 0 }, field, value;

	for (size_t i = 0; i < eddy_req_header_count(req); i++) {
		eddy_req_header_at(req, i, &field, &value);
		if (!eddy_str_eq_nocase(field, eddy_str_from(name)))
			continue;
		if (found.ptr)
			return eddy_str(NULL, 0);
		found = value;
	}
	return found;
}

/* All lines of a list as one string; NULL when there is none, or memory is out. */
static const char *join(struct eddy_req *req, const char *name)
{
	struct eddy_str field, value;
	size_t size = 0;
	char *joined, *at;

	for (size_t i = 0; i < eddy_req_header_count(req); i++) {
		eddy_req_header_at(req, i, &field, &value);
		if (eddy_str_eq_nocase(field, eddy_str_from(name)))
			size += value.len + 1;
	}
	at = joined = size ? eddy_req_alloc(req, size) : NULL;
	if (!joined)
		return NULL;
	for (size_t i = 0; i < eddy_req_header_count(req); i++) {
		eddy_req_header_at(req, i, &field, &value);
		if (!eddy_str_eq_nocase(field, eddy_str_from(name)))
			continue;
		if (at != joined)
			*at++ = ',';
		at = mempcpy(at, value.ptr, value.len);
	}
	*at = 0;
	return joined;
}

/* Go on with the trace that the request belongs to, or begin one. */
static void find_trace(struct visit *visit, struct eddy_req *req)
{
	struct eddy_trace_context parent;
	const char *state = NULL;

	if (eddy_trace_context_parse(only(req, "traceparent"), &parent) == 0) {
		eddy_trace_context_child(&parent, &visit->context);
		state = join(req, "tracestate");
	} else {
		eddy_trace_context_new(&visit->context);
	}
	eddy_trace_context_format(&visit->context, visit->parent_text);
	visit->sent_on[0] = (struct eddy_header){ "traceparent", visit->parent_text };
	if (state && eddy_tracestate_is_valid(eddy_str_from(state)))
		visit->sent_on[1] = (struct eddy_header){ "tracestate", state };
}

static void annotate(struct visit *visit, struct eddy_req *req)
{
	const struct eddy_trace_context *context = &visit->context;

	snprintf(visit->id_text, sizeof(visit->id_text), "%" PRIu64, visit->id);
	eddy_trace_id_format(context->trace_id, sizeof(context->trace_id), visit->trace_text);
	eddy_trace_id_format(context->span_id, sizeof(context->span_id), visit->span_text);
	visit->fields[0] = eddy_field_text("request_id", visit->id_text);
	visit->fields[1] = eddy_field_text("trace_id", visit->trace_text);
	visit->fields[2] = eddy_field_text("span_id", visit->span_text);
	visit->locals[0] = (struct eddy_local){ &visit_key, visit };
	visit->locals[1] = (struct eddy_local){ &eddy_client_fields, visit->sent_on };
	eddy_req_annotate(req, visit->fields, visit->locals);
}

static void *begin(void *data, struct eddy_req *req, struct eddy_res *res)
{
	const struct tracing *tracing = data;
	struct visit *visit = eddy_req_alloc(req, sizeof(*visit));

	if (!visit)
		return NULL;
	memset(visit, 0, sizeof(*visit));
	visit->id = eddy_trace_unique();
	find_trace(visit, req);
	annotate(visit, req);
	if (tracing->options.header)
		eddy_res_set_z(res,
			       tracing->options.header_name ? tracing->options.header_name :
							      HEADER_DEFAULT,
			       visit->id_text);
	return visit;
}

/* ---- the access log ---- */

static void write_access(const struct visit *visit, struct eddy_req *req,
			 const struct eddy_outcome *outcome)
{
	const struct eddy_peer *peer = eddy_req_peer(req);
	struct eddy_str method = eddy_req_method(req), path = eddy_req_target_path(req);

	eddy_log(EDDY_LOG_INFO, "eddy::access",
		 EDDY_FIELDS(eddy_field_text("request_id", visit->id_text),
			     eddy_field_text("trace_id", visit->trace_text),
			     eddy_field_text("span_id", visit->span_text),
			     eddy_field_str("peer", peer->text),
			     eddy_field_str("pattern", eddy_req_pattern(req)),
			     eddy_field_u64("received", outcome->received),
			     eddy_field_u64("sent", outcome->sent),
			     eddy_field_u64("us", outcome->duration_ns / EDDY_US),
			     eddy_field_bool("whole", outcome->whole)),
		 "%.*s %.*s %d", EDDY_FMT(method.len ? method : eddy_str("-", 1)),
		 EDDY_FMT(path.len ? path : eddy_str("-", 1)), outcome->status);
}

static void end(void *data, void *state, struct eddy_req *req, const struct eddy_outcome *outcome)
{
	const struct tracing *tracing = data;

	if (state && tracing->options.access_log)
		write_access(state, req, outcome);
}

static const struct eddy_observer observer = { begin, end };

/* ---- for programs ---- */

#define MEMBER(name) EDDY_CONFIG_AT(struct eddy_tracing_options, name)

static const struct eddy_config_key keys[] = {
	{ "header", EDDY_CONFIG_BOOL, MEMBER(header) },
	{ "header_name", EDDY_CONFIG_STRING, MEMBER(header_name), .min = 1, .max = 64 },
	{ "access_log", EDDY_CONFIG_BOOL, MEMBER(access_log) },
	{ 0 },
};

/* Return: NULL, or what is wrong. */
static const char *check(const struct eddy_tracing_options *options)
{
	const char *name = options->header_name;

	if (!name)
		return NULL;
	for (const char *at = name; *at; at++)
		if (!(*at >= 'a' && *at <= 'z') && !(*at >= 'A' && *at <= 'Z') &&
		    !(*at >= '0' && *at <= '9') && !strchr("!#$%&'*+-.^_`|~", *at))
			return "header_name is no name of a field";
	return *name ? NULL : "header_name is no name of a field";
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
	reason = check(&tracing->options);
	if (reason)
		eddy_app_mistake(app, "eddy_app_set_tracing(): %s", reason);
}

void eddy_app_use_tracing(struct eddy_app *app)
{
	struct tracing *tracing = tracing_of(app);

	if (!tracing->used)
		eddy_app_observe(app, &observer, tracing);
	tracing->used = true;
}

void eddy_trace_config(struct eddy_app *app)
{
	tracing_of(app);
}

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

	return visit ? &visit->context : NULL;
}
