/* Which tests of a program run: those of the suites that EDDY_TEST_ONLY names, but none that EDDY_TEST_EXCEPT names
 * (suite/test, with * and ?); separated by commas. criterion.py tells what they are for. Criterion's --filter would do, but makes
 * a regular expression anew for every test that there is, which under a sanitizer takes longer than the tests.
 */
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <criterion/internal/ordered-set.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_named(const char *name, const char *patterns)
{
	char pattern[128];

	for (size_t len; *patterns; patterns += len + (patterns[len] == ',')) {
		len = strcspn(patterns, ",");
		snprintf(pattern, sizeof(pattern), "%.*s", (int)len, patterns);
		if (fnmatch(pattern, name, 0) == 0)
			return true;
	}
	return false;
}

ReportHook(PRE_ALL)(struct criterion_test_set *set)
{
	const char *only = getenv("EDDY_TEST_ONLY"), *except = getenv("EDDY_TEST_EXCEPT");

	FOREACH_SET(struct criterion_suite_set * suite, set->suites)
	{
		if (!suite->tests)
			continue;
		FOREACH_SET(struct criterion_test * test, suite->tests)
		{
			char name[128];

			snprintf(name, sizeof(name), "%s/%s", test->category, test->name);
			if ((only && *only && !is_named(test->category, only)) ||
			    (except && is_named(name, except)))
				test->data->disabled = true;
		}
	}
}
