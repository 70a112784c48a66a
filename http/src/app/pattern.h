/* pattern.h: the pattern of a route, taken apart.
 *
 * It is written like a path: `/users/{id}/posts`, `/static/{path...}`. A segment is either static text
 * (percent-decoded once, so `%7B` is a brace that stands for itself), `{name}`, which takes any one
 * segment that is not empty, or, last of all, `{name...}`, which takes the rest of the path, none of it
 * included. A trailing slash is ignored, as in a path (path.h). Names are letters, digits, '_' and '-'.
 */
#ifndef EDDYI_PATTERN_H
#define EDDYI_PATTERN_H

#include "text/path.h"

/* Most parameters, and most segments, of a pattern. */
#define EDDYI_PATTERN_PARAMS_MAX 32
#define EDDYI_PATTERN_SEGMENTS_MAX 64

struct eddyi_pattern {
	struct eddy_str segments[EDDYI_PATTERN_SEGMENTS_MAX]; /* static text, decoded */
	bool is_param[EDDYI_PATTERN_SEGMENTS_MAX];
	size_t count;
	bool has_rest; /* {name...} behind them: the last of `names` */
	struct eddy_str names[EDDYI_PATTERN_PARAMS_MAX];
	size_t name_count;
};

/* Take `text` apart, which is borrowed; segments with escapes go to the arena. `ret_pattern` is all zero before.
 * Return: 0; -EINVAL, and `*ret_reason` says what is wrong; -ENOMEM. */
int eddyi_pattern_parse(struct eddyi_arena *arena, struct eddy_str text,
			struct eddyi_pattern *ret_pattern, const char **ret_reason);

#endif
