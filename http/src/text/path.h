/* path.h: parses and decodes the path and the query of a request target.
 *
 * A path is split at '/', then each segment is percent-decoded once: `%2F` is a slash inside a
 * segment. One trailing slash is ignored; other empty segments are kept. Dot segments are removed
 * once, when the head is parsed, so that filters, routes and handlers see the same path. A decoded
 * segment may still contain `../` (`%2e%2e%2f`), so code that opens files by a path must stay
 * beneath its folder itself (RESOLVE_BENEATH). */
#ifndef EDDYI_PATH_H
#define EDDYI_PATH_H

#include "arena.h"

struct eddyi_path {
	/* Decoded, and contiguous with '/' between them, so that the rest of the path from any of
	 * them on is one string. */
	const struct eddy_str *segments;
	size_t count;
};

bool eddyi_path_remove_those_dots(struct eddy_str *path);

/* Remove the segments `.` and `..`, also as `%2e`, in place (RFC 3986 section 5.2.4). The path
 * begins with '/' or contains none. It is modified only if an escape or a dot follows a '/'.
 * Return: false if a `..` leads above the root; it is removed all the same. */
static inline bool eddyi_path_remove_dots(struct eddy_str *path)
{
	for (size_t i = 0; i + 1 < path->len; i++)
		if (path->ptr[i] == '/' && (path->ptr[i + 1] == '.' || path->ptr[i + 1] == '%'))
			return eddyi_path_remove_those_dots(path);
	return true;
}

/* Split and decode a path, which begins with '/', or is empty and has no segments. The result is in
 * the arena or, without escapes, in `path`.
 * Return: 0; -EINVAL for an invalid escape, `%00`, `%0D%0A` (an attempt to inject into a header or
 * log; file names may contain one of the two), or a path that does not begin with '/'; -ENOMEM. */
int eddyi_path_split(struct eddyi_arena *arena, struct eddy_str path, struct eddyi_path *ret_path);

/* Take the next `name=value` off the front of a query or an application/x-www-form-urlencoded body,
 * and decode both: '+' is a space, and an invalid escape is literal. Empty pieces are skipped; a
 * piece without '=' is a name with an empty value. Decoded bytes may be any, including NUL. Results
 * are in the arena or in `*rest`.
 * Return: 1 and a pair; 0 at the end; -ENOMEM. */
int eddyi_path_next_pair(struct eddyi_arena *arena, struct eddy_str *rest,
			 struct eddy_str *ret_name, struct eddy_str *ret_value);

#endif
