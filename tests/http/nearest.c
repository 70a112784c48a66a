/* Tests of http/src/text/nearest.h. */
#include "text/nearest.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static const char *nearest(const char *wanted)
{
	static const char *const names[] = { "bind",    "body_max", "body_timeout_ms",
					     "workers", "quota",    "tls" };
	struct eddyi_nearest nearest = { .wanted = eddy_str_from(wanted) };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		eddyi_nearest_try(&nearest, names[i]);
	return nearest.name ? nearest.name : "";
}

Test(nearest, is_what_may_have_been_meant)
{
	static const char *const pairs[][2] = {
		{ "bnd", "bind" },
		{ "bindd", "bind" },
		{ "bond", "bind" },
		{ "bdoy_max", "body_max" },
		{ "body-max", "body_max" },
		{ "bodymax", "body_max" },
		{ "worker", "workers" },
		{ "body_timeout", "body_timeout_ms" },
		{ "body_max", "body_max" },
		{ "qouta", "quota" },
		{ "uqota", "quota" },
		{ "tsl", "tls" },
		{ "lts", "tls" },
		{ "ibnd", "bind" },
		{ "ibdn", "" },
		{ "slt", "" },
		{ "bod", "" },
		{ "BIND", "" },
		{ "", "" },
		{ "zzzzzzz", "" },
		{ "body_timeout_max", "body_timeout_ms" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		cr_expect(eq(str, (char *)nearest(pairs[i][0]), (char *)pairs[i][1]), "%s",
			  pairs[i][0]);
}

/* Names come from a file: they have no bound. */
Test(nearest, of_a_long_name_is_none)
{
	static char name[100000];

	memset(name, 'x', sizeof(name) - 1);
	cr_expect(eq(str, (char *)nearest(name), ""));
}
