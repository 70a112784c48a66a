#include "value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SECONDS_MAX 86400
#define BYTES_MAX ((uint64_t)1 << 44)

static bool begin_number(const char *text, double *ret_number, const char **ret_end)
{
	char *end;

	/* strtod() would take blanks, signs, "nan" and hexadecimal. */
	if (*text < '0' || *text > '9' || text[strspn(text, "0123456789.")] == 'x')
		return false;
	*ret_number = strtod(text, &end);
	*ret_end = end;
	return isfinite(*ret_number);
}

bool value_number(const char *text, double least, double most, double *ret_number)
{
	const char *end;
	double number;

	if (!begin_number(text, &number, &end) || *end || number < least || number > most)
		return false;
	*ret_number = number;
	return true;
}

bool value_seconds(const char *text, double *ret_seconds)
{
	const char *end;
	double seconds;

	if (!begin_number(text, &seconds, &end))
		return false;
	if (strcmp(end, "ms") == 0)
		seconds /= 1e3;
	else if (*end && strcmp(end, "s") != 0)
		return false;
	if (seconds > SECONDS_MAX)
		return false;
	*ret_seconds = seconds;
	return true;
}

bool value_size(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "kmg";
	unsigned long long bytes;
	const char *unit;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	bytes = strtoull(text, &end, 10);
	if (errno || bytes > BYTES_MAX)
		return false;
	unit = *end ? strchr(units, *end | 32) : NULL;
	if (unit && *unit) {
		bytes <<= 10 * (unit - units + 1);
		end++;
		if (strcasecmp(end, "ib") == 0)
			end += 2;
	}
	if (*end || bytes > BYTES_MAX)
		return false;
	*ret_bytes = bytes;
	return true;
}

bool value_count(const char *text, unsigned least, unsigned most, unsigned *ret_count)
{
	uint64_t count;

	if (!value_size(text, &count) || count < least || count > most)
		return false;
	*ret_count = (unsigned)count;
	return true;
}

size_t value_sizes(const char *text, uint64_t *ret_sizes, size_t size)
{
	char item[32];
	size_t count = 0;

	for (;; text++) {
		size_t len = strcspn(text, ",");

		if (len >= sizeof(item) || count == size)
			return 0;
		memcpy(item, text, len);
		item[len] = 0;
		if (!value_size(item, &ret_sizes[count]))
			return 0;
		for (size_t i = 0; i < count; i++)
			if (ret_sizes[i] == ret_sizes[count])
				return 0;
		count++;
		text += len;
		if (!*text)
			return count;
	}
}

size_t value_counts(const char *text, unsigned most, unsigned *ret_counts, size_t size)
{
	uint64_t counts[size];
	size_t count = value_sizes(text, counts, size);

	for (size_t i = 0; i < count; i++) {
		if (counts[i] < 1 || counts[i] > most)
			return 0;
		ret_counts[i] = (unsigned)counts[i];
	}
	return count;
}

bool value_is_header(const char *text)
{
	const char *colon = strchr(text, ':');

	if (!colon || colon == text || strcspn(text, " \t") < (size_t)(colon - text))
		return false;
	for (; *text; text++)
		if (((unsigned char)*text < ' ' && *text != '\t') || *text == 127)
			return false;
	return true;
}

bool value_is_method(const char *text)
{
	return *text && strlen(text) <= 32 &&
	       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-") ==
		       strlen(text);
}

bool value_is_digest(const char *text)
{
	return strlen(text) == 64 && strspn(text, "0123456789abcdefABCDEF") == 64;
}
