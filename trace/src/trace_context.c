#include "trace_context.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/text.h>
#include <errno.h>
#include <stdatomic.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* Numbers that a thread takes at a time. */
#define BLOCK 1024

/* ---- unique numbers ---- */

/* Mix all bits, bijectively (splitmix64). */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* Draw a random starting point. Early at boot, without random numbers, use time and pid. */
static uint64_t draw(void)
{
	uint64_t seed;

	if (eddyi_random(&seed, sizeof(seed), GRND_NONBLOCK) == 0)
		return seed;
	return mix(eddyi_clock(CLOCK_REALTIME)) ^ mix((uint64_t)eddyi_getpid_now());
}

static uint64_t seed;

static void reseed(void)
{
	seed = draw();
}

static void seed_once(void)
{
	reseed();
	/* A forked child must not repeat the numbers. */
	pthread_atfork(NULL, NULL, reseed);
}

uint64_t eddyi_trace_unique(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static atomic_uint_least64_t blocks;
	static _Thread_local uint64_t next, end;

	pthread_once(&once, seed_once);
	if (next == end) {
		next = atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed) * BLOCK;
		end = next + BLOCK;
	}
	return mix(seed + 0x9e3779b97f4a7c15 * next++);
}

/* ---- contexts ---- */

static void put_unique(uint8_t *bytes)
{
	uint64_t number;

	/* 0 is no id. */
	do
		number = eddyi_trace_unique();
	while (!number);
	memcpy(bytes, &number, sizeof(number));
}

void eddyi_trace_context_new(struct eddy_trace_context *ret_context)
{
	put_unique(ret_context->trace_id);
	put_unique(ret_context->trace_id + 8);
	put_unique(ret_context->span_id);
	ret_context->flags = EDDY_TRACE_SAMPLED;
}

void eddyi_trace_context_child(const struct eddy_trace_context *parent,
			       struct eddy_trace_context *ret_child)
{
	*ret_child = *parent;
	put_unique(ret_child->span_id);
}

/* Upper-case letters lack the bit that all digits and lower-case letters have. */
static int lower_digit(char c)
{
	return c & 0x20 ? eddyi_hex_digit(c) : -1;
}

/* Lower-case hexadecimal only. */
static bool read_bytes(const char *text, uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int high = lower_digit(text[2 * i]), low = lower_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool is_zero(const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i])
			return false;
	return true;
}

int eddy_trace_context_parse(struct eddy_str text, struct eddy_trace_context *ret_context)
{
	struct eddy_trace_context context;
	const char *at = text.ptr;
	uint8_t version;

	if (text.len < EDDY_TRACEPARENT_SIZE - 1 || !read_bytes(at, &version, 1) || version == 0xff)
		return -EINVAL;
	/* Later versions may add fields after another dash. */
	if (text.len > EDDY_TRACEPARENT_SIZE - 1 &&
	    (!version || at[EDDY_TRACEPARENT_SIZE - 1] != '-'))
		return -EINVAL;
	if (at[2] != '-' || at[35] != '-' || at[52] != '-' ||
	    !read_bytes(at + 3, context.trace_id, sizeof(context.trace_id)) ||
	    !read_bytes(at + 36, context.span_id, sizeof(context.span_id)) ||
	    !read_bytes(at + 53, &context.flags, 1) ||
	    is_zero(context.trace_id, sizeof(context.trace_id)) ||
	    is_zero(context.span_id, sizeof(context.span_id)))
		return -EINVAL;
	/* Other flags are undefined. */
	context.flags &= EDDY_TRACE_SAMPLED;
	*ret_context = context;
	return 0;
}

size_t eddy_trace_context_format(const struct eddy_trace_context *context,
				 char text[EDDY_TRACEPARENT_SIZE])
{
	char *at = stpcpy(text, "00-");

	at = stpcpy(eddyi_hex_format(context->trace_id, sizeof(context->trace_id), at), "-");
	at = stpcpy(eddyi_hex_format(context->span_id, sizeof(context->span_id), at), "-");
	*eddyi_hex_format(&context->flags, 1, at) = 0;
	return EDDY_TRACEPARENT_SIZE - 1;
}

/* ---- tracestate ---- */

#define STATE_MAX 512
#define STATE_MEMBERS 32
#define KEY_MAX 256
#define VALUE_MAX 256

static bool is_key_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c && strchr("_-*/", c));
}

/* simple-key, or tenant "@" system. */
static bool is_key(struct eddy_str key)
{
	bool has_at = false;

	if (!key.len || key.len > KEY_MAX || !is_key_char(key.ptr[0]) || strchr("_-*/", key.ptr[0]))
		return false;
	for (size_t i = 1; i < key.len; i++) {
		if (key.ptr[i] == '@' && !has_at && i + 1 < key.len)
			has_at = true;
		else if (!is_key_char(key.ptr[i]))
			return false;
	}
	return true;
}

static bool is_value(struct eddy_str value)
{
	if (!value.len || value.len > VALUE_MAX || value.ptr[value.len - 1] == ' ')
		return false;
	for (size_t i = 0; i < value.len; i++)
		if (value.ptr[i] < ' ' || value.ptr[i] > '~' || value.ptr[i] == ',' ||
		    value.ptr[i] == '=')
			return false;
	return true;
}

bool eddyi_tracestate_is_valid(struct eddy_str tracestate)
{
	struct eddy_str member, key;
	size_t count = 0;

	if (!tracestate.len || tracestate.len > STATE_MAX)
		return false;
	while (eddy_str_split(&tracestate, ',', &member)) {
		member = eddy_str_trim(member);
		if (!member.len)
			continue;
		if (++count > STATE_MEMBERS || !eddy_str_split(&member, '=', &key) ||
		    !is_key(key) || !is_value(member))
			return false;
	}
	return count > 0;
}
