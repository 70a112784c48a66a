/* Tests of eddy/span.h. */
#include "span.h"
#include "trace_context.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/internal/text.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* What a subscriber has seen: ids, then "name=value" for each attribute. */
static struct kept {
	struct eddy_span_record record;
	uint8_t parent_id[8];
	char name[64], message[64], attributes[8192];
} kept[16];
static unsigned kept_count;

static void write_attribute(char *to, const struct eddy_field *field)
{
	if (field->type == EDDY_FIELD_STR)
		sprintf(to + strlen(to), "%s=%.*s;", field->name, EDDY_FMT(field->value.str));
	else
		sprintf(to + strlen(to), "%s=%llu;", field->name,
			(unsigned long long)field->value.u64);
}

static void keep(const struct eddy_span_record *record, void *arg)
{
	struct kept *now = &kept[kept_count++];

	(void)arg;
	cr_assert(le(uint, kept_count, 16));
	now->record = *record;
	if (record->parent_id) {
		memcpy(now->parent_id, record->parent_id, 8);
		now->record.parent_id = now->parent_id;
	}
	snprintf(now->name, sizeof(now->name), "%s", record->name);
	snprintf(now->message, sizeof(now->message), "%s", record->message ? record->message : "-");
	now->attributes[0] = 0;
	for (size_t i = 0; i < record->attribute_count; i++)
		write_attribute(now->attributes, &record->attributes[i]);
}

/* Run `fn` in a task, with a subscriber. */
static void watch(eddy_task_fn *fn)
{
	kept_count = 0;
	cr_assert(eq(int, eddy_span_subscribe(keep, NULL), 0));
	cr_assert(eq(int, eddy_run(NULL, fn, NULL), 0));
	eddy_span_unsubscribe(keep, NULL);
}

static bool is_child_of(const struct kept *child, const struct kept *parent)
{
	const struct eddy_trace_context *a = &child->record.context, *b = &parent->record.context;

	return memcmp(a->trace_id, b->trace_id, 16) == 0 && memcmp(a->span_id, b->span_id, 8) &&
	       child->record.parent_id &&
	       memcmp(child->record.parent_id, b->span_id, sizeof(b->span_id)) == 0;
}

/* ---- who is whose ---- */

static int in_task(void *arg)
{
	struct eddy_span span;

	(void)arg;
	eddy_span_begin(&span, "task", NULL);
	eddy_sleep(EDDY_MS);
	eddy_span_end(&span);
	return 0;
}

static int nest(void *arg)
{
	struct eddy_span outer, inner;
	struct eddy_scope scope;

	(void)arg;
	if (eddy_span_current())
		return -EEXIST;
	eddy_span_begin(&outer, "outer", NULL);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "task", in_task, NULL);
	eddy_span_begin(&inner, "inner", &(struct eddy_span_options){ .kind = EDDY_SPAN_PRODUCER });
	if (eddy_span_current() != &inner)
		return -EINVAL;
	eddy_span_end(&inner);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	if (eddy_span_current() != &outer)
		return -EINVAL;
	eddy_span_begin(&inner, "other",
			&(struct eddy_span_options){ .new_trace = true, .trace_state = "a=1" });
	eddy_span_end(&inner);
	eddy_span_end(&outer);
	return eddy_span_current() ? -EEXIST : 0;
}

Test(span, belongs_to_the_task_and_its_tasks)
{
	const struct eddy_span_record *outer = &kept[3].record;

	watch(nest);
	cr_assert(eq(uint, kept_count, 4));
	cr_expect(eq(str, kept[0].name, "inner"));
	cr_expect(eq(str, kept[1].name, "task"));
	cr_expect(eq(str, kept[2].name, "other"));
	cr_expect(eq(str, kept[3].name, "outer"));
	cr_expect(is_child_of(&kept[0], &kept[3]) && is_child_of(&kept[1], &kept[3]));
	cr_expect(outer->parent_id == NULL && kept[2].record.parent_id == NULL);
	cr_expect(memcmp(kept[2].record.context.trace_id, outer->context.trace_id, 16) != 0);
	cr_expect(eq(str, (char *)kept[2].record.trace_state, "a=1"));
	cr_expect(outer->kind == EDDY_SPAN_INTERNAL);
	cr_expect(kept[0].record.kind == EDDY_SPAN_PRODUCER);
	cr_expect(outer->start_ns <= kept[1].record.start_ns &&
		  kept[1].record.start_ns + EDDY_MS <= kept[1].record.end_ns &&
		  kept[1].record.end_ns <= outer->end_ns);
}

static int come_from_elsewhere(void *arg)
{
	struct eddy_trace_context parent;
	struct eddy_span span, child;

	(void)arg;
	eddyi_trace_context_new(&parent);
	memcpy(parent.span_id, "elsewher", 8);
	eddy_span_begin(&span, "span",
			&(struct eddy_span_options){ .parent = &parent, .trace_state = "b=2" });
	eddy_span_begin(&child, "child", NULL);
	eddy_span_end(&child);
	eddy_span_end(&span);
	return memcmp(span.context.trace_id, parent.trace_id, 16) ? -EINVAL : 0;
}

static int end_zeroed(void *arg)
{
	eddy_span_end(&(struct eddy_span){ 0 });
	return arg == NULL ? 0 : 1;
}

Test(span, that_never_began_may_be_ended)
{
	cr_expect(eq(int, eddy_run(NULL, end_zeroed, NULL), 0));
}

Test(span, goes_on_with_a_trace_from_elsewhere)
{
	watch(come_from_elsewhere);
	cr_assert(eq(uint, kept_count, 2));
	cr_expect(memcmp(kept[1].record.parent_id, "elsewher", 8) == 0);
	cr_expect(kept[1].record.parent_is_remote && !kept[0].record.parent_is_remote);
	cr_expect(is_child_of(&kept[0], &kept[1]));
	cr_expect(eq(str, (char *)kept[0].record.trace_state, "b=2"));
}

/* The clock of spans is that of records. */
Test(span, has_its_time_from_the_realtime_clock)
{
	uint64_t now;
	struct timespec ts;

	watch(in_task);
	clock_gettime(CLOCK_REALTIME, &ts);
	now = (uint64_t)ts.tv_sec * EDDY_SECOND + (uint64_t)ts.tv_nsec;
	cr_expect(kept[0].record.end_ns <= now && now - kept[0].record.end_ns < 10 * EDDY_SECOND);
}

/* ---- which are seen ---- */

static int sampled_out(void *arg)
{
	struct eddy_trace_context parent;
	struct eddy_span span, child;

	(void)arg;
	eddyi_trace_context_new(&parent);
	parent.flags = 0;
	eddy_span_begin(&span, "span", &(struct eddy_span_options){ .parent = &parent });
	eddy_span_set(&span, eddy_field_u64("n", 1));
	eddy_span_begin(&child, "child", NULL);
	eddy_span_end(&child);
	eddy_span_end(&span);
	return span.notes || child.context.flags ? -EINVAL : 0;
}

Test(span, is_not_seen_where_its_trace_is_not_sampled)
{
	watch(sampled_out);
	cr_expect(eq(uint, kept_count, 0));
}

static int take_share(void *arg)
{
	unsigned sampled = 0;

	(void)arg;
	for (int i = 0; i < 4000; i++) {
		struct eddy_span span;
		uint64_t last = 0;

		eddyi_span_init(&span, "span", &(struct eddy_span_options){ .sample = 0.25 });
		for (int j = 8; j < 16; j++)
			last = last << 8 | span.context.trace_id[j];
		/* The share is one of ids, the same for all who ask for it. */
		if ((last >> 1 < UINT64_C(1) << 61) != (span.context.flags & EDDY_TRACE_SAMPLED))
			return -EINVAL;
		sampled += span.context.flags & EDDY_TRACE_SAMPLED;
		eddyi_span_deinit(&span, NULL);
	}
	return sampled > 800 && sampled < 1200 ? 0 : -ERANGE;
}

Test(span, samples_a_share_of_new_traces)
{
	cr_expect(eq(int, eddy_run(NULL, take_share, NULL), 0));
}

static int unwanted(void *arg)
{
	struct eddy_span span;

	(void)arg;
	eddy_span_begin(&span, "span", NULL);
	eddy_span_set(&span, eddy_field_text("a", "b"));
	eddy_span_set_status(&span, EDDY_SPAN_ERROR, "broken");
	eddy_span_end(&span);
	return span.recorded || span.notes ? -EINVAL : 0;
}

Test(span, that_nobody_wants_keeps_nothing)
{
	cr_expect(eq(int, eddy_run(NULL, unwanted, NULL), 0));
	cr_expect(eq(int, eddy_span_set(NULL, eddy_field_u64("n", 1)), 0));
	eddy_span_set_status(NULL, EDDY_SPAN_ERROR, "x");
	eddy_span_set_name(NULL, "x");
}

Test(span, has_one_subscriber)
{
	cr_assert(eq(int, eddy_span_subscribe(keep, NULL), 0));
	cr_expect(eq(int, eddy_span_subscribe(keep, NULL), -EBUSY));
	eddy_span_unsubscribe(keep, &kept_count);
	cr_expect(eq(int, eddy_span_subscribe(keep, NULL), -EBUSY));
	eddy_span_unsubscribe(keep, NULL);
	eddy_span_unsubscribe(keep, NULL);
	cr_expect(eq(int, eddy_span_subscribe(keep, NULL), 0));
}

/* ---- what they say ---- */

static size_t write_lazy(const void *data, char text[EDDY_FIELD_LAZY_MAX])
{
	return (size_t)snprintf(text, EDDY_FIELD_LAZY_MAX, "lazy %d", *(const int *)data);
}

static int tell(void *arg)
{
	static const int seven = 7;
	struct eddy_span span;
	char text[] = "first";

	(void)arg;
	eddyi_span_init(&span, "no name", NULL);
	eddy_span_set(&span, eddy_field_text("text", text));
	memset(text, 'x', 5);
	eddy_span_set(&span, eddy_field_u64("number", 3));
	eddy_span_set(&span, eddy_field_u64("number", 4));
	eddy_span_set(&span, eddy_field_lazy("lazy", write_lazy, &seven));
	eddy_span_set_status(&span, EDDY_SPAN_ERROR, "gone");
	eddy_span_set_status(&span, EDDY_SPAN_ERROR, "broken");
	eddy_span_set_name(&span, "name");
	eddyi_span_deinit(&span, EDDY_FIELDS(eddy_field_text("number", "theirs"),
					     eddy_field_text("more", "yes")));
	eddyi_span_init(&span, "well", NULL);
	eddy_span_set_status(&span, EDDY_SPAN_ERROR, "at first");
	eddy_span_set_status(&span, EDDY_SPAN_OK, NULL);
	eddyi_span_deinit(&span, NULL);
	return 0;
}

Test(span, says_what_it_was_told)
{
	watch(tell);
	cr_assert(eq(uint, kept_count, 2));
	cr_expect(eq(str, kept[0].name, "name"));
	cr_expect(eq(str, kept[0].attributes, "text=first;number=4;lazy=lazy 7;more=yes;"));
	cr_expect(eq(str, kept[0].message, "broken"));
	cr_expect(kept[0].record.status == EDDY_SPAN_ERROR && kept[0].record.dropped == 0);
	cr_expect(kept[1].record.status == EDDY_SPAN_OK && kept[1].record.message == NULL);
}

static int tell_too_much(void *arg)
{
	static char names[40][4], text[2000];
	struct eddy_span span;
	int r = 0;

	(void)arg;
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text + EDDY_SPAN_TEXT_MAX - 1, "é", 2);
	eddyi_span_init(&span, "span", NULL);
	for (int i = 0; i < 40; i++) {
		sprintf(names[i], "n%d", i);
		r = eddy_span_set(&span, eddy_field_u64(names[i], (uint64_t)i));
		if (r != (i < EDDY_SPAN_ATTRIBUTES_MAX ? 0 : -ENOSPC))
			return -EINVAL;
	}
	eddyi_span_deinit(&span, NULL);
	eddyi_span_init(&span, "span", NULL);
	for (int i = 0; i < 5; i++) {
		r = eddy_span_set(&span, eddy_field_text(names[i], text));
		if (r != (i < 4 ? 0 : -ENOSPC))
			return -EINVAL;
	}
	eddyi_span_deinit(&span, NULL);
	return 0;
}

/* Values are cut between characters, and what has no room is counted. */
Test(span, is_bounded)
{
	watch(tell_too_much);
	cr_assert(eq(uint, kept_count, 2));
	cr_expect(eq(uint, kept[0].record.dropped, 8));
	cr_expect(eq(sz, kept[0].record.attribute_count, EDDY_SPAN_ATTRIBUTES_MAX));
	cr_expect(eq(uint, kept[1].record.dropped, 1));
	cr_expect(eq(sz, strlen(kept[1].attributes), 4 * (EDDY_SPAN_TEXT_MAX - 1 + 4)));
}

static int tell_again_and_again(void *arg)
{
	struct eddy_span span;
	char text[64];

	(void)arg;
	eddyi_span_init(&span, "span", NULL);
	eddy_span_set(&span, eddy_field_text("first", "1st"));
	eddy_span_set(&span, eddy_field_text("turns", "a string"));
	for (int i = 0; i < 3000; i++) {
		snprintf(text, sizeof(text), "step %d of a span that goes on for long", i);
		if (eddy_span_set(&span, eddy_field_text("step", text)) < 0)
			return -EINVAL;
		eddy_span_set_status(&span, EDDY_SPAN_ERROR, text + 5);
		eddy_span_set(&span, eddy_field_text("last", text + i % 39));
	}
	eddy_span_set(&span, eddy_field_u64("turns", 7));
	eddyi_span_deinit(&span, NULL);
	return 0;
}

/* What is replaced gives its room back. */
Test(span, may_say_the_same_for_ever)
{
	watch(tell_again_and_again);
	cr_assert(eq(uint, kept_count, 1));
	cr_expect(eq(uint, kept[0].record.dropped, 0));
	cr_expect(eq(
		str, kept[0].attributes,
		"first=1st;turns=7;step=step 2999 of a span that goes on for long;last=r long;"));
	cr_expect(eq(str, kept[0].message, "2999 of a span that goes on for long"));
}

static int see_current(void *arg)
{
	*(struct eddy_span **)arg = eddy_span_current();
	return 0;
}

static int look_from_a_job(void *arg)
{
	struct eddy_span span, *here = NULL, *there = &span;

	(void)arg;
	eddy_span_begin(&span, "span", NULL);
	see_current(&here);
	eddy_offload(see_current, &there);
	eddy_span_end(&span);
	return here == &span && !there ? 0 : -EINVAL;
}

Test(span, is_not_for_jobs)
{
	cr_expect(eq(int, eddy_run(NULL, look_from_a_job, NULL), 0));
}

/* ---- records ---- */

static char logged[4][128];
static unsigned logged_count;

static void keep_record(const struct eddy_record *record, void *arg)
{
	char *to = logged[logged_count++];

	(void)arg;
	to[0] = 0;
	for (size_t i = 0; i < record->field_count; i++)
		write_attribute(to, &record->fields[i]);
}

static int log_inside(void *arg)
{
	struct eddy_span outer, inner;
	char expected[128], trace[33], span[17];

	(void)arg;
	eddy_span_begin(&outer, "outer", NULL);
	eddy_span_begin(&inner, "inner", NULL);
	eddy_info("test", "inside");
	eddy_span_end(&inner);
	eddy_info("test", "outside");
	eddy_span_end(&outer);
	eddy_info("test", "behind");
	*eddyi_hex_format(outer.context.trace_id, 16, trace) = 0;
	for (unsigned i = 0; i < 2; i++) {
		*eddyi_hex_format((i ? &outer : &inner)->context.span_id, 8, span) = 0;
		snprintf(expected, sizeof(expected), "trace_id=%s;span_id=%s;", trace, span);
		if (strcmp(logged[i], expected) != 0)
			return -EINVAL;
	}
	return logged[2][0] ? -EINVAL : 0;
}

/* Of a record the innermost span counts, whether somebody wants spans or not. */
Test(span, gives_records_its_ids)
{
	cr_assert(eq(int, eddy_log_subscribe(keep_record, NULL), 0));
	cr_expect(eq(int, eddy_run(NULL, log_inside, NULL), 0), "%s\n%s", logged[0], logged[1]);
	cr_expect(eq(uint, logged_count, 3));
	eddy_log_unsubscribe();
}

/* ---- the timeline ---- */

static int show_spans(void *arg)
{
	struct eddy_trace_context parent;
	struct eddy_span span;

	eddyi_trace_context_new(&parent);
	parent.flags = 0;
	if (eddy_trace_start(&(struct eddy_trace_options){ .path = arg }) < 0)
		return -EIO;
	eddyi_span_init(&span, "shown", &(struct eddy_span_options){ .parent = &parent });
	eddyi_span_deinit(&span, NULL);
	eddyi_span_init(&span, "hidden", &(struct eddy_span_options){ .off_timeline = true });
	eddyi_span_deinit(&span, NULL);
	eddy_span_begin(&span, "told", NULL);
	eddy_span_set(&span, eddy_field_u64("number", 7));
	eddy_span_end(&span);
	eddy_trace_stop();
	return 0;
}

/* Spans are on it whether they are sampled or not, with their ids and what they were told. */
Test(span, is_on_the_timeline)
{
	char path[] = "/tmp/eddy-span-XXXXXX";
	static char text[65536];
	int fd = mkstemp(path);

	cr_assert(ge(int, fd, 0));
	kept_count = 0;
	cr_assert(eq(int, eddy_span_subscribe(keep, NULL), 0));
	cr_expect(eq(int, eddy_run(NULL, show_spans, path), 0));
	eddy_span_unsubscribe(keep, NULL);
	cr_assert(gt(int, (int)read(fd, text, sizeof(text) - 1), 0));
	unlink(path);
	close(fd);
	cr_expect(strstr(text, "\"name\":\"shown\"") && strstr(text, "\"trace_id\":\""));
	cr_expect(strstr(text, "\"name\":\"told\"") && strstr(text, "\"number\":7"));
	cr_expect(strstr(text, "hidden") == NULL);
}
