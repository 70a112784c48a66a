/* Fuzzes http/src/message/cond.h and date.h: the first byte says what there is, the lines behind it are a list of entity tags, a date and
 * an If-Range. */
#include "message/cond.h"

#include "text/date.h"

#include <stdlib.h>

#define NOW 784111777 /* Sun, 06 Nov 1994 08:49:37 GMT */
#define YEAR_9999 253402300799

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read is written as the same. */
static void try_date(struct eddy_str text)
{
	char buffer[EDDYI_DATE_LEN + 1];
	time_t when, again;

	if (eddyi_date_parse(text, NOW, &when) < 0 || when > YEAR_9999)
		return;
	if (eddyi_date_parse(eddyi_date_format(when, buffer), NOW, &again) < 0 || again != when)
		abort();
}

static enum eddyi_cond_result ask(const struct eddyi_cond_state *state, struct eddy_str if_match,
				  struct eddy_str if_none_match)
{
	struct eddyi_cond_fields fields = { .if_match = if_match, .if_none_match = if_none_match };

	return eddyi_cond_evaluate(&fields, state, EDDYI_METHOD_GET);
}

/* What is equal by strong comparison is by the weak one; what is malformed at its end names nothing. */
static void try_tags(const struct eddyi_cond_state *state, struct eddy_str tags)
{
	struct eddy_str none = { 0 }, spoilt;
	char *text = malloc(tags.len + 2);

	if (ask(state, tags, none) == EDDYI_COND_PROCEED &&
	    ask(state, none, tags) != EDDYI_COND_NOT_MODIFIED)
		abort();
	memcpy(text, tags.ptr, tags.len);
	memcpy(text + tags.len, ",x", 2);
	spoilt = eddy_str(text, tags.len + 2);
	if (ask(state, spoilt, none) != EDDYI_COND_FAILED ||
	    ask(state, none, spoilt) != EDDYI_COND_PROCEED)
		abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddy_str rest = eddy_str((const char *)data, size), tags, date;
	struct eddyi_cond_state state = { .now = NOW, .modified = NOW - 60 };
	struct eddyi_cond_fields fields = { 0 };

	if (!size)
		return 0;
	state.has_modified = data[0] & 1;
	if (data[0] & 2)
		state.etag = eddy_str_from(data[0] & 4 ? "W/\"a\"" : "\"a\"");
	rest = eddy_str_skip(rest, 1);
	if (!eddy_str_split(&rest, '\n', &tags) || !eddy_str_split(&rest, '\n', &date))
		return 0;
	try_tags(&state, tags);
	try_date(date);
	fields.if_unmodified_since = fields.if_modified_since = date;
	fields.if_range = rest;
	eddyi_cond_evaluate(&fields, &state, EDDYI_METHOD_HEAD);
	eddyi_cond_evaluate(&fields, &state, EDDYI_METHOD_PUT);
	/* By the strong comparison alone. */
	if (eddy_str_starts(rest, EDDY_STR("W/")) && eddyi_cond_range_allowed(&fields, &state))
		abort();
	eddyi_cond_range_allowed(&fields, &state);
	return 0;
}
