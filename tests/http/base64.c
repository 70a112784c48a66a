/* Tests of http/src/text/base64.h. */
#include "text/base64.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

/* RFC 4648 section 10, and bytes of every value. */
static const struct {
	const char *bytes, *text;
} pairs[] = {
	{ "", "" },
	{ "f", "Zg==" },
	{ "fo", "Zm8=" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg==" },
	{ "fooba", "Zm9vYmE=" },
	{ "foobar", "Zm9vYmFy" },
	{ "\xfb\xff\xbe", "+/++" },
};

Test(base64, encodes)
{
	for (size_t i = 0; i < COUNT(pairs); i++) {
		size_t len = strlen(pairs[i].bytes);
		char text[16];

		*eddyi_base64_encode(pairs[i].bytes, len, text) = 0;
		cr_expect(eq(str, text, (char *)pairs[i].text));
		cr_expect(eq(sz, strlen(text), EDDYI_BASE64_ENCODED(len)));
	}
}

static void expect_decoded(struct eddy_str text, const char *bytes)
{
	unsigned char got[16];
	ssize_t len = eddyi_base64_decode(text, got);

	cr_expect(eq(sz, len, strlen(bytes)), "%.*s", EDDY_FMT(text));
	cr_expect(le(sz, len, EDDYI_BASE64_DECODED(text.len)));
	cr_expect(eq(int, memcmp(got, bytes, strlen(bytes)), 0));
	cr_expect(eq(sz, eddyi_base64_decode(text, NULL), len));
}

Test(base64, decodes_with_and_without_padding)
{
	for (size_t i = 0; i < COUNT(pairs); i++) {
		struct eddy_str text = eddy_str_from(pairs[i].text);

		expect_decoded(text, pairs[i].bytes);
		while (text.len && text.ptr[text.len - 1] == '=')
			text.len--;
		expect_decoded(text, pairs[i].bytes);
	}
	/* Unused bits. */
	expect_decoded(EDDY_STR("Zh=="), "f");
}

Test(base64, rejects)
{
	static const char *const texts[] = { "Z",     "Zg=",      "=",    "==",     "Zm9vY",
					     "Zm9v=", "Zg===",    "Z===", "Zm-v",   "Zm_v",
					     "Zm v",  "Zg==Zm9v", "Z=g=", "Zm9\x80" };

	for (size_t i = 0; i < COUNT(texts); i++)
		cr_expect(eq(int, (int)eddyi_base64_decode(eddy_str_from(texts[i]), NULL),
			     -EBADMSG),
			  "%s", texts[i]);
}
