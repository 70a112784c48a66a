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
#define ACCESS_TARGET "eddy::access"

struct tracing {
	struct eddy_tracing_options options; /* a configuration file may change them */
	bool used;
};

/* One request. Invariant: it lives as long as that; what is annotated points into it. */
struct visit {
	uint64_t id;
	struct eddy_trace_context context;
	char parent_text[EDDY_TRACEPARENT_SIZE];
	struct eddy_field fields[4];
	struct eddy_local locals[3];
	struct eddy_header sent_on[3];
};

static const struct eddy_local_key visit_key = { "request" };

/* ---- a request ---- */

static size_t write_id(const void *data, char text[EDDY_FIELD_LAZY_MAX])
{
	const struct visit *visit = data;

	return (size_t)snprintf(text, EDDY_FIELD_LAZY_MAX, "%" PRIu64, visit->id);
}

static size_t write_trace(const void *data, char text[EDDY_FIELD_LAZY_MAX])
{
	const struct visit *visit = data;

	eddy_trace_id_format(visit->context.trace_id, sizeof(visit->context.trace_id), text);
	return 2 * sizeof(visit->context.trace_id);
}

static size_t write_span(const void *data, char text[EDDY_FIELD_LAZY_MAX])
{
	const struct visit *visit = data;

	eddy_trace_id_format(visit->context.span_id, sizeof(visit->context.span_id), text);
	return 2 * sizeof(visit->context.span_id);
}

/* The tracestate, to be passed on; NULL where there is none, or it is malformed. */
static const char *find_state(struct eddy_req *req)
{
	struct eddy_str state = eddy_req_header_joined(req, "tracestate");
	char *text = eddy_tracestate_is_valid(state) ? eddy_req_alloc(req, state.len + 1) : NULL;

	if (text)
		*(char *)mempcpy(text, state.ptr, state.len) = 0;
	return text;
}

/* Go on with the trace that the request belongs to, or begin one. Several traceparents contradict each other:
 * joined they are none. */
static void find_trace(struct visit *visit, struct eddy_req *req)
{
	struct eddy_trace_context parent;
	const char *state = NULL;

	if (eddy_trace_context_parse(eddy_req_header_joined(req, "traceparent"), &parent) == 0) {
		eddy_trace_context_child(&parent, &visit->context);
		state = find_state(req);
	} else {
		eddy_trace_context_new(&visit->context);
	}
	eddy_trace_context_format(&visit->context, visit->parent_text);
	visit->sent_on[0] = (struct eddy_header){ "traceparent", visit->parent_text };
	if (state)
		visit->sent_on[1] = (struct eddy_header){ "tracestate", state };
}

static void annotate(struct visit *visit, struct eddy_req *req)
{
	visit->fields[0] = eddy_field_lazy("request_id", write_id, visit);
	visit->fields[1] = eddy_field_lazy("trace_id", write_trace, visit);
	visit->fields[2] = eddy_field_lazy("span_id", write_span, visit);
	visit->locals[0] = (struct eddy_local){ &visit_key, visit };
	visit->locals[1] = (struct eddy_local){ &eddy_client_fields, visit->sent_on };
	eddy_req_annotate(req, visit->fields, visit->locals);
}

static void *begin(void *data, struct eddy_req *req, struct eddy_res *res)
{
	const struct tracing *tracing = data;
	struct visit *visit = eddy_req_alloc(req, sizeof(*visit));
	char id[EDDY_FIELD_LAZY_MAX];

	if (!visit)
		return NULL;
	memset(visit, 0, sizeof(*visit));
	visit->id = eddy_trace_unique();
	find_trace(visit, req);
	annotate(visit, req);
	if (tracing->options.header)
		eddy_res_set(res,
			     tracing->options.header_name ? tracing->options.header_name :
							    HEADER_DEFAULT,
			     eddy_str(id, write_id(visit, id)));
	return visit;
}

/* ---- the access log ---- */

static void write_access(const struct visit *visit, struct eddy_req *req,
			 const struct eddy_outcome *outcome)
{
	const struct eddy_peer *peer = eddy_req_peer(req);
	struct eddy_str method = eddy_req_method(req), path = eddy_req_target_path(req);

	eddy_log(EDDY_LOG_INFO, ACCESS_TARGET,
		 EDDY_FIELDS(eddy_field_lazy("request_id", write_id, visit),
			     eddy_field_lazy("trace_id", write_trace, visit),
			     eddy_field_lazy("span_id", write_span, visit),
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

	if (state && tracing->options.access_log &&
	    eddy_log_is_enabled(EDDY_LOG_INFO, ACCESS_TARGET))
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

	if (name && !eddy_res_may_set(name))
		return "header_name is no name of a field that may be set";
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
