#include "range.h"

#include "text/syntax.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* Take digits off the front. A number that overflows becomes the largest, which is past any end.
 * Return: false if there is no digit. */
static bool take_number(struct eddy_str *rest, uint64_t *ret_value)
{
	uint64_t value = 0;
	size_t len = 0;

	for (; len < rest->len && rest->ptr[len] >= '0' && rest->ptr[len] <= '9'; len++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(rest->ptr[len] - '0'), &value))
			value = UINT64_MAX; /* each further digit overflows again */
	*rest = eddy_str_skip(*rest, len);
	*ret_value = value;
	return len > 0;
}

enum spec { SPEC_MALFORMED, SPEC_OUTSIDE, SPEC_INSIDE };

/* Parse one range-spec: "first-last", "first-" or "-suffix". */
static enum spec parse_spec(struct eddy_str spec, uint64_t size, struct eddyi_range *ret_range)
{
	uint64_t first, last = UINT64_MAX, suffix;

	if (eddyi_syntax_take(&spec, '-')) {
		if (!take_number(&spec, &suffix) || spec.len)
			return SPEC_MALFORMED;
		if (!suffix)
			return SPEC_OUTSIDE;
		ret_range->first = suffix < size ? size - suffix : 0;
		ret_range->last = size - 1;
		return SPEC_INSIDE;
	}
	if (!take_number(&spec, &first) || !eddyi_syntax_take(&spec, '-'))
		return SPEC_MALFORMED;
	if (spec.len && (!take_number(&spec, &last) || spec.len || last < first))
		return SPEC_MALFORMED;
	if (first >= size)
		return SPEC_OUTSIDE;
	ret_range->first = first;
	ret_range->last = last < size ? last : size - 1;
	return SPEC_INSIDE;
}

/* Merge a range with those that it overlaps or adjoins; the result touches no other. */
static void add(struct eddyi_ranges *ranges, struct eddyi_range range)
{
	size_t kept = 0, at = SIZE_MAX;

	for (size_t i = 0; i < ranges->count; i++) {
		struct eddyi_range other = ranges->ranges[i];

		if (range.first > other.last + 1 || other.first > range.last + 1) {
			ranges->ranges[kept++] = other;
			continue;
		}
		range.first = other.first < range.first ? other.first : range.first;
		range.last = other.last > range.last ? other.last : range.last;
		if (at == SIZE_MAX)
			at = kept++;
	}
	ranges->ranges[at == SIZE_MAX ? kept++ : at] = range;
	ranges->count = kept;
}

enum eddyi_range_result eddyi_range_parse(struct eddy_str value, uint64_t size,
					  struct eddyi_ranges *ret_ranges)
{
	uint64_t left = size;
	struct eddy_str unit, spec;
	size_t specs = 0;

	ret_ranges->count = 0;
	if (!size || !eddyi_syntax_take_token(&value, &unit) ||
	    !eddy_str_eq_nocase(unit, eddy_str_from("bytes")) || !eddyi_syntax_take(&value, '='))
		return EDDYI_RANGE_NONE;
	while (eddyi_syntax_take_member(&value, &spec)) {
		struct eddyi_range range;

		if (++specs > EDDYI_RANGE_MAX)
			return EDDYI_RANGE_NONE;
		switch (parse_spec(spec, size, &range)) {
		case SPEC_MALFORMED:
			return EDDYI_RANGE_NONE;
		case SPEC_OUTSIDE:
			break;
		case SPEC_INSIDE:
			if (range.last - range.first >= left)
				return EDDYI_RANGE_NONE;
			left -= range.last - range.first + 1;
			add(ret_ranges, range);
		}
	}
	if (!specs)
		return EDDYI_RANGE_NONE;
	return ret_ranges->count ? EDDYI_RANGE_SATISFIABLE : EDDYI_RANGE_UNSATISFIABLE;
}

struct eddy_str eddyi_range_format(struct eddyi_range range, uint64_t size,
				   char buffer[EDDYI_RANGE_TEXT_SIZE])
{
	int len = snprintf(buffer, EDDYI_RANGE_TEXT_SIZE, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64,
			   range.first, range.last, size);

	return eddy_str(buffer, (size_t)len);
}

struct eddy_str eddyi_range_format_unsatisfied(uint64_t size, char buffer[EDDYI_RANGE_TEXT_SIZE])
{
	int len = snprintf(buffer, EDDYI_RANGE_TEXT_SIZE, "bytes */%" PRIu64, size);

	return eddy_str(buffer, (size_t)len);
}

int eddyi_range_parse_content(struct eddy_str value, struct eddyi_range *ret_range,
			      uint64_t *ret_size)
{
	uint64_t size = UINT64_MAX;
	struct eddyi_range range;
	struct eddy_str unit;

	if (!eddyi_syntax_take_token(&value, &unit) ||
	    !eddy_str_eq_nocase(unit, EDDY_STR("bytes")) || !eddyi_syntax_take(&value, ' ') ||
	    !take_number(&value, &range.first) || !eddyi_syntax_take(&value, '-') ||
	    !take_number(&value, &range.last) || !eddyi_syntax_take(&value, '/'))
		return -EINVAL;
	if (!eddyi_syntax_take(&value, '*') &&
	    (!take_number(&value, &size) || size == UINT64_MAX || range.last >= size))
		return -EINVAL;
	if (value.len || range.first > range.last || range.last == UINT64_MAX)
		return -EINVAL;
	*ret_range = range;
	*ret_size = size;
	return 0;
}
