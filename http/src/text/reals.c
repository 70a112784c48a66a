#include "reals.h"

#include <eddy/internal/text.h>

/* A shorter text does not have seventeen digits with a point or an exponent. */
#define LONG_MIN_LEN 18
#define LONG_MAX_LEN 31

/* Convert eddyi_f64_format()'s output to JSON: 1e+05 to 1e5, and 5 to 5.0, which marks a real. */
static void as_json(char *number)
{
	char *exponent = strchr(number, 'e'), *to, *from;

	if (!exponent) {
		if (!strchr(number, '.'))
			strcat(number, ".0");
		return;
	}
	from = to = exponent + 1;
	if (*from == '-')
		to++;
	if (*from == '-' || *from == '+')
		from++;
	while (*from == '0' && from[1])
		from++;
	memmove(to, from, strlen(from) + 1);
}

static size_t shorten(char *number, size_t len)
{
	char copy[LONG_MAX_LEN + 1], shorter[EDDYI_F64_SIZE];

	if (len < LONG_MIN_LEN || len > LONG_MAX_LEN ||
	    (!memchr(number, '.', len) && !memchr(number, 'e', len)))
		return len;
	memcpy(copy, number, len);
	copy[len] = 0;
	eddyi_f64_format(eddyi_f64_parse(copy, NULL), shorter);
	as_json(shorter);
	if (strlen(shorter) < len) {
		len = strlen(shorter);
		memcpy(number, shorter, len);
	}
	return len;
}

static bool is_of_number(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static size_t number_length(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && is_of_number(text[i]))
		i++;
	return i;
}

/* Including its quotes. */
static size_t string_length(const char *text, size_t len)
{
	size_t i = 1;

	while (i < len && text[i] != '"')
		i += text[i] == '\\' ? 2 : 1;
	return i < len ? i + 1 : len;
}

size_t eddyi_reals_shorten(char *text, size_t len)
{
	size_t to = 0, step, kept;

	for (size_t from = 0; from < len; from += step) {
		step = kept = 1;
		if (text[from] == '"') {
			step = kept = string_length(text + from, len - from);
		} else if (text[from] == '-' || (text[from] >= '0' && text[from] <= '9')) {
			step = number_length(text + from, len - from);
			kept = shorten(text + from, step);
		}
		if (to != from)
			memmove(text + to, text + from, kept);
		to += kept;
	}
	return to;
}
