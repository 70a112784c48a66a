/* Client spans, and the propagation of their ids (W3C Trace Context). */
#include "span.h"
#include "tracing.h"

#include <stdio.h>
#include <string.h>

struct call {
	struct eddy_span span;
	bool is_traced; /* the task has a span */
	struct eddy_client_hop hop;
	char parent_text[EDDY_TRACEPARENT_SIZE];
	struct eddy_header fields[3];
};

static const struct eddy_header *begin(void *state, const struct eddy_client_hop *hop)
{
	struct call *call = state;
	const char *method = eddyi_tracing_method(eddy_str_from(hop->method));

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

static void end(void *state, int result)
{
	struct call *call = state;
	const struct eddy_client_hop *hop = &call->hop;
	struct eddy_field more[9] = { 0 };
	size_t count = 0;
	char text[16];

	if (!call->is_traced)
		return;
	more[count++] = eddy_field_text("http.request.method",
					eddyi_tracing_method(eddy_str_from(hop->method)));
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

const struct eddy_client_observer eddyi_tracing_client_observer = { sizeof(struct call), begin,
								    end };
