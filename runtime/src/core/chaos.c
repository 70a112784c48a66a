/* The environment variable, the random streams, and the effect of chaos on the ready queue. A
 * yielding task must come after all ready ones: other tasks are inserted before it. */
#include "chaos.h"

#include <eddy/internal/outside.h>
#include <eddy/log.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET "eddy::chaos"
/* Maximum distance of an inserted task from the end of the ready queue. */
#define READY_DEPTH 32

#define USAGE                                                                                        \
	"EDDY_CHAOS is SEED[,MODE...]: a number, then any of shuffle, delay, short, eintr, nobufs, " \
	"ends, misses (default: all of these) and errors"

static const struct {
	const char *name;
	unsigned mode;
} modes[] = {
	{ "shuffle", EDDYI_CHAOS_SHUFFLE }, { "delay", EDDYI_CHAOS_DELAY },
	{ "short", EDDYI_CHAOS_SHORT },     { "eintr", EDDYI_CHAOS_EINTR },
	{ "nobufs", EDDYI_CHAOS_NOBUFS },   { "ends", EDDYI_CHAOS_ENDS },
	{ "misses", EDDYI_CHAOS_MISSES },   { "errors", EDDYI_CHAOS_ERRORS },
};

/* Return: 0 if there is no such mode. */
static unsigned mode_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strlen(modes[i].name) == len && memcmp(modes[i].name, name, len) == 0)
			return modes[i].mode;
	return 0;
}

int eddyi_chaos_parse(const char *text, uint64_t *ret_seed, unsigned *ret_modes)
{
	unsigned chosen = 0;
	uint64_t seed;
	char *end;

	/* strtoull() would accept blanks and a sign. */
	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	seed = strtoull(text, &end, 0);
	if (errno)
		return -EINVAL;
	while (*end == ',') {
		const char *name = end + 1;
		unsigned mode = mode_of(name, strcspn(name, ","));

		if (!mode)
			return -EINVAL;
		chosen |= mode;
		end += 1 + strcspn(name, ",");
	}
	if (*end)
		return -EINVAL;
	*ret_seed = seed;
	*ret_modes = chosen & EDDYI_CHAOS_BENIGN ? chosen : chosen | EDDYI_CHAOS_BENIGN;
	return 0;
}

/* Return: NULL if the variable is unset or empty. */
static const char *environment(void)
{
	const char *text = eddyi_getenv_now("EDDY_CHAOS");

	return text && *text ? text : NULL;
}

const char *eddyi_chaos_advice(void)
{
	const char *text = environment();
	uint64_t seed;
	unsigned chosen;

	return text && eddyi_chaos_parse(text, &seed, &chosen) < 0 ? USAGE : NULL;
}

/* Get the variable's text; NULL if this thread's loop has no chaos. Any thread may call it. */
static const char *text_of_loop(void)
{
	const struct eddy_loop *loop = eddy_loop_self();

	return loop && loop->chaos ? loop->chaos->text : NULL;
}

int eddyi_chaos_new(struct eddyi_chaos **ret_chaos)
{
	const char *text = environment();
	struct eddyi_chaos *chaos;
	uint64_t seed;
	unsigned chosen;

	*ret_chaos = NULL;
	if (!text)
		return 0;
	if (eddyi_chaos_parse(text, &seed, &chosen) < 0) {
		eddy_error(TARGET, "invalid EDDY_CHAOS=\"%s\"; %s", text, USAGE);
		return -EINVAL;
	}
	chaos = calloc(1, sizeof(*chaos));
	if (!chaos)
		return -ENOMEM;
	chaos->seed = seed;
	chaos->modes = chosen;
	snprintf(chaos->text, sizeof(chaos->text), "%s", text);
	__atomic_store_n(&eddyi_panic_under, text_of_loop, __ATOMIC_RELAXED);
	*ret_chaos = chaos;
	return 0;
}

void eddyi_chaos_free(struct eddyi_chaos *chaos)
{
	free(chaos);
}

/* splitmix64, for which all seeds are equally good. */
static uint64_t next(uint64_t *stream)
{
	uint64_t z = (*stream += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t eddyi_chaos_below(uint64_t *stream, uint64_t limit)
{
	return next(stream) % limit;
}

void eddyi_chaos_begin(struct eddy_loop *loop)
{
	struct eddyi_chaos *chaos = loop->chaos;
	uint64_t source = chaos->seed;

	source = next(&source) ^ loop->id;
	chaos->ready_random = next(&source);
	chaos->sqe_random = next(&source);
	chaos->cqe_random = next(&source);
	eddy_debug(TARGET, "loop %u, \"%s\", runs under EDDY_CHAOS=%s", loop->id, loop->name,
		   chaos->text);
}

void eddyi_chaos_ready(struct eddy_loop *loop, struct eddy_node *queued)
{
	struct eddyi_chaos *chaos = loop->chaos;
	struct eddy_node *before = &loop->ready;

	if (chaos->modes & EDDYI_CHAOS_SHUFFLE) {
		uint64_t steps = eddyi_chaos_below(&chaos->ready_random, READY_DEPTH);

		while (steps-- && before->prev != &loop->ready)
			before = before->prev;
	}
	eddy_list_append(before, queued);
}
