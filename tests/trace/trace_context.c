/* Tests of eddy/trace_context.h. */
#include "trace_context.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define VALID "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

Test(trace_context, reads_and_writes)
{
	struct eddy_trace_context context;
	char text[EDDY_TRACEPARENT_SIZE];

	cr_assert(eq(int, eddy_trace_context_parse(eddy_str_from(VALID), &context), 0));
	cr_assert(context.trace_id[0] == 0x0a && context.span_id[7] == 0x31 && context.flags == 1);
	cr_assert(eq(sz, eddy_trace_context_format(&context, text), 55));
	cr_assert(eq(str, (char *)text, VALID));
}

Test(trace_context, refuses_what_is_malformed)
{
	static const char *const bad[] = {
		"",
		"00",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-011",
		"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"0g-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
		"00-0af7651916cd43dd8448eb211c80319c-B7AD6B7169203331-01",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01",
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
		"00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331_01",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-.1",
		"01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x",
	};
	struct eddy_trace_context context;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(eq(int, eddy_trace_context_parse(eddy_str_from(bad[i]), &context),
			     -EINVAL),
			  "%s", bad[i]);
	cr_expect(eq(int, eddy_trace_context_parse(eddy_str(NULL, 0), &context), -EINVAL));
}

Test(trace_context, takes_later_versions_as_far_as_it_knows)
{
	static const char *const later[] = {
		"cc-12345678901234567890123456789012-1234567890123456-01",
		"cc-12345678901234567890123456789012-1234567890123456-01-what-the-future",
		"01-12345678901234567890123456789012-1234567890123456-ff",
	};
	struct eddy_trace_context context;
	char text[EDDY_TRACEPARENT_SIZE];

	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		cr_expect(eq(int, eddy_trace_context_parse(eddy_str_from(later[i]), &context), 0));
		eddy_trace_context_format(&context, text);
		cr_expect(eq(str, (char *)text,
			     "00-12345678901234567890123456789012-1234567890123456-01"));
	}
}

Test(trace_context, child_stays_in_the_trace)
{
	struct eddy_trace_context parent, child;

	eddyi_trace_context_new(&parent);
	eddyi_trace_context_child(&parent, &child);
	cr_assert(memcmp(parent.trace_id, child.trace_id, 16) == 0);
	cr_assert(memcmp(parent.span_id, child.span_id, 8) != 0);
	cr_assert(eq(int, child.flags, EDDY_TRACE_SAMPLED));
}

Test(trace_context, state)
{
	static const char *const good[] = {
		"a=1",       "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
		"a=1 , b=2", "fw529a3039@dt=FfFf",
		"0a=x",      "a=!~ x",
		"a=1,,b=2",
	};
	static const char *const bad[] = {
		"", "a", "a=", "=1", "A=1", "a=b=c", "a=\x01", "-a=1", "a@=1", "a@b@c=1", "a=1,b",
	};
	char many[512] = "";

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		cr_expect(eddyi_tracestate_is_valid(eddy_str_from(good[i])), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(not(eddyi_tracestate_is_valid(eddy_str_from(bad[i]))), "%s", bad[i]);
	for (int i = 0; i < 33; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "k%d=1,", i);
	cr_expect(not(eddyi_tracestate_is_valid(eddy_str_from(many))));
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Half of them from a forked child, which begins in the middle of a block. */
Test(trace_context, numbers_are_unique_over_processes)
{
	size_t count = 1000000, half = count / 2;
	uint64_t *numbers = malloc(count * sizeof(*numbers));
	int pipe_fds[2];
	pid_t child;
	size_t at = 0;

	eddyi_trace_unique();
	cr_assert(pipe(pipe_fds) == 0);
	child = fork();
	for (size_t i = 0; i < half; i++)
		numbers[i] = eddyi_trace_unique();
	if (!child) {
		while (at < half * sizeof(*numbers)) {
			ssize_t r = write(pipe_fds[1], (char *)numbers + at,
					  half * sizeof(*numbers) - at);

			if (r <= 0)
				_exit(1);
			at += (size_t)r;
		}
		_exit(0);
	}
	while (at < half * sizeof(*numbers)) {
		ssize_t r = read(pipe_fds[0], (char *)(numbers + half) + at,
				 half * sizeof(*numbers) - at);

		cr_assert(r > 0);
		at += (size_t)r;
	}
	waitpid(child, NULL, 0);
	qsort(numbers, count, sizeof(*numbers), compare);
	for (size_t i = 1; i < count; i++)
		cr_assert(numbers[i - 1] != numbers[i]);
	free(numbers);
}
