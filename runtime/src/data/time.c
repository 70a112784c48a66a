#include <eddy/time.h>

#include <eddy/internal/member.h>
#include <eddy/internal/outside.h>
#include <errno.h>
#include <stdio.h>
#include <time.h>

struct eddy_time eddy_time_now(void)
{
	return (struct eddy_time){ (int64_t)eddyi_clock(CLOCK_REALTIME) };
}

/* ---- parsing ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Take a number of so many digits, between `least` and `most`, from the front. */
static bool take_number(struct eddy_str *text, size_t digits, int least, int most, int *ret_number)
{
	int number = 0;

	if (text->len < digits)
		return false;
	for (size_t i = 0; i < digits; i++) {
		if (!is_digit(text->ptr[i]))
			return false;
		number = 10 * number + (text->ptr[i] - '0');
	}
	*text = eddy_str_skip(*text, digits);
	*ret_number = number;
	return number >= least && number <= most;
}

static bool take(struct eddy_str *text, const char *one_of)
{
	if (!text->len || !text->ptr[0] || !strchr(one_of, text->ptr[0]))
		return false;
	*text = eddy_str_skip(*text, 1);
	return true;
}

static bool take_fraction(struct eddy_str *text, int64_t *ret_ns)
{
	int64_t ns = 0, unit = (int64_t)EDDY_SECOND / 10;

	if (!take(text, "."))
		return true;
	if (!text->len || !is_digit(text->ptr[0]))
		return false;
	for (; text->len && is_digit(text->ptr[0]); *text = eddy_str_skip(*text, 1), unit /= 10)
		ns += unit * (text->ptr[0] - '0');
	*ret_ns = ns;
	return true;
}

/* Take the rest: "Z", "+02:00", "-02". */
static bool take_offset(struct eddy_str *text, int *ret_seconds)
{
	bool is_negative = text->len && text->ptr[0] == '-';
	int hours, minutes = 0;

	if (take(text, "Zz"))
		return !text->len;
	if (!take(text, "+-") || !take_number(text, 2, 0, 23, &hours))
		return false;
	if (text->len && (!take(text, ":") || !take_number(text, 2, 0, 59, &minutes)))
		return false;
	*ret_seconds = (is_negative ? -1 : 1) * (hours * 3600 + minutes * 60);
	return !text->len;
}

static int days_of(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && is_leap);
}

static bool take_date(struct eddy_str *text, struct tm *ret_tm)
{
	int year, month, day;

	if (!take_number(text, 4, 0, 9999, &year) || !take(text, "-") ||
	    !take_number(text, 2, 1, 12, &month) || !take(text, "-") ||
	    !take_number(text, 2, 1, days_of(year, month), &day))
		return false;
	*ret_tm = (struct tm){ .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day };
	return true;
}

int eddyi_time_parse(struct eddy_str text, struct eddy_time *ret_time)
{
	int64_t seconds, ns = 0;
	int offset = 0;
	struct tm tm;

	/* A leap second is the one after it. */
	if (!take_date(&text, &tm) || !take(&text, "Tt ") ||
	    !take_number(&text, 2, 0, 23, &tm.tm_hour) || !take(&text, ":") ||
	    !take_number(&text, 2, 0, 59, &tm.tm_min) || !take(&text, ":") ||
	    !take_number(&text, 2, 0, 60, &tm.tm_sec) || !take_fraction(&text, &ns) ||
	    !take_offset(&text, &offset))
		return -EINVAL;
	seconds = (int64_t)timegm(&tm) - offset;
	if (__builtin_mul_overflow(seconds, (int64_t)EDDY_SECOND, &seconds) ||
	    __builtin_add_overflow(seconds, ns, &seconds))
		return -ERANGE;
	ret_time->ns = seconds;
	return 0;
}

bool eddyi_str_is_date(struct eddy_str text)
{
	struct tm tm;

	return take_date(&text, &tm) && !text.len;
}

/* ---- formatting ---- */

size_t eddy_time_format(struct eddy_time time, char text[EDDY_TIME_SIZE])
{
	int64_t second = (int64_t)EDDY_SECOND, ns = time.ns % second;
	time_t seconds = time.ns / second;
	int digits = 9;
	struct tm tm;
	size_t len;

	if (ns < 0) {
		ns += second;
		seconds--;
	}
	gmtime_r(&seconds, &tm);
	len = strftime(text, EDDY_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	for (; digits && ns % 1000 == 0; digits -= 3)
		ns /= 1000;
	if (digits)
		len += (size_t)snprintf(text + len, EDDY_TIME_SIZE - len, ".%0*d", digits, (int)ns);
	text[len] = 'Z';
	text[len + 1] = 0;
	return len + 1;
}
