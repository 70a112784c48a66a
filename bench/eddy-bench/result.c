#include "result.h"
#include "must.h"

#include <eddy/internal/text.h>
#include <eddy/str.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All that a result has stands in a chain of such blocks. */
struct memory {
	struct memory *next;
	_Alignas(max_align_t) char bytes[];
};

static void *take(struct result *result, size_t size)
{
	struct memory *memory = must(calloc(1, sizeof(*memory) + size));

	memory->next = result->memory;
	result->memory = memory;
	return memory->bytes;
}

/* Make room for one more behind `count` of `size` bytes. It grows when the count is a power of two; what was there
 * before stays in the chain. */
static void *grow(struct result *result, void *array, size_t count, size_t size)
{
	void *grown;

	if (count & (count - 1))
		return array;
	grown = take(result, (count ? 2 * count : 1) * size);
	if (count)
		memcpy(grown, array, count * size);
	return grown;
}

#define APPEND(result, array, count, item)                                                         \
	do {                                                                                       \
		(array) = grow(result, array, count, sizeof(*(array)));                            \
		(array)[(count)++] = (item);                                                       \
	} while (0)

/* An object that is nothing but doubles. */
static void unknown(void *numbers, size_t size)
{
	double *number = numbers;

	for (size_t i = 0; i < size / sizeof(*number); i++)
		number[i] = NAN;
}

struct result *result_new(void)
{
	struct result *result = must(calloc(1, sizeof(*result)));

	result->machine.processors = result->machine.memory_bytes = NAN;
	result->machine.load_before = NAN;
	unknown(&result->settings, sizeof(result->settings));
	return result;
}

void result_free(struct result *result)
{
	if (!result)
		return;
	for (struct memory *memory = result->memory, *next; memory; memory = next) {
		next = memory->next;
		free(memory);
	}
	free(result);
}

static unsigned code_point(const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned code = len == 1 ? p[0] : p[0] & (0xff >> (len + 1));

	for (size_t i = 1; i < len; i++)
		code = code << 6 | (p[i] & 0x3f);
	return code;
}

/* Controls, marks of direction, separators of lines, and what is no character. */
static bool is_unfit(unsigned code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0xfeff || (code & 0xfffe) == 0xfffe ||
	       (code >= 0xfdd0 && code <= 0xfdef);
}

const char *result_text(struct result *result, const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd", ellipsis[] = "…";
	struct eddy_str rest = eddy_str_from(text);
	char clean[RESULT_TEXT_MAX + 1];
	size_t used = 0;

	if (!text)
		return NULL;
	while (rest.len) {
		size_t len = eddyi_str_utf8_len(rest);
		struct eddy_str piece = eddy_str(rest.ptr, len);

		if (!len || is_unfit(code_point(rest.ptr, len)))
			piece = strchr("\t\n\r", rest.ptr[0]) ? EDDY_STR(" ") :
								eddy_str_from(replacement);
		if (used + piece.len + strlen(ellipsis) > RESULT_TEXT_MAX) {
			piece = eddy_str_from(ellipsis);
			rest.len = 0;
		}
		memcpy(clean + used, piece.ptr, piece.len);
		used += piece.len;
		rest = eddy_str_skip(rest, len ? len : 1);
	}
	clean[used] = '\0';
	return memcpy(take(result, used + 1), clean, used + 1);
}

struct cell *result_add_cell(struct result *result, const char *name)
{
	struct cell *cell = take(result, sizeof(*cell));

	cell->name = cell->title = result_text(result, name);
	cell->size = cell->connections = cell->depth = cell->rate = NAN;
	APPEND(result, result->cells, result->cell_count, cell);
	return cell;
}

struct target *cell_add_target(struct result *result, struct cell *cell, const char *name)
{
	struct target *target = take(result, sizeof(*target));

	target->name = result_text(result, name);
	target->server.pid = target->connections = NAN;
	APPEND(result, cell->targets, cell->target_count, target);
	return target;
}

struct sample *target_add_sample(struct result *result, struct target *target)
{
	struct sample *sample = take(result, sizeof(*sample));

	unknown(sample, sizeof(*sample));
	APPEND(result, target->samples, target->sample_count, sample);
	return sample;
}

struct goal *cell_add_goal(struct result *result, struct cell *cell)
{
	struct goal *goal = take(result, sizeof(*goal));

	goal->at_least = goal->at_most = goal->aim = NAN;
	APPEND(result, cell->goals, cell->goal_count, goal);
	return goal;
}

void cell_add_remark(struct result *result, struct cell *cell, const char *text)
{
	const char *remark = result_text(result, text);

	APPEND(result, cell->remarks, cell->remark_count, remark);
}

void result_add_remark(struct result *result, const char *text)
{
	const char *remark = result_text(result, text);

	APPEND(result, result->remarks, result->remark_count, remark);
}

void buckets_add(struct result *result, struct buckets *buckets, double us, double count)
{
	struct bucket bucket = { us, count };

	APPEND(result, buckets->of, buckets->count, bucket);
}

struct cell *result_cell(const struct result *result, const char *name)
{
	for (size_t i = 0; i < result->cell_count; i++)
		if (strcmp(result->cells[i]->name, name) == 0)
			return result->cells[i];
	return NULL;
}

struct target *cell_target(const struct cell *cell, const char *name)
{
	for (size_t i = 0; i < cell->target_count; i++)
		if (strcmp(cell->targets[i]->name, name) == 0)
			return cell->targets[i];
	return NULL;
}
