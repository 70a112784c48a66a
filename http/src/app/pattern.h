/* pattern.h: parses the pattern of a route.
 *
 * A pattern is written like a path: `/users/{id}/posts`, `/static/{path...}`. A segment is static
 * text (percent-decoded once, so `%7B` is a literal brace), `{name}`, which matches one non-empty
 * segment, or at the end `{name...}`, which matches the rest of the path, even if empty. A trailing
 * slash is ignored. Names consist of letters, digits, '_' and '-'. Text that is a
 * parameter in other frameworks (`:id`, `*`, `*path`, `<id>`) is rejected, unless its first byte is
 * escaped. */
#ifndef EDDYI_PATTERN_H
#define EDDYI_PATTERN_H

#include "text/path.h"

/* Limits of a pattern's parameters and segments. */
#define EDDYI_PATTERN_PARAMS_MAX 32
#define EDDYI_PATTERN_SEGMENTS_MAX 64

struct eddyi_pattern {
	struct eddy_str segments[EDDYI_PATTERN_SEGMENTS_MAX]; /* static text, decoded */
	bool is_param[EDDYI_PATTERN_SEGMENTS_MAX];
	size_t count;
	bool has_rest; /* ends in {name...}: the last of `names` */
	struct eddy_str names[EDDYI_PATTERN_PARAMS_MAX];
	size_t name_count;
};

/* Parse `text`, which is borrowed. Segments with escapes are stored in the arena. The caller zeroes
 * `ret_pattern`.
 * Return: 0; -EINVAL, and `*ret_reason`, static or in the arena, says why; -ENOMEM. */
int eddyi_pattern_parse(struct eddyi_arena *arena, struct eddy_str text,
			struct eddyi_pattern *ret_pattern, const char **ret_reason);

#endif
