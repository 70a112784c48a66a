#include "log_filter.h"

#include <stdio.h>

static bool parse_level(struct eddy_str word, enum eddy_log_level *ret_level)
{
	static const char *const names[] = { "off", "error", "warn", "info", "debug", "trace" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!eddy_str_eq_nocase(word, eddy_str_from(names[i])))
			continue;
		*ret_level = (enum eddy_log_level)i;
		return true;
	}
	return false;
}

static bool is_target(struct eddy_str word)
{
	if (!word.len)
		return false;
	for (size_t i = 0; i < word.len; i++)
		if ((unsigned char)word.ptr[i] <= ' ' || word.ptr[i] == '=' || word.ptr[i] == '"')
			return false;
	return true;
}

/* Parse LEVEL or TARGET=LEVEL. */
static bool parse_part(struct eddyi_log_filter *filter, struct eddy_str part)
{
	struct eddy_str target = { "", 0 }, rest = part;
	enum eddy_log_level level;

	if (memchr(part.ptr, '=', part.len)) {
		eddy_str_split(&rest, '=', &target);
		target = eddy_str_trim(target);
		if (!is_target(target))
			return false;
	}
	if (filter->count == EDDYI_LOG_FILTER_PARTS_MAX ||
	    !parse_level(eddy_str_trim(rest), &level))
		return false;
	filter->parts[filter->count].target = target;
	filter->parts[filter->count++].level = level;
	if (level > filter->level)
		filter->level = level;
	return true;
}

static void note_bad(struct eddyi_log_filter *filter, struct eddy_str part)
{
	size_t used = strlen(filter->bad), room = sizeof(filter->bad) - used;
	int len = snprintf(filter->bad + used, room, "%s\"%.*s\"", used ? ", " : "",
			   EDDY_FMT(part.len < 80 ? part : eddy_str(part.ptr, 80)));

	if (len >= (int)room)
		filter->bad[used] = 0; /* drop it: earlier parts are enough */
}

void eddyi_log_filter_parse(struct eddyi_log_filter *filter, const char *text)
{
	struct eddy_str rest, part;
	size_t len = text ? strlen(text) : 0;

	filter->count = 0;
	filter->level = EDDY_LOG_OFF;
	filter->bad[0] = 0;
	if (len >= sizeof(filter->text)) {
		snprintf(filter->bad, sizeof(filter->bad), "a text of %zu bytes", len);
		len = 0;
	}
	if (len)
		memcpy(filter->text, text, len);
	rest = eddy_str(filter->text, len);
	while (eddy_str_split(&rest, ',', &part)) {
		part = eddy_str_trim(part);
		if (part.len && !parse_part(filter, part))
			note_bad(filter, part);
	}
	if (!filter->count)
		parse_part(filter, eddy_str_from("info"));
}

/* "eddy" covers "eddy" and "eddy::app", but not "eddying". */
static bool covers(struct eddy_str part, struct eddy_str target)
{
	if (!part.len)
		return true;
	if (!eddy_str_starts(target, part))
		return false;
	target = eddy_str_skip(target, part.len);
	return !target.len || eddy_str_starts(target, EDDY_STR("::"));
}

bool eddyi_log_filter_lets(const struct eddyi_log_filter *filter, enum eddy_log_level level,
			   const char *target)
{
	struct eddy_str name = eddy_str_from(target);
	enum eddy_log_level limit = EDDY_LOG_OFF;
	size_t longest = 0;

	if (level > filter->level)
		return false;
	/* The longest match wins; the last among equals. */
	for (size_t i = 0; i < filter->count; i++) {
		struct eddy_str part = filter->parts[i].target;

		if (part.len >= longest && covers(part, name)) {
			longest = part.len;
			limit = filter->parts[i].level;
		}
	}
	return level <= limit;
}
