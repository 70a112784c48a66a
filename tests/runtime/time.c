/* Tests of eddy/time.h. */
#include <eddy/internal/member.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>

static const struct {
	const char *text;
	int64_t ns;
	const char *formatted; /* NULL: the text */
} times[] = {
	{ "1970-01-01T00:00:00Z", 0, NULL },
	{ "2026-01-31T12:00:00Z", 1769860800000000000, NULL },
	{ "2026-01-31T12:00:00.5Z", 1769860800500000000, "2026-01-31T12:00:00.500Z" },
	{ "2026-01-31T12:00:00.000001Z", 1769860800000001000, NULL },
	{ "2026-01-31T12:00:00.123456789Z", 1769860800123456789, NULL },
	{ "2026-01-31T12:00:00.1234567899Z", 1769860800123456789,
	  "2026-01-31T12:00:00.123456789Z" },
	{ "2026-01-31 14:00:00+02:00", 1769860800000000000, "2026-01-31T12:00:00Z" },
	{ "2026-01-31t11:30:00-00:30", 1769860800000000000, "2026-01-31T12:00:00Z" },
	{ "2026-01-31 13:00:00+01", 1769860800000000000, "2026-01-31T12:00:00Z" },
	{ "2024-02-29T23:59:60z", 1709251200000000000, "2024-03-01T00:00:00Z" },
	{ "1969-12-31T23:59:59.9Z", -100000000, "1969-12-31T23:59:59.900Z" },
	{ "1678-01-01T00:00:00Z", -9214560000000000000, NULL },
	{ "2262-04-11T23:47:16.854775807Z", INT64_MAX, NULL },
};

Test(time, text_of_it)
{
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		char text[EDDY_TIME_SIZE];
		struct eddy_time time;

		cr_assert(eq(int, eddy_to_parse(EDDY_TO(&time), eddy_str_from(times[i].text)), 0),
			  "%s", times[i].text);
		cr_expect(eq(i64, time.ns, times[i].ns), "%s", times[i].text);
		cr_expect(eq(sz, eddy_time_format(time, text), strlen(text)));
		cr_expect_str_eq(text, times[i].formatted ? times[i].formatted : times[i].text);
	}
}

Test(time, malformed)
{
	static const char *const bad[] = {
		"",
		"2026-01-31",
		"2026-01-31T12:00:00",
		"2026-01-31T12:00:00ZZ",
		"2026-01-31T12:00Z",
		"2026-01-31T24:00:00Z",
		"2026-01-31T12:60:00Z",
		"2026-01-31T12:00:61Z",
		"2026-01-31T12:00:00.Z",
		"2026-01-31T12:00:00+24:00",
		"2026-01-31T12:00:00+01:60",
		"2026-01-31T12:00:00+1",
		"2026-01-31T12:00:00+01:",
		"2026-13-01T12:00:00Z",
		"2026-00-01T12:00:00Z",
		"2026-02-29T12:00:00Z",
		"1900-02-29T12:00:00Z",
		"2026-01-32T12:00:00Z",
		"2026-01-00T12:00:00Z",
		"26-01-31T12:00:00Z",
		"-2026-01-31T12:00:00Z",
		" 2026-01-31T12:00:00Z",
	};
	struct eddy_time time;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_expect(eq(int, eddyi_time_parse(eddy_str_from(bad[i]), &time), -EINVAL), "%s",
			  bad[i]);
	cr_expect(eq(int, eddyi_time_parse(EDDY_STR("2262-04-11T23:47:16.854775808Z"), &time),
		     -ERANGE));
	cr_expect(eq(int, eddyi_time_parse(EDDY_STR("0001-01-01T00:00:00Z"), &time), -ERANGE));
}

Test(time, now)
{
	struct eddy_time before = eddy_time_now(), after = eddy_time_now();

	cr_expect(before.ns > 1700000000000000000 && after.ns >= before.ns);
}
