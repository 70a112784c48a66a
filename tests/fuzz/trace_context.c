/* Fuzzes eddy/trace_context.h: the first line is a traceparent, the rest a tracestate. What was read is written as the same
 * again, and what may be passed on consists of members that may. */
#include "trace_context.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_parent(struct eddy_str parent)
{
	struct eddy_trace_context context, again;
	char text[EDDY_TRACEPARENT_SIZE];

	if (eddy_trace_context_parse(parent, &context) < 0)
		return;
	if (eddy_trace_context_format(&context, text) != EDDY_TRACEPARENT_SIZE - 1)
		abort();
	/* All but the version and the flags, of which those that nobody knows go. */
	if (memcmp(text + 2, parent.ptr + 2, 51) != 0)
		abort();
	if (eddy_trace_context_parse(eddy_str_from(text), &again) < 0 ||
	    memcmp(&again, &context, sizeof(context)) != 0)
		abort();
	eddyi_trace_context_child(&context, &again);
	if (memcmp(again.trace_id, context.trace_id, sizeof(again.trace_id)) != 0)
		abort();
}

static void try_state(struct eddy_str state)
{
	struct eddy_str member;
	size_t count = 0;

	if (!eddyi_tracestate_is_valid(state))
		return;
	if (state.len > 512)
		abort();
	for (size_t i = 0; i < state.len; i++)
		if (state.ptr[i] != '\t' && (state.ptr[i] < ' ' || state.ptr[i] > '~'))
			abort();
	while (eddy_str_split(&state, ',', &member)) {
		member = eddy_str_trim(member);
		if (!member.len)
			continue;
		count++;
		if (!eddyi_tracestate_is_valid(member) || !memchr(member.ptr, '=', member.len))
			abort();
	}
	if (!count || count > 32)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddy_str rest = eddy_str((const char *)data, size), parent;

	if (!eddy_str_split(&rest, '\n', &parent))
		return 0;
	try_parent(parent);
	try_state(rest);
	return 0;
}
