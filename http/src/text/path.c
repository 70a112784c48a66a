#include "path.h"

#include "syntax.h"

#include <eddy/internal/text.h>
#include <errno.h>

/* Decode `raw` to `*at`; if that is NULL, nothing is escaped. */
static int decode_segment(struct eddy_str raw, char **at, struct eddy_str *ret_segment)
{
	ssize_t len;

	if (!*at) {
		*ret_segment = raw;
		return 0;
	}
	len = eddyi_syntax_unescape(raw, *at);
	if (len < 0)
		return -EINVAL;
	*ret_segment = eddy_str(*at, (size_t)len);
	*at += len;
	return 0;
}

static bool has_forbidden(struct eddy_str segment)
{
	for (size_t i = 0; i < segment.len; i++)
		if (!segment.ptr[i] || (segment.ptr[i] == '\n' && i && segment.ptr[i - 1] == '\r'))
			return true;
	return false;
}

int eddyi_path_split(struct eddyi_arena *arena, struct eddy_str path, struct eddyi_path *ret_path)
{
	struct eddyi_path result = { 0 };
	struct eddy_str *segments, rest, raw;
	size_t slashes = 0;
	char *at = NULL;

	if (path.len && path.ptr[0] != '/')
		return -EINVAL;
	if (path.len && path.ptr[path.len - 1] == '/')
		path.len--;
	if (!path.len) {
		*ret_path = result;
		return 0;
	}
	for (size_t i = 0; i < path.len; i++)
		slashes += path.ptr[i] == '/';
	segments = eddyi_arena_alloc(arena, slashes * sizeof(*segments));
	if (!segments)
		return -ENOMEM;
	if (memchr(path.ptr, '%', path.len)) {
		at = eddyi_arena_alloc(arena, path.len);
		if (!at)
			return -ENOMEM;
	}
	rest = eddy_str_skip(path, 1);
	while (eddy_str_split(&rest, '/', &raw)) {
		struct eddy_str *segment = &segments[result.count++];

		if (decode_segment(raw, &at, segment) < 0 || has_forbidden(*segment))
			return -EINVAL;
		if (at)
			*at++ = '/'; /* in place of the slash before the segment */
	}
	result.segments = segments;
	*ret_path = result;
	return 0;
}

/* Count the dots of a dot segment; 0 for any other segment. */
static int count_dots(struct eddy_str segment)
{
	int dots = 0;

	for (size_t i = 0; i < segment.len; i++, dots++) {
		if (segment.ptr[i] == '.')
			continue;
		if (eddyi_percent_at(segment, i) != '.')
			return 0;
		i += 2;
	}
	return dots <= 2 ? dots : 0;
}

bool eddyi_path_remove_those_dots(struct eddy_str *path)
{
	char *out = (char *)path->ptr;
	struct eddy_str rest, segment;
	bool stays = true;
	size_t len = 0;

	rest = eddy_str_skip(*path, 1);
	while (eddy_str_split(&rest, '/', &segment)) {
		int dots = count_dots(segment);

		if (dots == 2) {
			stays &= len > 0;
			while (len && out[--len] != '/')
				;
		}
		if (dots && rest.ptr)
			continue;
		/* A final dot segment means the folder itself. */
		if (dots)
			segment.len = 0;
		out[len++] = '/';
		memmove(out + len, segment.ptr, segment.len);
		len += segment.len;
	}
	path->len = len;
	return stays;
}

/* Decode a name or value. */
static int decode_form(struct eddyi_arena *arena, struct eddy_str raw, struct eddy_str *ret_text)
{
	size_t len = 0;
	char *out;

	if (!raw.len || (!memchr(raw.ptr, '%', raw.len) && !memchr(raw.ptr, '+', raw.len))) {
		*ret_text = raw;
		return 0;
	}
	out = eddyi_arena_alloc(arena, raw.len);
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < raw.len; i++) {
		int c = eddyi_percent_at(raw, i);

		if (c >= 0)
			i += 2;
		else
			c = raw.ptr[i] == '+' ? ' ' : raw.ptr[i];
		out[len++] = (char)c;
	}
	*ret_text = eddy_str(out, len);
	return 0;
}

int eddyi_path_next_pair(struct eddyi_arena *arena, struct eddy_str *rest,
			 struct eddy_str *ret_name, struct eddy_str *ret_value)
{
	struct eddy_str piece, name, value;

	do {
		if (!rest->len)
			return 0;
		eddy_str_split(rest, '&', &piece);
	} while (!piece.len);
	value = piece;
	eddy_str_split(&value, '=', &name);
	if (!value.ptr)
		value = eddy_str_skip(piece, piece.len);
	if (decode_form(arena, name, &name) < 0 || decode_form(arena, value, &value) < 0)
		return -ENOMEM;
	*ret_name = name;
	*ret_value = value;
	return 1;
}
