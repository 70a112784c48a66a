/* path.h: the path and the query of a request target, taken apart and decoded.
 *
 * A path is split at '/' first and each segment percent-decoded once, afterwards: `%2F` is a slash
 * inside its segment. One trailing slash is ignored, every other empty segment stands. The dot
 * segments of a request's path are removed once, when its head is read: filters, guards, routes and
 * handlers see the same path. A decoded segment can still hold `../` (`%2e%2e%2f`), so code that opens a
 * file by a path must itself keep beneath its folder (RESOLVE_BENEATH).
 */
#ifndef EDDYI_PATH_H
#define EDDYI_PATH_H

#include "arena.h"

struct eddyi_path {
	/* Decoded. They lie one behind the other in one run of bytes, a '/' between neighbours, so
	 * that the rest of the path from any of them on is one string. */
	const struct eddy_str *segments;
	size_t count;
	bool has_slash; /* a segment holds a decoded '/': it can't be the name of a file */
};

/* The same for a path that may have some. */
bool eddyi_path_remove_those_dots(struct eddy_str *path);

/* Remove the segments `.` and `..`, also as `%2e`, in place (RFC 3986 section 5.2.4). The path begins with
 * '/' or has no '/'; it is written to only if it has an escape or a dot behind a '/'.
 * Return: false if a `..` would have left the root; it is removed all the same. */
static inline bool eddyi_path_remove_dots(struct eddy_str *path)
{
	for (size_t i = 0; i + 1 < path->len; i++)
		if (path->ptr[i] == '/' && (path->ptr[i + 1] == '.' || path->ptr[i + 1] == '%'))
			return eddyi_path_remove_those_dots(path);
	return true;
}

/* Split and decode a path: it begins with '/', or is empty and then has no segments. The result
 * lies in the arena and, where nothing was escaped, in `path`.
 * Return: 0; -EINVAL for a bad escape, for `%00`, for `%0D%0A` (which nobody sends but who hopes that it
 * gets into a header or a log; names of files do hold the one or the other), or a path without the first
 * '/'; -ENOMEM. */
int eddyi_path_split(struct eddyi_arena *arena, struct eddy_str path, struct eddyi_path *ret_path);

/* Take the next `name=value` off the front of a query or an application/x-www-form-urlencoded
 * body, and decode both: '+' is a space, a bad escape stays as it is. Empty pieces are skipped; a
 * piece without '=' is a name with an empty value. Decoded bytes may be anything, also NUL. The
 * results lie in the arena or in `*rest`.
 * Return: 1 and a pair, 0 at the end, -ENOMEM. */
int eddyi_path_next_pair(struct eddyi_arena *arena, struct eddy_str *rest,
			 struct eddy_str *ret_name, struct eddy_str *ret_value);

#endif
