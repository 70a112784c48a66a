/* range.h: byte ranges of a representation of known size (RFC 9110 section 14). */
#ifndef EDDYI_RANGE_H
#define EDDYI_RANGE_H

#include <eddy/str.h>

/* Limit of ranges in a request. */
#define EDDYI_RANGE_MAX 200

/* Size of the longest content-range value, with its NUL. */
#define EDDYI_RANGE_TEXT_SIZE 72

/* Both positions are inclusive. */
struct eddyi_range {
	uint64_t first;
	uint64_t last;
};

enum eddyi_range_result {
	EDDYI_RANGE_NONE,          /* no range applies: 200 with everything */
	EDDYI_RANGE_SATISFIABLE,   /* 206 with `count` ranges */
	EDDYI_RANGE_UNSATISFIABLE, /* 416 */
};

struct eddyi_ranges {
	size_t count;
	/* In the order of the request, neither overlapping nor adjoining. */
	struct eddyi_range ranges[EDDYI_RANGE_MAX];
};

/* Parse a Range field for a representation of `size` bytes. `ret_ranges` is valid if the result is
 * SATISFIABLE.
 *
 * A last position past the end means the end. A range that begins past the end, or a suffix of no
 * bytes, is dropped; if all are: UNSATISFIABLE. Positions may have any number of digits.
 * Overlapping or adjoining ranges are merged, at the place of the first.
 *
 * NONE: another unit than bytes (in any case); anything malformed (RFC 9110 section 14.2 allows
 * ignoring it); more than EDDYI_RANGE_MAX ranges; ranges of more bytes in total than there are; any
 * range of an empty representation. */
enum eddyi_range_result eddyi_range_parse(struct eddy_str value, uint64_t size,
					  struct eddyi_ranges *ret_ranges);

/* Format the content-range of a 206: "bytes 0-4/11". Return: `buffer` as a string. */
struct eddy_str eddyi_range_format(struct eddyi_range range, uint64_t size,
				   char buffer[EDDYI_RANGE_TEXT_SIZE]);

/* Format the content-range of a 416, with an asterisk for the positions.
 * Return: `buffer` as a string. */
struct eddy_str eddyi_range_format_unsatisfied(uint64_t size, char buffer[EDDYI_RANGE_TEXT_SIZE]);

/* Parse the content-range of a 206 with one range, such as "bytes 0-4/11"; `*ret_size` is
 * UINT64_MAX for an asterisk. Return: 0, -EINVAL. */
int eddyi_range_parse_content(struct eddy_str value, struct eddyi_range *ret_range,
			      uint64_t *ret_size);

#endif
