#include "span.h"

#include "trace_context.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/text.h>
#include <eddy/loop.h>
#include <eddy/timeline.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

const struct eddy_local_key eddyi_span_key = { "span" };

/* Attributes and message of a span. Invariant: their strings are in `text`. */
struct eddyi_span_notes {
	struct eddy_field attributes[EDDY_SPAN_ATTRIBUTES_MAX];
	size_t count;
	const char *message;
	size_t used; /* of: */
	char text[EDDY_SPAN_BYTES_MAX];
};

/* ---- the subscriber ---- */

/* Held for reading while the subscriber runs, so that it is not removed meanwhile. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static eddy_span_fn *subscriber;
static void *subscriber_arg;

/* Written under the lock; read without it as a hint. */
static atomic_bool is_wanted;

int eddy_span_subscribe(eddy_span_fn *fn, void *arg)
{
	int r = -EBUSY;

	pthread_rwlock_wrlock(&lock);
	if (!subscriber) {
		r = 0;
		subscriber = fn;
		subscriber_arg = arg;
		atomic_store(&is_wanted, true);
	}
	pthread_rwlock_unlock(&lock);
	return r;
}

void eddy_span_unsubscribe(eddy_span_fn *fn, void *arg)
{
	pthread_rwlock_wrlock(&lock);
	if (subscriber == fn && subscriber_arg == arg) {
		subscriber = NULL;
		atomic_store(&is_wanted, false);
	}
	pthread_rwlock_unlock(&lock);
}

static void hand_out(const struct eddy_span_record *record)
{
	pthread_rwlock_rdlock(&lock);
	if (subscriber)
		subscriber(record, subscriber_arg);
	pthread_rwlock_unlock(&lock);
}

/* ---- attributes, status and name ---- */

static struct eddyi_span_notes *notes_of(struct eddy_span *span)
{
	if (!span->notes) {
		span->notes = malloc(sizeof(*span->notes));
		if (!span->notes)
			return NULL;
		span->notes->count = 0;
		span->notes->message = NULL;
		span->notes->used = 0;
	}
	return span->notes;
}

/* Cut a string between two characters. */
static struct eddy_str cut(struct eddy_str str, size_t max)
{
	if (str.len <= max)
		return str;
	str.len = max;
	while (str.len && ((unsigned char)str.ptr[str.len] & 0xc0) == 0x80)
		str.len--;
	return str;
}

/* Remove a string; those after it move up. */
static void forget(struct eddyi_span_notes *notes, struct eddy_str str)
{
	char *at = (char *)str.ptr, *behind = at + str.len + 1;

	memmove(at, behind, (size_t)(notes->text + notes->used - behind));
	notes->used -= str.len + 1;
	for (size_t i = 0; i < notes->count; i++) {
		struct eddy_field *other = &notes->attributes[i];

		if (other->type == EDDY_FIELD_STR && other->value.str.ptr > at)
			other->value.str.ptr -= str.len + 1;
	}
	if (notes->message && notes->message > at)
		notes->message -= str.len + 1;
}

/* Copy a string with a NUL, replacing `before`, if any. Return: .ptr NULL, and `before` stays, if
 * there is no room. */
static struct eddy_str keep(struct eddyi_span_notes *notes, struct eddy_str str,
			    struct eddy_str before)
{
	size_t room = sizeof(notes->text) - notes->used + (before.ptr ? before.len + 1 : 0);
	char *at;

	str = cut(str, EDDY_SPAN_TEXT_MAX);
	if (str.len >= room)
		return eddy_str(NULL, 0);
	if (before.ptr)
		forget(notes, before);
	at = notes->text + notes->used;
	if (str.len)
		memcpy(at, str.ptr, str.len);
	at[str.len] = 0;
	notes->used += str.len + 1;
	return eddy_str(at, str.len);
}

static struct eddy_field *find(struct eddyi_span_notes *notes, const char *name)
{
	for (size_t i = 0; i < notes->count; i++)
		if (strcmp(notes->attributes[i].name, name) == 0)
			return &notes->attributes[i];
	return notes->count < EDDY_SPAN_ATTRIBUTES_MAX ? &notes->attributes[notes->count] : NULL;
}

static int put(struct eddyi_span_notes *notes, struct eddy_field attribute)
{
	struct eddy_field *place = find(notes, attribute.name);
	struct eddy_str before = { NULL, 0 };
	char text[EDDY_FIELD_LAZY_MAX];

	if (!place)
		return -ENOSPC;
	if (attribute.type == EDDY_FIELD_LAZY)
		attribute = eddy_field_str(
			attribute.name, eddy_str(text, attribute.value.lazy.write(
							       attribute.value.lazy.data, text)));
	if (place != &notes->attributes[notes->count] && place->type == EDDY_FIELD_STR)
		before = place->value.str;
	if (attribute.type == EDDY_FIELD_STR) {
		attribute.value.str = keep(notes, attribute.value.str, before);
		if (!attribute.value.str.ptr)
			return -ENOSPC;
	} else if (before.ptr) {
		forget(notes, before);
	}
	*place = attribute;
	notes->count += place == &notes->attributes[notes->count];
	return 0;
}

int eddy_span_set(struct eddy_span *span, struct eddy_field attribute)
{
	struct eddyi_span_notes *notes;
	int r = -ENOMEM;

	if (!span || !span->recorded)
		return 0;
	notes = notes_of(span);
	if (notes)
		r = put(notes, attribute);
	span->dropped += r < 0;
	return r;
}

void eddy_span_set_status(struct eddy_span *span, enum eddy_span_status status, const char *message)
{
	struct eddyi_span_notes *notes;
	struct eddy_str before;

	if (!span)
		return;
	span->status = status;
	if (span->notes && span->notes->message) {
		before = eddy_str_from(span->notes->message);
		span->notes->message = NULL;
		forget(span->notes, before);
	}
	if (status != EDDY_SPAN_ERROR || !message || !span->recorded)
		return;
	notes = notes_of(span);
	if (notes)
		notes->message = keep(notes, eddy_str_from(message), eddy_str(NULL, 0)).ptr;
}

void eddy_span_set_name(struct eddy_span *span, const char *name)
{
	if (span)
		span->name = name;
}

/* ---- begin ---- */

static size_t write_trace_id(const void *data, char text[EDDY_FIELD_LAZY_MAX])
{
	const struct eddy_trace_context *context = data;

	return (size_t)(eddyi_hex_format(context->trace_id, sizeof(context->trace_id), text) -
			text);
}

static size_t write_span_id(const void *data, char text[EDDY_FIELD_LAZY_MAX])
{
	const struct eddy_trace_context *context = data;

	return (size_t)(eddyi_hex_format(context->span_id, sizeof(context->span_id), text) - text);
}

/* OpenTelemetry's TraceIdRatioBased: services with the same share sample the same traces. */
static bool is_in_share(const uint8_t trace_id[16], double share)
{
	uint64_t last = 0;

	for (int i = 8; i < 16; i++)
		last = last << 8 | trace_id[i];
	return (double)(last >> 1) < share * 0x1p63;
}

static void begin_trace(struct eddy_span *span, const struct eddy_span_options *options)
{
	eddyi_trace_context_new(&span->context);
	if (options->sample > 0 && options->sample < 1 &&
	    !is_in_share(span->context.trace_id, options->sample))
		span->context.flags &= (uint8_t)~EDDY_TRACE_SAMPLED;
}

static void go_on(struct eddy_span *span, const struct eddy_trace_context *parent)
{
	eddyi_trace_context_child(parent, &span->context);
	memcpy(span->parent_id, parent->span_id, sizeof(span->parent_id));
	span->has_parent = true;
}

static void take_place(struct eddy_span *span, const struct eddy_span_options *options)
{
	const struct eddy_span *around =
		options->parent || options->new_trace ? NULL : eddy_span_current();

	span->trace_state = options->trace_state;
	if (around) {
		go_on(span, &around->context);
		span->trace_state = around->trace_state;
		span->epoch_ns = around->epoch_ns;
	} else if (options->parent) {
		go_on(span, options->parent);
		span->parent_is_remote = true;
	} else {
		begin_trace(span, options);
	}
}

void eddyi_span_init(struct eddy_span *span, const char *name,
		     const struct eddy_span_options *options)
{
	static const struct eddy_span_options defaults;

	if (!options)
		options = &defaults;
	memset(span, 0, offsetof(struct eddy_span, fields));
	span->name = name;
	span->kind = options->kind ? options->kind : EDDY_SPAN_INTERNAL;
	span->off_timeline = options->off_timeline;
	span->began_ns = eddy_now();
	take_place(span, options);
	span->recorded = (span->context.flags & EDDY_TRACE_SAMPLED) &&
			 atomic_load_explicit(&is_wanted, memory_order_relaxed);
	if (span->recorded && !span->epoch_ns)
		/* The realtime of the monotonic clock's zero. */
		span->epoch_ns = eddyi_clock(CLOCK_REALTIME) - span->began_ns;
	span->fields[0] = eddy_field_lazy("trace_id", write_trace_id, &span->context);
	span->fields[1] = eddy_field_lazy("span_id", write_span_id, &span->context);
	span->fields[2] = (struct eddy_field){ 0 };
	span->locals[0] = (struct eddy_local){ &eddyi_span_key, span };
	span->locals[1] = (struct eddy_local){ 0 };
}

void(eddy_span_begin)(struct eddy_span *span, const char *name,
		      const struct eddy_span_options *options, const char *where)
{
	const struct eddy_scope_options of_scope = {
		.log_fields = span->fields,
		.locals = span->locals,
	};

	eddyi_span_init(span, name, options);
	(eddy_scope_begin)(&span->scope, &of_scope, where);
}

struct eddy_span *eddy_span_current(void)
{
	/* Not in jobs of the offload pool, where tasks could use the span at the same time. */
	return eddy_loop_self() ? eddy_local_get(&eddyi_span_key) : NULL;
}

/* ---- end ---- */

/* Limit of the attributes that a layer adds at the end. */
#define MORE_MAX 16

static bool has(const struct eddy_field *attributes, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(attributes[i].name, name) == 0)
			return true;
	return false;
}

static void hand_out_span(struct eddy_span *span, const struct eddy_field *more)
{
	struct eddy_field attributes[EDDY_SPAN_ATTRIBUTES_MAX + MORE_MAX];
	struct eddy_span_record record = {
		.context = span->context,
		.parent_id = span->has_parent ? span->parent_id : NULL,
		.parent_is_remote = span->parent_is_remote,
		.trace_state = span->trace_state,
		.name = span->name,
		.kind = span->kind,
		.start_ns = span->epoch_ns + span->began_ns,
		.end_ns = span->epoch_ns + eddy_now(),
		.attributes = attributes,
		.dropped = span->dropped,
		.status = span->status,
		.message = span->notes ? span->notes->message : NULL,
	};
	size_t own = span->notes ? span->notes->count : 0;

	if (own)
		memcpy(attributes, span->notes->attributes, own * sizeof(*attributes));
	record.attribute_count = own;
	for (; more && more->name; more++) {
		if (has(attributes, own, more->name))
			continue;
		if (record.attribute_count == EDDY_SPAN_ATTRIBUTES_MAX + MORE_MAX) {
			record.dropped++;
			continue;
		}
		attributes[record.attribute_count] = *more;
		if (more->type == EDDY_FIELD_STR)
			attributes[record.attribute_count].value.str =
				cut(more->value.str, EDDY_SPAN_TEXT_MAX);
		record.attribute_count++;
	}
	hand_out(&record);
}

static void show(const struct eddy_span *span)
{
	const struct eddyi_span_notes *notes = span->notes;
	struct eddy_field fields[2 + EDDY_SPAN_ATTRIBUTES_MAX + 1];
	size_t count = notes ? notes->count : 0;

	memcpy(fields, span->fields, 2 * sizeof(*fields));
	if (count)
		memcpy(fields + 2, notes->attributes, count * sizeof(*fields));
	fields[2 + count] = (struct eddy_field){ 0 };
	eddy_trace_span(eddy_str_from(span->name), span->began_ns, eddyi_clock_seen(), fields);
}

void eddyi_span_deinit(struct eddy_span *span, const struct eddy_field *more)
{
	if (!span->off_timeline && eddy_trace_is_on())
		show(span);
	if (span->recorded)
		hand_out_span(span, more);
	free(span->notes);
	span->notes = NULL;
}

void eddyi_span_end(struct eddy_span *span, const char *where)
{
	/* Never begun. */
	if (!span->scope.host)
		return;
	eddyi_scope_end(&span->scope, where);
	eddyi_span_deinit(span, NULL);
}

void(eddy_span_end)(struct eddy_span *span)
{
	eddyi_span_end(span, NULL);
}
