/* Accept-Encoding: BEHAVIOUR of compression, a row each. */
#include "vectors.h"

#include <criterion/new/assert.h>
#include <eddy/accept.h>
#include <errno.h>

static const enum eddy_coding all[] = { EDDY_CODING_ZSTD, EDDY_CODING_BR, EDDY_CODING_GZIP,
					EDDY_CODING_DEFLATE };

/* Return: the name of what is chosen, "406" for nothing. */
static const char *choose_of(const char *value, const enum eddy_coding *order, size_t count)
{
	struct eddy_accept accept = eddy_accept_parse(eddy_str_from(value));
	enum eddy_coding coding = EDDY_CODING_COUNT;
	int r = eddy_accept_choose(&accept, order, count, &coding);

	if (r == 0)
		return eddy_coding_name(coding);
	cr_assert(eq(int, r, -ENOENT));
	cr_assert(eq(int, coding, EDDY_CODING_COUNT), "written on failure");
	return "406";
}

static const char *choose(const char *value)
{
	return choose_of(value, all, 4);
}

Test(accept, says_nothing)
{
	cr_expect_str_eq(choose(NULL), "identity");
	cr_expect_str_eq(choose(""), "identity");
	cr_expect_str_eq(choose(" , ,"), "identity");
}

Test(accept, highest_weight)
{
	cr_expect_str_eq(choose("gzip"), "gzip");
	cr_expect_str_eq(choose("gzip;q=0.8, deflate"), "deflate");
	cr_expect_str_eq(choose("gzip;q=0.995,br;q=0.999"), "br");
	cr_expect_str_eq(choose("gzip;q=0.001"), "gzip");
	cr_expect_str_eq(choose("br;q=0, zstd;q=0, gzip;q=0.1"), "gzip");
}

Test(accept, ties_go_by_the_order)
{
	static const enum eddy_coding other[] = { EDDY_CODING_DEFLATE, EDDY_CODING_BR };

	cr_expect_str_eq(choose("gzip, deflate, br, zstd"), "zstd");
	cr_expect_str_eq(choose("deflate, gzip, br"), "br");
	cr_expect_str_eq(choose("deflate, gzip"), "gzip");
	cr_expect_str_eq(choose_of("gzip, deflate, br, zstd", other, 2), "deflate");
}

Test(accept, star)
{
	cr_expect_str_eq(choose("*"), "zstd");
	cr_expect_str_eq(choose("zstd;q=0.1, *;q=0.9"), "br");
	cr_expect_str_eq(choose("*;q=0.5, gzip"), "gzip");
	cr_expect_str_eq(choose("*, zstd;q=0, br;q=0"), "gzip");
	cr_expect_str_eq(choose("*;q=0, gzip"), "gzip");
	cr_expect_str_eq(choose("*;q=0, identity"), "identity");
}

Test(accept, identity)
{
	cr_expect_str_eq(choose("identity"), "identity");
	cr_expect_str_eq(choose("identity, gzip"), "gzip"); /* a tie: the coding */
	cr_expect_str_eq(choose("identity, gzip;q=0.9"), "identity");
	cr_expect_str_eq(choose("identity;q=0.5, gzip;q=0.4, *;q=0"), "identity");
	cr_expect_str_eq(choose("identity;q=0, deflate;q=0.1"), "deflate");
	cr_expect_str_eq(choose("identity, foo"), "identity");
}

Test(accept, other_names_of_gzip)
{
	cr_expect_str_eq(choose("x-gzip"), "gzip");
	cr_expect_str_eq(choose("X-GZip"), "gzip");
	cr_expect_str_eq(choose("GZIP;Q=1"), "gzip");
	cr_expect_str_eq(eddy_coding_name(EDDY_CODING_GZIP), "gzip");
	cr_expect_str_eq(choose("x-compress, x-br"), "406");
}

Test(accept, nothing_is_acceptable)
{
	cr_expect_str_eq(choose("identity;q=0"), "406");
	cr_expect_str_eq(choose("*;q=0"), "406");
	cr_expect_str_eq(choose("*;q=0.000, gzip;q=0"), "406");
	cr_expect_str_eq(choose("foo"), "406");
	cr_expect_str_eq(choose("foo, bar;q=0.1"), "406");
	cr_expect_str_eq(choose_of("br", &all[2], 1), "406"); /* a name that this server lacks */
	cr_expect_str_eq(choose_of("*;q=0, br", &all[2], 1), "406");
}

Test(accept, refused_and_nothing_else_said)
{
	cr_expect_str_eq(choose("gzip;q=0"), "identity");
	cr_expect_str_eq(choose("gzip;q=0.0, br;q=0"), "identity");
	cr_expect_str_eq(choose("foo;q=0"), "identity");
	cr_expect_str_eq(choose("gzip;q=0, foo"), "identity");
}

Test(accept, malformed)
{
	static const char *const bad[] = {
		"gzip;q=",      "gzip;q=2",    "gzip;q=1.001",  "gzip;q=-1",
		"gzip;q=.5",    "gzip;q=00.5", "gzip;q=0.5000", "gzip;q=a",
		"gzip;q =0.5",  "gzip;q= 0.5", "gzip;",         "gzip;x=1",
		"gzip;q=1;x=1", "gzip gzip",   "gzip;q=\"1\"",  "gzip;q=0.5 x",
		"g\xfczip",     "=",           "gzip;q=1.0000", "gzip/x",
	};
	char value[64];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_expect_str_eq(choose(bad[i]), "identity", "%s", bad[i]);
		snprintf(value, sizeof(value), "%s, deflate;q=0.5", bad[i]);
		cr_expect_str_eq(choose(value), "deflate", "%s", value);
	}
}

Test(accept, blanks_and_weights)
{
	cr_expect_str_eq(choose(" gzip\t; q=0.5 ,\tbr ;\tq=0.8\t"), "br");
	cr_expect_str_eq(choose("gzip;q=1.,br;q=0.9"), "gzip");
	cr_expect_str_eq(choose("gzip;q=1.000,br;q=0.999"), "gzip");
}

Test(accept, named_twice)
{
	cr_expect_str_eq(choose("gzip, x-gzip;q=0"), "identity");
	cr_expect_str_eq(choose("gzip;q=0, gzip"), "identity");
	cr_expect_str_eq(choose("gzip;q=0.3, gzip, br;q=0.5"), "br");
	cr_expect_str_eq(choose("*;q=0.5, *;q=0"), "406");
}

/* The lines of a header, joined as they are when they arrive. */
static void join(json_t *lines, char *value, size_t size)
{
	json_t *line;
	size_t i;

	value[0] = 0;
	json_array_foreach(lines, i, line) snprintf(value + strlen(value), size - strlen(value),
						    "%s%s", i ? ", " : "", json_string_value(line));
}

Test(accept, vectors_tower)
{
	json_t *root = vectors_load("encoding/tower_http_accept_encoding.json"), *test;
	size_t i, count = 0;
	char value[256];

	json_array_foreach(json_object_get(root, "cases"), i, test)
	{
		const char *set = json_string_value(json_object_get(test, "supported"));
		const char *want = json_string_value(json_object_get(test, "expect"));
		bool gzip_only = strcmp(set, "SupportedGzipOnly") == 0;

		join(json_object_get(test, "accept_encoding"), value, sizeof(value));
		cr_expect_str_eq(choose_of(value, gzip_only ? &all[2] : all, gzip_only ? 1 : 4),
				 want ? want : "406", "%s", value);
		count++;
	}
	cr_expect(ge(sz, count, 40));
	json_decref(root);
}

static bool coding_from(const char *name, enum eddy_coding *ret_coding)
{
	for (size_t i = 0; i < EDDY_CODING_COUNT; i++) {
		if (strcmp(name, eddy_coding_name((enum eddy_coding)i)) == 0) {
			*ret_coding = (enum eddy_coding)i;
			return true;
		}
	}
	return false;
}

/* Why a case of negotiator's can't be asked of ours; NULL when it can. */
static const char *negotiator_skip(json_t *test)
{
	json_t *available = json_object_get(test, "available"), *name;
	enum eddy_coding coding;
	bool identity = false;
	size_t i;

	if (strcmp(json_string_value(json_object_get(test, "fn")), "encoding"))
		return "lists all acceptable ones";
	if (json_object_get(test, "options"))
		return "has an order of its own";
	if (!available)
		return "knows nothing of what is there";
	json_array_foreach(available, i, name)
	{
		if (!coding_from(json_string_value(name), &coding))
			return "has a coding that we have not";
		identity |= coding == EDDY_CODING_IDENTITY;
	}
	return identity ? NULL : "is without identity, which we always have";
}

Test(accept, vectors_negotiator)
{
	json_t *root = vectors_load("encoding/negotiator_accept_encoding.json"), *test, *name;
	size_t i, j, count = 0, skipped = 0;

	json_array_foreach(json_object_get(root, "cases"), i, test)
	{
		const char *value = json_string_value(json_object_get(test, "accept_encoding"));
		const char *want = json_string_value(json_object_get(test, "result"));
		enum eddy_coding order[EDDY_CODING_COUNT];
		const char *reason = negotiator_skip(test);
		size_t have = 0;

		if (reason) {
			cr_log_info("skipped %s: it %s", value ? value : "(none)", reason);
			skipped++;
			continue;
		}
		json_array_foreach(json_object_get(test, "available"), j, name)
		{
			coding_from(json_string_value(name), &order[have]);
			have += order[have] != EDDY_CODING_IDENTITY;
		}
		/* It gives identity to who wants only what is not there; SPEC says 406. */
		if (value && strncmp(value, "gzip", 4) == 0 && !have && !strstr(value, "identity"))
			want = "406";
		cr_expect_str_eq(choose_of(value, order, have), want ? want : "406", "%s", value);
		count++;
	}
	cr_expect(ge(sz, count, 9), "%zu of %zu", count, count + skipped);
	json_decref(root);
}
