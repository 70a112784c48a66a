/* eddy/span.h: a span is a piece of work with a beginning and an end, a part of a trace.
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
 * It belongs to the task that begins it, and to the tasks that are spawned inside: spans that these begin are
 * its children, records that they emit have its ids, and requests of eddy's client pass them on. Spans are
 * lexical, as scopes are, and lie where they begin, most often on the stack.
 *
 * Finished spans go to a subscriber, if there is one and their trace is sampled: eddy/tracing.h has one that
 * exports them, and spans for requests. All of it belongs to one loop's thread, unless it says otherwise.
 */
#ifndef EDDY_SPAN_H
#define EDDY_SPAN_H

#include <eddy/local.h>
#include <eddy/log.h>
#include <eddy/scope.h>
#include <eddy/trace_context.h>

EDDY_BEGIN_DECLS

/* As OpenTelemetry numbers them. */
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
	EDDY_SPAN_OK, /* a person has said so; what went well is left unset */
	EDDY_SPAN_ERROR,
};

/* What is kept of one; what comes on top is counted, and left out. */
#define EDDY_SPAN_ATTRIBUTES_MAX 32
#define EDDY_SPAN_TEXT_MAX                                                                         \
	1024 /* bytes of a value and of the status's message; longer ones are cut */
#define EDDY_SPAN_BYTES_MAX 4096 /* of all of these together */

/* Every field: 0 or NULL means its default. */
struct eddy_span_options {
	enum eddy_span_kind kind; /* default: internal */
	/* Where the work was asked for, from elsewhere, such as a traceparent; default: the innermost span of
	 * the task, and without one a new trace. */
	const struct eddy_trace_context *parent;
	const char *trace_state; /* of the parent; borrowed until the end */
	bool new_trace;          /* begin a trace whatever the task has; default: no */
	/* Keep it off the timeline (eddy/timeline.h), which shows the work already; default: it is there,
	 * whether its trace is sampled or not. */
	bool off_timeline;
	double sample; /* of new traces: the share that is sampled, by the trace's id; default: all */
};

/* Private: a span, for the calls below. */
struct eddyi_span_notes;
struct eddy_span {
	struct eddy_trace_context context;
	uint8_t parent_id[8];
	bool has_parent, parent_is_remote;
	bool recorded; /* somebody wants it */
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

/* ---- for programs ---- */

/* Begin a span inside the current one; `name` is borrowed until its end, and says what is done, not to what:
 * "load cart" and not "load cart 7". */
EDDY_API void eddy_span_begin(struct eddy_span *span, const char *name,
			      const struct eddy_span_options *options);

/* End it, the innermost first. Never suspends. */
EDDY_API void eddy_span_end(struct eddy_span *span);

/* The innermost span of the task, such as that of the request that it works for; NULL when there is none, and
 * in a job of eddy_offload(). */
EDDY_API struct eddy_span *eddy_span_current(void);

/* Give it an attribute, in place of one of that name. The name is borrowed until the span ends, a string is
 * copied. NULL for a span is fine, and does nothing, as does one that nobody wants. Never suspends.
 * Return: 0, -ENOSPC when it has no room, -ENOMEM. */
EDDY_API int eddy_span_set(struct eddy_span *span, struct eddy_field attribute);

/* Say how it went; `message`, of an error, is copied and may be NULL. NULL for a span is fine. */
EDDY_API void eddy_span_set_status(struct eddy_span *span, enum eddy_span_status status,
				   const char *message);

/* Say later what it is called; borrowed as in eddy_span_begin(). NULL for a span is fine. */
EDDY_API void eddy_span_set_name(struct eddy_span *span, const char *name);

/* ---- for layers: spans that no block of code encloses ---- */

/* The current span is bound to this, for eddy_local_get(). */
extern EDDY_API const struct eddy_local_key eddy_span_key;

/* Begin one without making it the task's: who wants that binds `locals` and `fields`, which the span has for the
 * options of a scope. Never suspends. */
EDDY_API void eddy_span_init(struct eddy_span *span, const char *name,
			     const struct eddy_span_options *options);

/* End it; `more` attributes (NULL or as EDDY_FIELDS() makes them) are added to those of other names that it
 * has. Never suspends. */
EDDY_API void eddy_span_deinit(struct eddy_span *span, const struct eddy_field *more);

/* ---- finished spans ---- */

/* A span that has ended. All of it is borrowed. */
struct eddy_span_record {
	struct eddy_trace_context context;
	const uint8_t *parent_id; /* 8 bytes; NULL: it is the first of its trace */
	bool parent_is_remote;
	const char *trace_state; /* NULL: none */
	const char *name;
	enum eddy_span_kind kind;
	uint64_t start_ns, end_ns; /* the realtime clock */
	const struct eddy_field *attributes;
	size_t attribute_count;
	unsigned dropped; /* attributes that had no room */
	enum eddy_span_status status;
	const char *message; /* of the status; NULL: none */
};

/* Take note of a finished span. Called on the thread that ends it, by several at once; must not suspend, nor
 * subscribe or unsubscribe. */
typedef void eddy_span_fn(const struct eddy_span_record *record, void *arg);

/* Hand every span that is sampled, and was begun from now on, to `fn(record, arg)`. Any thread.
 * Return: 0, -EBUSY when there is a subscriber: there is one at a time. */
EDDY_API int eddy_span_subscribe(eddy_span_fn *fn, void *arg);

/* Stop handing them to `fn(record, arg)`. When this returns it runs in no thread. Does nothing where another one is
 * the subscriber. Any thread. */
EDDY_API void eddy_span_unsubscribe(eddy_span_fn *fn, void *arg);

EDDY_END_DECLS

#endif
