/* Tests of http/src/http1/chunked.h. */
#include "http1/chunked.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct result {
	int end; /* 0 when more is wanted */
	char data[64];
	size_t len;
	size_t left_over;
};

static struct result decode(struct eddy_str text, size_t piece)
{
	struct eddyi_chunked chunked = { 0 };
	struct result result = { 0 };

	while (text.len && result.end == 0) {
		struct eddy_str rest = eddy_str(text.ptr, text.len < piece ? text.len : piece);
		int r;

		text = eddy_str_skip(text, rest.len);
		while ((r = eddyi_chunked_next(&chunked, &rest)) == 1) {
			size_t n = rest.len < chunked.left ? rest.len : (size_t)chunked.left;

			cr_assert(eddyi_chunked_has_data(&chunked));
			memcpy(result.data + result.len, rest.ptr, n);
			result.len += n;
			chunked.left -= n;
			rest = eddy_str_skip(rest, n);
		}
		result.end = r;
		result.left_over = rest.len + text.len;
	}
	return result;
}

Test(chunked, decodes)
{
	static const struct {
		const char *text;
		const char *data;
		size_t left_over;
	} good[] = {
		{ "0\r\n\r\n", "", 0 },
		{ "0\r\n\r\nGET", "", 3 },
		{ "5\r\nhello\r\n0\r\n\r\n", "hello", 0 },
		{ "005\r\nhello\r\n000\r\n\r\n", "hello", 0 },
		{ "a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n", "01234567890123456789a", 0 },
		{ "2;a\r\nhi\r\n0;b=c\r\n\r\n", "hi", 0 },
		{ "2 ;a\r\nhi\r\n0 \t ; b=c\r\n\r\n", "hi", 0 },
		{ "2; a = b ;\tc\t=\t\"d e\" ; f ; g=h\r\nhi\r\n0\r\n\r\n", "hi", 0 },
		{ "2;a=\"x;\\\"\r\\\\\";b\r\nhi\r\n0\r\n\r\n", NULL, 0 },
		{ "2;a=\"x;\\\"y\";b=!\r\nhi\r\n0\r\n\r\n", "hi", 0 },
		{ "1\r\n\n\r\n0\r\nA: b\r\nC:\r\n\r\nx", "\n", 1 },
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		for (size_t piece = 1; piece < 40; piece++) {
			struct result r = decode(eddy_str_from(good[i].text), piece);

			if (!good[i].data) {
				cr_expect(eq(int, r.end, -EBADMSG));
				continue;
			}
			cr_expect(eq(int, r.end, -ENODATA), "%s", good[i].text);
			cr_expect(eq(sz, r.len, strlen(good[i].data)));
			cr_expect(memcmp(r.data, good[i].data, r.len) == 0);
			cr_expect(eq(sz, r.left_over, good[i].left_over));
		}
	}
}

Test(chunked, refuses)
{
	static const char *const bad[] = {
		"\r\n",
		"x\r\n",
		"-1\r\n",
		"+1\r\n",
		"0x1\r\n",
		" 1\r\n",
		"1 \r\nx\r\n",
		"1\nx\r\n",
		"1\r\nxy",
		"1\r\nx\n",
		"1\r\nx\r\r",
		"1;\r\nx",
		"1\t\r\nx\r\n",
		"1 2\r\nx",
		"1 a\r\nx",
		"1 =a\r\nx",
		"1 ; \r\nx",
		"1;a \r\nx",
		"1;a b\r\nx",
		"1;a= \r\nx",
		"1;a=b \r\nx",
		"1;a=\"b\" \r\nx",
		"1;a=\"b\" c\r\nx",
		"1;a=b =c\r\nx",
		"1;a=\r\nx",
		"1;=a\r\nx",
		"1;a=b c\r\nx",
		"1;a=\"b\r\n\"\r\nx",
		"1;a=\"b\"c\r\nx",
		"1,a\r\nx",
		"0\r\n x: y\r\n\r\n",
		"0\r\nx y: z\r\n\r\n",
		"0\r\nx\r\n\r\n",
		"0\r\n: y\r\n\r\n",
		"0\r\nx: \x01\r\n\r\n",
		"0\r\nx: y\n\r\n",
		"0\r\n\n",
		"0\r\nx: y\r\n z\r\n\r\n",
		"1000000000000000\r\n",
		"ffffffffffffffff\r\n",
		"00000000000000001\r\nx",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		for (size_t piece = 1; piece < 40; piece++)
			cr_expect(eq(int, decode(eddy_str_from(bad[i]), piece).end, -EBADMSG), "%s",
				  bad[i]);
}

Test(chunked, lines_and_trailers_are_bounded)
{
	char *text = malloc(100000);
	struct eddyi_chunked chunked = { 0 };
	struct eddy_str rest;

	memset(text, 'a', 100000);
	memcpy(text, "1;", 2);
	rest = eddy_str(text, 100000);
	cr_expect(eq(int, eddyi_chunked_next(&chunked, &rest), -EBADMSG));
	chunked = (struct eddyi_chunked){ 0 };
	memcpy(text, "0\r\na:", 5);
	rest = eddy_str(text, 100000);
	cr_expect(eq(int, eddyi_chunked_next(&chunked, &rest), -EBADMSG));
	cr_expect(eq(int, eddyi_chunked_next(&chunked, &rest), -EBADMSG));
	free(text);
}

/* `count` chunks of `size` bytes, each with an extension of `extension` bytes.
 * Return: how many of them were taken in. */
static int chunks_taken(int count, size_t size, size_t extension)
{
	struct eddyi_chunked chunked = { 0 };
	char text[4096];

	for (int i = 0; i < count; i++) {
		size_t head = (size_t)sprintf(text, "%zx;", size);
		struct eddy_str rest = eddy_str(text, head + extension + 2);

		memset(text + head, 'e', extension);
		memcpy(text + head + extension, "\r\n", 2);
		if (eddyi_chunked_next(&chunked, &rest) < 0 || chunked.left != size)
			return i;
		chunked.left = 0;
		rest = EDDY_STR("\r\n");
		eddyi_chunked_next(&chunked, &rest);
	}
	return count;
}

Test(chunked, extensions_are_bounded_by_data)
{
	cr_expect(eq(int, chunks_taken(10000, 1, 8), 10000));
	cr_expect(eq(int, chunks_taken(10000, 100, 100), 10000));
	cr_expect(eq(int, chunks_taken(10000, 65536, 1000), 10000));
	/* 1000 + ";" + the size: 1002 bytes, less 17. */
	cr_expect(eq(int, chunks_taken(10000, 1, 1000), 16384 / (1000 + 3 - 17)));
}

Test(chunked, writes_lines)
{
	char line[EDDYI_CHUNK_LINE_SIZE];

	cr_expect(eddy_str_eq_z(eddy_str(line, eddyi_chunked_line(1, line)), "1\r\n"));
	cr_expect(eddy_str_eq_z(eddy_str(line, eddyi_chunked_line(0xab0, line)), "ab0\r\n"));
	cr_expect(eddy_str_eq_z(eddy_str(line, eddyi_chunked_line(UINT64_MAX, line)),
				"ffffffffffffffff\r\n"));
}
