/* Checks the depth of a TOML text before toml++ parses it: toml++ accepts dotted keys of any
 * length, and frees their tables by recursion. Invalid TOML is left to the parser. */
#include "toml.h"

static const char *skip_multiline(const char *at, const char *end)
{
	char quote = *at;

	for (at += 3; at < end; at++) {
		if (*at == '\\' && quote == '"' && end - at > 1)
			at++;
		else if (end - at >= 3 && at[0] == quote && at[1] == quote && at[2] == quote)
			break;
	}
	/* Up to two more quotes belong to the string. */
	for (int quotes = 0; at < end && *at == quote && quotes < 5; quotes++)
		at++;
	return at;
}

/* Find the end of the string at `at`. The end of a line also ends it: the parser fails there. */
static const char *skip_string(const char *at, const char *end)
{
	char quote = *at;

	if (end - at >= 3 && at[1] == quote && at[2] == quote)
		return skip_multiline(at, end);
	for (at++; at < end && *at != '\n'; at++) {
		if (*at == '\\' && quote == '"' && end - at > 1 && at[1] != '\n')
			at++;
		else if (*at == quote)
			return at + 1;
	}
	return at;
}

static unsigned lines_between(const char *at, const char *end)
{
	unsigned lines = 0;

	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		lines++;
		at++;
	}
	return lines;
}

unsigned eddyi_toml_deep_line(struct eddy_str text)
{
	const char *at = text.ptr, *end = text.ptr + text.len, *next;
	unsigned line = 1, nested = 0, names = 1;

	for (; at < end; at = next) {
		next = at + 1;
		switch (*at) {
		case '"':
		case '\'':
			next = skip_string(at, end);
			line += lines_between(at, next);
			break;
		case '#':
			next = memchr(at, '\n', (size_t)(end - at));
			if (!next)
				return 0;
			break;
		case '\n':
			line++;
			names = 1;
			break;
		case '=':
		case ',':
			names = 1;
			break;
		case '[':
		case '{':
			nested++;
			names = 1;
			break;
		case ']':
		case '}':
			nested -= nested > 0;
			break;
		case '.':
			names++;
			break;
		}
		if (nested > EDDYI_TOML_DEPTH_MAX || names > EDDYI_TOML_DEPTH_MAX)
			return line;
	}
	return 0;
}
