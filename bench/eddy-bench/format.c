#include "format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_SHOWN 40
#define COUNTABLE_MAX 1e15 /* beyond it nobody reads digits */

/* With commas between thousands, and as many decimals. */
static const char *grouped(char text[FORMAT_SIZE], double value, int decimals)
{
	char plain[FORMAT_SIZE], *end = text;
	int len, whole, first;

	if (fabs(value) >= COUNTABLE_MAX) {
		snprintf(text, FORMAT_SIZE, "%.3g", value);
		return text;
	}
	len = snprintf(plain, sizeof(plain), "%.*f", decimals, value);
	whole = decimals ? len - decimals - 1 : len;
	first = plain[0] == '-';
	for (int i = 0; i < len; i++) {
		if (i > first && i < whole && (whole - i) % 3 == 0)
			*end++ = ',';
		*end++ = plain[i];
	}
	*end = '\0';
	return text;
}

/* Three digits that mean something, and whole numbers from 100 on. */
static int decimals_of(double value)
{
	value = fabs(value);
	if (value >= 99.95)
		return 0;
	if (value >= 9.995)
		return 1;
	if (value >= 0.9995 || value == 0)
		return 2;
	return value >= 0.01 ? 3 : 4;
}

static const char *three_digits(char text[FORMAT_SIZE], double value)
{
	return grouped(text, value, decimals_of(value));
}

static const char *with_unit(char text[FORMAT_SIZE], double value, const char *unit)
{
	size_t len;

	three_digits(text, value);
	len = strlen(text);
	snprintf(text + len, FORMAT_SIZE - len, "%s", unit);
	return text;
}

const char *format_bytes(char text[FORMAT_SIZE], double bytes)
{
	static const char *const units[] = { " B", " KiB", " MiB", " GiB", " TiB" };
	size_t unit = 0;
	size_t len;

	while (bytes >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1024;
		unit++;
	}
	grouped(text, bytes, bytes == floor(bytes) || !unit ? 0 : bytes < 9.95 ? 2 : 1);
	len = strlen(text);
	snprintf(text + len, FORMAT_SIZE - len, "%s", units[unit]);
	return text;
}

static const char *format_microseconds(char text[FORMAT_SIZE], double us)
{
	if (us < 999.5)
		return with_unit(text, us, " µs");
	if (us < 999500)
		return with_unit(text, us / 1e3, " ms");
	return with_unit(text, us / 1e6, " s");
}

const char *unit_title(enum unit unit)
{
	switch (unit) {
	case UNIT_GB_PER_SECOND:
		return "GB/s";
	case UNIT_REQUESTS_PER_SECOND:
		return "requests/s";
	case UNIT_SECONDS_PER_GIB:
		return "s/GiB";
	case UNIT_MICROSECONDS:
		return "µs";
	case UNIT_PER_GIB:
		return "for each GiB";
	case UNIT_PER_REQUEST:
		return "for each request";
	case UNIT_BYTES:
		return "bytes";
	default:
		return "";
	}
}

const char *format_value(char text[FORMAT_SIZE], enum unit unit, double value)
{
	if (!isfinite(value))
		return strcpy(text, "–");
	switch (unit) {
	case UNIT_GB_PER_SECOND:
		return with_unit(text, value, " GB/s");
	case UNIT_REQUESTS_PER_SECOND:
		return with_unit(text, value, "/s");
	case UNIT_SECONDS_PER_GIB:
		return with_unit(text, value, " s/GiB");
	case UNIT_MICROSECONDS:
		return format_microseconds(text, value);
	case UNIT_BYTES:
		return format_bytes(text, value);
	case UNIT_SHARE:
		snprintf(text, FORMAT_SIZE, "%.0f %%", 100 * value);
		return text;
	case UNIT_COUNT:
		return grouped(text, value, value == floor(value) ? 0 : 1);
	default:
		return three_digits(text, value);
	}
}

const char *format_ratio(char text[FORMAT_SIZE], double ratio)
{
	if (!isfinite(ratio))
		return strcpy(text, "–");
	/* Two decimals: more than rounds can tell. */
	return grouped(text, ratio,
		       ratio >= 99.95 ? 0 :
		       ratio >= 9.995 ? 1 :
		       ratio >= 0.01  ? 2 :
					4);
}

const char *format_against(char text[FORMAT_SIZE], const struct figure *figure,
			   const struct cell *cell, double value)
{
	size_t len;

	if (figure->is_difference)
		return format_value(text, figure_unit(figure, cell), value);
	format_ratio(text, value);
	len = strlen(text);
	if (isfinite(value))
		snprintf(text + len, FORMAT_SIZE - len, " ×");
	return text;
}

const char *format_interval(char text[FORMAT_LINE_SIZE], const struct figure *figure,
			    const struct cell *cell, bool is_against,
			    const struct estimate *estimate)
{
	enum unit unit = figure_unit(figure, cell);
	char low[FORMAT_SIZE], high[FORMAT_SIZE];

	if (!isfinite(estimate->low))
		return strcpy(text, "–");
	if (is_against && !figure->is_difference) {
		format_ratio(low, estimate->low);
		format_ratio(high, estimate->high);
	} else {
		format_value(low, unit, estimate->low);
		format_value(high, unit, estimate->high);
	}
	snprintf(text, FORMAT_LINE_SIZE, "%s–%s", low, high);
	return text;
}

size_t format_prefix(const char *text, size_t count)
{
	size_t len = 0;

	while (text[len] && count--)
		do {
			len++;
		} while (((unsigned char)text[len] & 0xc0) == 0x80);
	return len;
}

size_t format_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

const char *format_cut(char text[FORMAT_LINE_SIZE], const char *whole, size_t count)
{
	size_t len = format_prefix(whole, count);

	if (whole[len])
		len = format_prefix(whole, count - 1);
	snprintf(text, FORMAT_LINE_SIZE, "%.*s%s", (int)len, whole, whole[len] ? "…" : "");
	return text;
}

/* One limit, behind what stands there already: "≥ 1.05 × nginx", "≤ 1.2 KiB", "≤ 0 more than alone". */
static size_t print_limit(char text[FORMAT_LINE_SIZE], size_t used, const struct cell *cell,
			  const struct goal *goal, const char *sign, double limit)
{
	const struct figure *figure = figure_find(goal->figure);
	char value[FORMAT_SIZE], name[FORMAT_LINE_SIZE];

	if (isnan(limit))
		return used;
	if (figure && (!goal->against || figure->is_difference))
		format_value(value, figure_unit(figure, cell), limit);
	else
		format_ratio(value, limit);
	used += snprintf(text + used, FORMAT_LINE_SIZE - used, " %s %s", sign, value);
	if (goal->against)
		used += snprintf(text + used, FORMAT_LINE_SIZE - used, "%s%s",
				 figure && figure->is_difference ? " more than " : " × ",
				 format_cut(name, goal->against, NAME_MAX_SHOWN));
	return used;
}

const char *format_goal(char text[FORMAT_LINE_SIZE], const struct cell *cell,
			const struct goal *goal)
{
	const struct figure *figure = figure_find(goal->figure);
	char name[FORMAT_LINE_SIZE], value[FORMAT_SIZE];
	size_t used;

	used = snprintf(text, FORMAT_LINE_SIZE, "%s",
			figure ? figure->title : format_cut(name, goal->figure, NAME_MAX_SHOWN));
	used = print_limit(text, used, cell, goal, "≥", goal->at_least);
	used = print_limit(text, used, cell, goal, "≤", goal->at_most);
	if (isnan(goal->aim))
		return text;
	if (figure && (!goal->against || figure->is_difference))
		format_value(value, figure_unit(figure, cell), goal->aim);
	else
		format_ratio(value, goal->aim);
	snprintf(text + used, FORMAT_LINE_SIZE - used, ", aim %s", value);
	return text;
}
