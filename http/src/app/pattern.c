#include "pattern.h"

#include <errno.h>

static bool is_name(struct eddy_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (!(c >= '0' && c <= '9') && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
		    c != '_' && c != '-')
			return false;
	}
	return text.len > 0;
}

/* Find a parameter as other frameworks write it: `:id`, `*`, `*path`, `<id>`, `[id]` or `(.*)`. Taken
 * as text, it would not match what its author means.
 * Return: how to write it here; NULL for other text. */
static const char *find_foreign(struct eddyi_arena *arena, struct eddy_str raw)
{
	bool is_rest = raw.len && raw.ptr[0] == '*';
	struct eddy_str name = eddy_str_skip(raw, raw.len > 0), type;
	char last = raw.len ? raw.ptr[raw.len - 1] : 0;
	const char *text;
	bool is_bracketed;

	if (!raw.len)
		return NULL;
	is_bracketed = (raw.ptr[0] == '<' && last == '>') || (raw.ptr[0] == '[' && last == ']') ||
		       (raw.ptr[0] == '(' && last == ')');
	if (raw.ptr[0] != ':' && !is_rest && !is_bracketed)
		return NULL;
	if (is_bracketed) {
		/* A type may come first: `<int:id>`. */
		name.len -= 1;
		if (memchr(name.ptr, ':', name.len))
			eddy_str_split(&name, ':', &type);
	}
	if (!is_name(name))
		name = is_rest ? EDDY_STR("path") : EDDY_STR("name");
	if (is_rest)
		text = eddyi_arena_printf(
			       arena,
			       "write the rest of a path as {%.*s...}, at the end, instead of "
			       "%.*s; a literal * is %%2A",
			       EDDY_FMT(name), EDDY_FMT(raw))
			       .ptr;
	else
		text = eddyi_arena_printf(
			       arena,
			       "write a parameter as {%.*s} instead of %.*s; a literal %c is "
			       "%%%02X",
			       EDDY_FMT(name), EDDY_FMT(raw), raw.ptr[0], (unsigned)raw.ptr[0])
			       .ptr;
	return text ? text : "out of memory";
}

/* Add the name in `{…}`. Return: what is wrong with it; NULL: nothing. */
static const char *add_name(struct eddyi_pattern *pattern, struct eddy_str name)
{
	if (!name.len)
		return "a parameter has no name";
	if (!is_name(name))
		return memchr(name.ptr, ':', name.len) ?
			       "a parameter has no type here: write {name}, and read it into a "
			       "variable of the type" :
			       "a parameter's name may only have letters, digits, _ and -";
	for (size_t i = 0; i < pattern->name_count; i++)
		if (eddy_str_eq(pattern->names[i], name))
			return "two parameters have the same name";
	if (pattern->name_count == EDDYI_PATTERN_PARAMS_MAX)
		return "more than 32 parameters";
	pattern->names[pattern->name_count++] = name;
	return NULL;
}

/* Add one segment. Return: what is wrong with it; NULL: nothing. */
static const char *add_segment(struct eddyi_arena *arena, struct eddyi_pattern *pattern,
			       struct eddy_str raw, struct eddy_str decoded)
{
	const char *foreign = find_foreign(arena, raw);
	struct eddy_str inner;

	if (pattern->has_rest)
		return "{name...} must be the last segment";
	if (foreign)
		return foreign;
	if (raw.len && memchr(raw.ptr, '?', raw.len))
		return "a pattern has no query: read it by eddy_req_query_into()";
	if (raw.len && memchr(raw.ptr, '#', raw.len))
		return "a pattern has no fragment, which clients never send; a literal # is %23";
	if (pattern->count == EDDYI_PATTERN_SEGMENTS_MAX)
		return "more than 64 segments";
	if (eddy_str_eq_z(decoded, ".") || eddy_str_eq_z(decoded, ".."))
		return "a pattern can't have the segments . and .., which are removed from request "
		       "paths";
	if (!raw.len || (!memchr(raw.ptr, '{', raw.len) && !memchr(raw.ptr, '}', raw.len))) {
		pattern->segments[pattern->count++] = decoded;
		return NULL;
	}
	if (raw.ptr[0] != '{' || raw.ptr[raw.len - 1] != '}' || raw.len < 2)
		return "a parameter must be a whole segment, /{name}/: check and cut off the rest "
		       "of it in the handler";
	inner = eddy_str(raw.ptr + 1, raw.len - 2);
	if (inner.len >= 3 && memcmp(inner.ptr + inner.len - 3, "...", 3) == 0) {
		inner.len -= 3;
		pattern->has_rest = true;
	} else {
		pattern->is_param[pattern->count++] = true;
	}
	return add_name(pattern, inner);
}

int eddyi_pattern_parse(struct eddyi_arena *arena, struct eddy_str text,
			struct eddyi_pattern *ret_pattern, const char **ret_reason)
{
	struct eddyi_path path;
	struct eddy_str rest, raw;
	const char *reason;
	int err;

	*ret_reason = "a pattern begins with /";
	if (!text.len || text.ptr[0] != '/')
		return -EINVAL;
	*ret_reason = "an escape is %XX with two hexadecimal digits, and not %00";
	err = eddyi_path_split(arena, text, &path);
	if (err < 0)
		return err;
	rest = eddy_str_skip(text, 1);
	for (size_t i = 0; i < path.count; i++) {
		eddy_str_split(&rest, '/', &raw);
		reason = add_segment(arena, ret_pattern, raw, path.segments[i]);
		if (reason) {
			*ret_reason = reason;
			return -EINVAL;
		}
	}
	return 0;
}
