#include "date.h"

#include <errno.h>

#define DAY_SECONDS INT64_C(86400)
#define YEAR_0 (-INT64_C(719528) * DAY_SECONDS)        /* 1 January 0000, 00:00:00 */
#define YEAR_9999 (INT64_C(2932897) * DAY_SECONDS - 1) /* 31 December 9999, 23:59:59 */

static const char day_names[] = "SunMonTueWedThuFriSat";
static const char month_names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
static const char *const long_day_names[] = {
	"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
};

struct date {
	int year, month, day; /* month from 1 to 12 */
	int hour, minute, second;
};

/* Get the days since 1970 of a Gregorian date. Years begin in March, so that the leap day is the
 * last, in eras of 400 years with 146097 days. */
static int64_t days_from_date(int64_t year, int month, int day)
{
	int64_t era, year_of_era, day_of_year;

	year -= month <= 2;
	era = (year >= 0 ? year : year - 399) / 400;
	year_of_era = year - era * 400;
	day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
	       day_of_year - 719468;
}

/* The inverse. */
static void date_from_days(int64_t days, struct date *ret_date)
{
	int64_t era, day_of_era, year_of_era, day_of_year, month;

	days += 719468;
	era = (days >= 0 ? days : days - 146096) / 146097;
	day_of_era = days - era * 146097;
	year_of_era =
		(day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	month = (5 * day_of_year + 2) / 153;
	ret_date->day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
	ret_date->month = (int)(month < 10 ? month + 3 : month - 9);
	ret_date->year = (int)(year_of_era + era * 400 + (ret_date->month <= 2));
}

static char *put_2(char *at, int value)
{
	at[0] = (char)('0' + value / 10);
	at[1] = (char)('0' + value % 10);
	return at + 2;
}

struct eddy_str eddyi_date_format(time_t when, char buffer[EDDYI_DATE_LEN + 1])
{
	int64_t seconds = when < YEAR_0 ? YEAR_0 : when > YEAR_9999 ? YEAR_9999 : when;
	int64_t days = (seconds - YEAR_0) / DAY_SECONDS; /* since year 0, not negative */
	int of_day = (int)((seconds - YEAR_0) % DAY_SECONDS);
	struct date date;
	char *at = buffer;

	date_from_days(days + YEAR_0 / DAY_SECONDS, &date);
	at = mempcpy(at, day_names + 3 * ((days + 6) % 7), 3); /* year 0 began on a Saturday */
	at = mempcpy(at, ", ", 2);
	at = put_2(at, date.day);
	*at++ = ' ';
	at = mempcpy(at, month_names + 3 * (date.month - 1), 3);
	*at++ = ' ';
	at = put_2(put_2(at, date.year / 100), date.year % 100);
	*at++ = ' ';
	at = put_2(at, of_day / 3600);
	*at++ = ':';
	at = put_2(at, of_day / 60 % 60);
	*at++ = ':';
	at = put_2(at, of_day % 60);
	memcpy(at, " GMT", 5);
	return eddy_str(buffer, EDDYI_DATE_LEN);
}

static bool take_text(struct eddy_str *rest, const char *text)
{
	struct eddy_str want = eddy_str_from(text);

	if (!eddy_str_starts(*rest, want))
		return false;
	*rest = eddy_str_skip(*rest, want.len);
	return true;
}

static bool take_number(struct eddy_str *rest, size_t digits, int *ret_value)
{
	int value = 0;

	if (rest->len < digits)
		return false;
	for (size_t i = 0; i < digits; i++) {
		if (rest->ptr[i] < '0' || rest->ptr[i] > '9')
			return false;
		value = 10 * value + (rest->ptr[i] - '0');
	}
	*rest = eddy_str_skip(*rest, digits);
	*ret_value = value;
	return true;
}

/* Take one of the concatenated three-letter names. Return: its index, or -1. */
static int take_name(struct eddy_str *rest, const char *names)
{
	if (rest->len < 3)
		return -1;
	for (int i = 0; names[3 * i]; i++) {
		if (memcmp(rest->ptr, names + 3 * i, 3) == 0) {
			*rest = eddy_str_skip(*rest, 3);
			return i;
		}
	}
	return -1;
}

static bool take_month(struct eddy_str *rest, struct date *date)
{
	date->month = take_name(rest, month_names) + 1;
	return date->month > 0;
}

static bool take_time(struct eddy_str *rest, struct date *date)
{
	return take_number(rest, 2, &date->hour) && take_text(rest, ":") &&
	       take_number(rest, 2, &date->minute) && take_text(rest, ":") &&
	       take_number(rest, 2, &date->second);
}

/* ", 06 Nov 1994 08:49:37 GMT" */
static bool take_fixdate(struct eddy_str *rest, struct date *date)
{
	return take_text(rest, ", ") && take_number(rest, 2, &date->day) && take_text(rest, " ") &&
	       take_month(rest, date) && take_text(rest, " ") &&
	       take_number(rest, 4, &date->year) && take_text(rest, " ") && take_time(rest, date) &&
	       take_text(rest, " GMT");
}

/* ", 06-Nov-94 08:49:37 GMT" */
static bool take_rfc850(struct eddy_str *rest, struct date *date)
{
	return take_text(rest, ", ") && take_number(rest, 2, &date->day) && take_text(rest, "-") &&
	       take_month(rest, date) && take_text(rest, "-") &&
	       take_number(rest, 2, &date->year) && take_text(rest, " ") && take_time(rest, date) &&
	       take_text(rest, " GMT");
}

/* " Nov  6 08:49:37 1994" */
static bool take_asctime(struct eddy_str *rest, struct date *date)
{
	return take_text(rest, " ") && take_month(rest, date) && take_text(rest, " ") &&
	       (take_text(rest, " ") ? take_number(rest, 1, &date->day) :
				       take_number(rest, 2, &date->day)) &&
	       take_text(rest, " ") && take_time(rest, date) && take_text(rest, " ") &&
	       take_number(rest, 4, &date->year);
}

static bool is_valid(const struct date *date)
{
	static const char month_days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = date->year % 4 == 0 && (date->year % 100 != 0 || date->year % 400 == 0);
	int days = month_days[date->month - 1] + (date->month == 2 && leap);

	return date->day >= 1 && date->day <= days && date->hour < 24 && date->minute < 60 &&
	       date->second <= 60;
}

static time_t to_time(const struct date *date)
{
	return days_from_date(date->year, date->month, date->day) * DAY_SECONDS +
	       date->hour * 3600 + date->minute * 60 + date->second;
}

/* Set the century of a two-digit year: the latest that is not more than 50 years after `now`. */
static void set_century(struct date *date, time_t now)
{
	struct date limit;

	date_from_days((now < YEAR_0    ? YEAR_0 :
			now > YEAR_9999 ? YEAR_9999 :
					  now) /
			       DAY_SECONDS,
		       &limit);
	limit.year += 50;
	date->year += limit.year / 100 * 100;
	limit.hour = limit.minute = limit.second = 0;
	if (to_time(date) > to_time(&limit) + now % DAY_SECONDS)
		date->year -= 100;
}

int eddyi_date_parse(struct eddy_str text, time_t now, time_t *ret_when)
{
	struct date date = { 0 };
	bool taken = false;

	for (int i = 0; i < 7 && !taken; i++) {
		struct eddy_str rest = text;

		if (!take_text(&rest, long_day_names[i]))
			continue;
		if (!take_rfc850(&rest, &date) || rest.len)
			return -EINVAL;
		set_century(&date, now);
		taken = true;
	}
	if (!taken) {
		if (take_name(&text, day_names) < 0)
			return -EINVAL;
		if (text.len && text.ptr[0] == ',')
			taken = take_fixdate(&text, &date);
		else
			taken = take_asctime(&text, &date);
		if (!taken || text.len)
			return -EINVAL;
	}
	if (!is_valid(&date))
		return -EINVAL;
	*ret_when = to_time(&date);
	return 0;
}
