/* Fuzzes http/src/message/range.h: the first eight bytes are the size, the rest is the value. */
#include "message/range.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[EDDYI_RANGE_TEXT_SIZE];
	struct eddyi_ranges ranges;
	uint64_t whole;

	if (size < sizeof(whole))
		return 0;
	memcpy(&whole, data, sizeof(whole));
	if (eddyi_range_parse(eddy_str((const char *)data + 8, size - 8), whole, &ranges) !=
	    EDDYI_RANGE_SATISFIABLE)
		return 0;
	if (!ranges.count || ranges.count > EDDYI_RANGE_MAX)
		abort();
	for (size_t i = 0; i < ranges.count; i++) {
		struct eddyi_range range = ranges.ranges[i];

		if (range.first > range.last || range.last >= whole)
			abort();
		for (size_t j = 0; j < i; j++)
			if (range.first <= ranges.ranges[j].last + 1 &&
			    ranges.ranges[j].first <= range.last + 1)
				abort();
		if (eddyi_range_format(range, whole, text).len >= sizeof(text))
			abort();
	}
	return 0;
}
