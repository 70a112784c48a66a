/* Tests of http/src/text/reals.c. */
#include "../comma.h"
#include "text/reals.h"

#include <criterion/new/assert.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void expect_text(const char *text, const char *want)
{
	/* Without a NUL behind it: a byte too far is seen. */
	size_t len = strlen(text);
	char *exact = malloc(len ? len : 1);

	memcpy(exact, text, len);
	len = eddyi_reals_shorten(exact, len);
	cr_expect(len == strlen(want) && memcmp(exact, want, len) == 0, "%s: got %.*s, not %s",
		  text, (int)len, exact, want);
	free(exact);
}

Test(reals, are_shortened)
{
	expect_text("0.10000000000000001", "0.1");
	expect_text("[3.1400000000000001,-2.7000000000000002]", "[3.14,-2.7]");
	expect_text("{\"a\":0.33333333333333331,\"b\":1}", "{\"a\":0.3333333333333333,\"b\":1}");
	expect_text("9.9999999999999995e-08", "1e-7");
	expect_text("[9.9999999999999998e22,1.1000000000000001e300]", "[1e23,1.1e300]");
	expect_text("[10000000000000000.0]", "[1e16]");
	expect_text("123456.10000000001", "123456.1");
}

Test(reals, others_stay)
{
	static const char *const same[] = {
		"",
		"0.1",
		"[]",
		"0.30000000000000004",
		"1.7976931348623157e308",
		"12345678901234560.0",
		"[123456789012345678,-9223372036854775808]",
		"\"0.10000000000000001\"",
		"\"\\\"0.10000000000000001\"",
		"{\"0.10000000000000001\":\"\\\\\"}",
		"[true,false,null]",
		/* Not JSON: whatever it is, it is left inside its bounds. */
		"\"",
		"\"\\",
		"-",
		"000000000000000000000000000000000000000000000000.0",
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		expect_text(same[i], same[i]);
	expect_text("[\"\\\\\",0.10000000000000001]", "[\"\\\\\",0.1]");
}

Test(reals, know_no_locale)
{
	if (!switch_to_comma())
		cr_skip_test("needs localedef(1)");
	expect_text("[0.10000000000000001,9.9999999999999995e-08]", "[0.1,1e-7]");
}

/* Whatever double it is, it reads back. */
Test(reals, are_the_same)
{
	uint64_t bits = 1;
	double value;
	char text[64];
	json_t *json;
	size_t len;

	for (int i = 0; i < 100000; i++) {
		bits = bits * 6364136223846793005u + 1442695040888963407u;
		/* Some with few digits, too. */
		if (i % 2)
			value = (double)(int32_t)(bits >> 32) / 1000;
		else
			memcpy(&value, &bits, sizeof(value));
		json = json_real(value);
		if (!json)
			continue; /* an infinity, or no number */
		len = json_dumpb(json, text, sizeof(text), JSON_ENCODE_ANY);
		len = eddyi_reals_shorten(text, len);
		json_decref(json);
		text[len] = 0;
		/* An assertion that holds is a message, too: here they would be all that takes time. */
		if (strtod(text, NULL) != value || (i % 2 && len > 15))
			cr_fatal("%s is written for %.17g", text, value);
		json = json_loads(text, JSON_DECODE_ANY, NULL);
		if (!json_is_real(json))
			cr_fatal("%s is not a number", text);
		json_decref(json);
	}
}
