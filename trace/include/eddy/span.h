/* eddy/span.h: spans: timed pieces of work that form a trace.
 *
 *     struct eddy_span span;
 *
 *     eddy_span_begin(&span, "load cart", NULL);
 *     r = load(cart);
 *     eddy_span_set(&span, eddy_field_u64("articles", cart->count));
 *     if (r < 0)
 *             eddy_span_set_status(&span, EDDY_SPAN_ERROR, strerror(-r));
 *     eddy_span_end(&span);
 *
 * A span belongs to the task that begins it, and to tasks spawned inside: their spans are its
 * children, their log records have its ids, and eddy's client propagates them. Spans are lexical,
 * like scopes, and usually live on the stack.
 *
 * Sampled spans go to a subscriber when they end, such as the exporter of eddy/tracing.h, which
 * also makes spans of requests. A span belongs to one loop's thread.
 */
#ifndef EDDY_SPAN_H
#define EDDY_SPAN_H

#include <eddy/local.h>
#include <eddy/log.h>
#include <eddy/scope.h>
#include <eddy/trace_context.h>

EDDY_BEGIN_DECLS

/* Span kinds, with OpenTelemetry's numbers. */
enum eddy_span_kind {
	EDDY_SPAN_UNSPECIFIED,
	EDDY_SPAN_INTERNAL,
	EDDY_SPAN_SERVER,
	EDDY_SPAN_CLIENT,
	EDDY_SPAN_PRODUCER,
	EDDY_SPAN_CONSUMER,
};

enum eddy_span_status {
	EDDY_SPAN_UNSET,
	EDDY_SPAN_OK, /* set explicitly; otherwise a success stays unset */
	EDDY_SPAN_ERROR,
};

/* Limits of a span's attributes: their number, bytes of a value or of the status's message (longer
 * ones are cut), and bytes of all together. Attributes beyond are counted as dropped. */
#define EDDY_SPAN_ATTRIBUTES_MAX 32
#define EDDY_SPAN_TEXT_MAX 1024
#define EDDY_SPAN_BYTES_MAX 4096

/* How a span begins. A zero field takes its default. */
struct eddy_span_options {
	enum eddy_span_kind kind; /* default: internal */
	/* The remote parent, as from a traceparent; default: the task's innermost span, else none:
	 * a new trace. */
	const struct eddy_trace_context *parent;
	const char *trace_state; /* of the parent; borrowed until the span ends */
	bool new_trace;          /* begin a new trace in any case */
	/* Keep the span off the timeline (eddy/timeline.h), for work that it shows already. Others
	 * are on it, sampled or not. */
	bool off_timeline;
	double sample; /* share of new traces that is sampled, by trace id; default: all */
};

/* Private: a span, for the calls below. */
struct eddyi_span_notes;
struct eddy_span {
	struct eddy_trace_context context;
	uint8_t parent_id[8];
	bool has_parent, parent_is_remote;
	bool recorded; /* a subscriber gets it */
	bool off_timeline;
	enum eddy_span_kind kind;
	enum eddy_span_status status;
	const char *name;
	const char *trace_state;
	uint64_t began_ns; /* the monotonic clock */
	uint64_t epoch_ns; /* where that began on the realtime clock: one for a trace */
	struct eddyi_span_notes *notes; /* NULL: none */
	unsigned dropped;               /* attributes */
	struct eddy_field fields[3];
	struct eddy_local locals[2];
	struct eddy_scope scope; /* of eddy_span_begin() */
};

/* Begin a span inside the current one. `name` is borrowed until the end, and names the operation,
 * not its object: "load cart", not "load cart 7". */
EDDY_API void eddy_span_begin(struct eddy_span *span, const char *name,
			      const struct eddy_span_options *options, const char *where);

/* End a span, the innermost first. Never suspends. */
EDDY_API void eddy_span_end(struct eddy_span *span);

/* `where` is filled in: see eddy/base.h. */
EDDY_API void eddyi_span_end(struct eddy_span *span, const char *where);
#define eddy_span_begin(...) eddy_span_begin(__VA_ARGS__, EDDY_HERE)
#define eddy_span_end(...) eddyi_span_end(__VA_ARGS__, EDDY_HERE)

/* Get the innermost span of the task, such as that of its request. Return: NULL if there is none,
 * and in an eddy_offload() job. */
EDDY_API struct eddy_span *eddy_span_current(void);

/* Set an attribute of a span, replacing one with the same name. The name is borrowed until the span
 * ends; a string is copied. Ignores a NULL span, and one that no subscriber gets. Never suspends.
 * Return: 0; -ENOSPC beyond a limit; -ENOMEM. */
EDDY_API int eddy_span_set(struct eddy_span *span, struct eddy_field attribute);

/* Set the status of a span. `message`, for errors, is copied or NULL. Ignores a NULL span. */
EDDY_API void eddy_span_set_status(struct eddy_span *span, enum eddy_span_status status,
				   const char *message);

/* Rename a span; borrowed as in eddy_span_begin(). Ignores a NULL span. */
EDDY_API void eddy_span_set_name(struct eddy_span *span, const char *name);

/* ---- finished spans ---- */

/* A span that has ended. Everything is borrowed for the call. */
struct eddy_span_record {
	struct eddy_trace_context context;
	const uint8_t *parent_id; /* 8 bytes; NULL: the root of its trace */
	bool parent_is_remote;
	const char *trace_state; /* NULL: none */
	const char *name;
	enum eddy_span_kind kind;
	uint64_t start_ns, end_ns; /* the realtime clock */
	const struct eddy_field *attributes;
	size_t attribute_count;
	unsigned dropped; /* attributes beyond the limits */
	enum eddy_span_status status;
	const char *message; /* of the status; NULL: none */
};

/* Receive a finished span, on the thread that ends it; several threads may call it at once. Must
 * not suspend, subscribe or unsubscribe. */
typedef void eddy_span_fn(const struct eddy_span_record *record, void *arg);

/* Pass every sampled span that begins from now on to `fn(record, arg)`. Any thread may call it.
 * Return: 0; -EBUSY if there is a subscriber: there is one at a time. */
EDDY_API int eddy_span_subscribe(eddy_span_fn *fn, void *arg);

/* Unsubscribe `fn(record, arg)` from spans; afterwards no thread runs it. Does nothing if another
 * is the subscriber. Any thread may call it. */
EDDY_API void eddy_span_unsubscribe(eddy_span_fn *fn, void *arg);

EDDY_END_DECLS

#endif
