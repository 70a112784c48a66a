/* Tests of base64url.h. */
#include "jwt/base64url.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *bytes, *text;
} rows[] = {
	{ "", "" },
	{ "f", "Zg" },
	{ "fo", "Zm8" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg" },
	{ "fooba", "Zm9vYmE" },
	{ "foobar", "Zm9vYmFy" },
	{ "\xff\xfb\xbf", "__u_" },
	{ "\xf8", "-A" },
};

/* In memory of its own, so that nobody reads or writes beside it unseen. */
static ssize_t decode(const char *text, size_t len, unsigned char **ret_bytes)
{
	char *exact = malloc(len + !len);

	memcpy(exact, text, len);
	*ret_bytes = malloc(EDDYI_BASE64URL_DECODED(len) + 1);

	ssize_t r = eddyi_base64url_decode(eddy_str(exact, len), *ret_bytes);

	free(exact);
	return r;
}

Test(base64url, goes_there_and_back)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = strlen(rows[i].bytes), encoded = strlen(rows[i].text);
		char *text = malloc(EDDYI_BASE64URL_ENCODED(len) + 1);
		unsigned char *bytes;

		cr_expect(eq(sz, EDDYI_BASE64URL_ENCODED(len), encoded));
		cr_expect(eq(sz, EDDYI_BASE64URL_DECODED(encoded), len));
		cr_assert(eq(sz, eddyi_base64url_encode(rows[i].bytes, len, text), encoded));
		cr_expect(zero(memcmp(text, rows[i].text, encoded)), "%s", rows[i].text);
		cr_assert(eq(sz, (size_t)decode(rows[i].text, encoded, &bytes), len));
		cr_expect(zero(memcmp(bytes, rows[i].bytes, len)), "%s", rows[i].text);
		free(bytes);
		free(text);
	}
}

Test(base64url, has_one_form)
{
	static const char *const wrong[] = {
		"A",    "Zg=",  "Zg==", "Zm8=",  "Zh",         "Zm9",   "Zm9vYmF", "Zm9v\n",
		" Zm9", "Zm+v", "Zm/v", "Zm9v ", "Zg\xc3\xa4", "AAAAA", "Z.g",
	};
	unsigned char *bytes;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		cr_expect(eq(int, (int)decode(wrong[i], strlen(wrong[i]), &bytes), -EBADMSG), "%s",
			  wrong[i]);
		free(bytes);
	}
	cr_expect(eq(int, (int)decode("Zm9\0", 4, &bytes), -EBADMSG));
	free(bytes);
}

Test(base64url, takes_every_character_of_its_own_alone)
{
	const char *alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	for (int c = 0; c < 256; c++) {
		char text[4] = { 'A', 'A', 'A', (char)c };
		const char *at = c ? strchr(alphabet, c) : NULL;
		unsigned char *bytes;
		ssize_t r = decode(text, 4, &bytes);

		cr_expect(eq(int, (int)r, at ? 3 : -EBADMSG), "%d", c);
		if (at)
			cr_expect(eq(int, bytes[2], (int)(at - alphabet)), "%d", c);
		free(bytes);
	}
}

Test(base64url, decodes_in_place)
{
	char text[] = "Zm9vYmFy";

	cr_assert(eq(int, (int)eddyi_base64url_decode(eddy_str_from(text), (unsigned char *)text),
		     6));
	cr_expect(zero(memcmp(text, "foobar", 6)));
}
