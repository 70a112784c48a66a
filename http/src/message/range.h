/* range.h: byte ranges of a representation whose size is known (RFC 9110 section 14). */
#ifndef EDDYI_RANGE_H
#define EDDYI_RANGE_H

#include <eddy/str.h>

/* Most ranges of one request. */
#define EDDYI_RANGE_MAX 200

/* Longest content-range value, its NUL included. */
#define EDDYI_RANGE_TEXT_SIZE 72

/* Both positions are within the representation and part of the range. */
struct eddyi_range {
	uint64_t first;
	uint64_t last;
};

enum eddyi_range_result {
	EDDYI_RANGE_NONE,          /* no range to honour: 200 and the whole */
	EDDYI_RANGE_SATISFIABLE,   /* 206 with `count` ranges */
	EDDYI_RANGE_UNSATISFIABLE, /* 416 */
};

struct eddyi_ranges {
	size_t count;
	struct eddyi_range
		ranges[EDDYI_RANGE_MAX]; /* in the order of the request, none next to another */
};

/* Read the value of a Range field against a representation of `size` bytes. `ret_ranges` holds something
 * only if the result is SATISFIABLE.
 *
 * A last position past the end is the end; a range that begins past the end, or a suffix of no
 * bytes, is dropped, and when all are: UNSATISFIABLE. Positions of any number of digits are read.
 * Ranges that overlap or adjoin become one, which stands where the first of them stood.
 *
 * NONE: another unit than bytes (in any case), anything malformed (RFC 9110 14.2 lets a server
 * ignore all of it), more than EDDYI_RANGE_MAX ranges, ranges that together ask for more bytes than there
 * are, and any range of an empty representation, whose 200 holds all there is. */
enum eddyi_range_result eddyi_range_parse(struct eddy_str value, uint64_t size,
					  struct eddyi_ranges *ret_ranges);

/* Write the content-range of a 206 part: "bytes 0-4/11". Return: `buffer` as a string. */
struct eddy_str eddyi_range_format(struct eddyi_range range, uint64_t size,
				   char buffer[EDDYI_RANGE_TEXT_SIZE]);

/* Write the content-range of a 416: an asterisk in place of the positions. Return: `buffer` as a string. */
struct eddy_str eddyi_range_format_unsatisfied(uint64_t size, char buffer[EDDYI_RANGE_TEXT_SIZE]);

#endif
