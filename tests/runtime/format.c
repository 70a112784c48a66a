/* Tests of the formats and patterns of eddy/member.h. */
#include <eddy/internal/member.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/runtime.h>
#include <errno.h>

static const struct {
	enum eddy_format format;
	const char *good[12], *bad[16];
} formats[] = {
	{ EDDY_FORMAT_DATE,
	  { "2026-01-31", "2024-02-29" },
	  { "", "2026-02-29", "2026-1-31", "2026-01-31T", "2026-01-311" } },
	{ EDDY_FORMAT_EMAIL,
	  { "a@b", "first.last+tag@mail.example.org", "x_'%@1.de" },
	  { "", "a", "@b", "a@", "a@b@c", "a@-b", "a@b-", "a@b..c", "a@b.", "a b@c", "a@b c",
	    "\"a\"@b", "a@[::1]", "\xc3\xa4@b", "a@.b" } },
	{ EDDY_FORMAT_URI,
	  { "http://a/b?c#d", "urn:x", "mailto:a@b", "a+b-c.1:%41" },
	  { "", "/a", "a", ":", "1a:b", "a b:c", "http://a b", "http://a/%4", "http://\xc3\xa4",
	    "+a:b", "http://a\"" } },
	{ EDDY_FORMAT_UUID,
	  { "01234567-89ab-cdef-0123-456789ABCDEF" },
	  { "", "01234567-89ab-cdef-0123-456789abcde", "01234567-89ab-cdef-0123-456789abcdeg",
	    "0123456789abcdef0123456789abcdef0123", "01234567-89ab-cdef-0123-456789abcdef0" } },
	{ EDDY_FORMAT_IPV4,
	  { "127.0.0.1", "255.255.255.255" },
	  { "", "127.0.0", "127.0.0.256", "127.0.0.1 ", "127.0.0.01", "::1" } },
	{ EDDY_FORMAT_IPV6,
	  { "::", "::1", "fe80::1", "::ffff:127.0.0.1" },
	  { "", "1", "127.0.0.1", "::1%lo", "1:2:3:4:5:6:7:8:9", "[::1]" } },
};

Test(format, syntaxes)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		enum eddy_format format = formats[i].format;

		for (size_t j = 0; formats[i].good[j]; j++)
			cr_expect(eddyi_format_accepts(format, eddy_str_from(formats[i].good[j])),
				  "%s is %s", formats[i].good[j], eddyi_format_name(format));
		for (size_t j = 0; formats[i].bad[j]; j++)
			cr_expect(eddyi_format_accepts(format, eddy_str_from(formats[i].bad[j])) ==
					  false,
				  "%s is not %s", formats[i].bad[j], eddyi_format_name(format));
	}
	/* A NUL is no end. */
	cr_expect(not(eddyi_format_accepts(EDDY_FORMAT_EMAIL, eddy_str("a\0@b", 4))));
	cr_expect(not(eddyi_format_accepts(EDDY_FORMAT_URI, eddy_str("a:\0", 3))));
	cr_expect(not(eddyi_format_accepts(EDDY_FORMAT_URI, eddy_str("a\0:b", 4))));
	cr_expect(not(eddyi_format_accepts(EDDY_FORMAT_IPV4, eddy_str("1.2.3.4\0", 8))));
}

static struct eddy_pattern slug = { .text = "^[a-z]+(-[a-z]+)*$" };

Test(format, pattern)
{
	static struct eddy_pattern wrong = { .text = "(" };

	for (int i = 0; i < 2; i++) {
		cr_expect(eq(int, eddyi_pattern_matches(&slug, EDDY_STR("a-b")), 1));
		cr_expect(eq(int, eddyi_pattern_matches(&slug, EDDY_STR("a-")), 0));
		cr_expect(eq(int, eddyi_pattern_matches(&slug, EDDY_STR("")), 0));
		/* Not beyond its end. */
		cr_expect(eq(int, eddyi_pattern_matches(&slug, eddy_str("ab-", 2)), 1));
		cr_expect(eq(int, eddyi_pattern_matches(&wrong, EDDY_STR("a")), -EDOM));
	}
}

static int match(void *arg)
{
	static struct eddy_pattern words = { .text = "^(.*,)*end$" };
	char text[8192];

	memset(text, ',', sizeof(text));
	*(int *)arg = eddyi_pattern_matches(&words, eddy_str(text, sizeof(text)));
	return 0;
}

/* regexec(3) needs more memory on the stack than a task has. */
Test(format, pattern_of_a_task)
{
	int result = -1;

	cr_assert(eq(int, eddy_run(NULL, match, &result), 0));
	cr_expect(eq(int, result, 0));
}
