#include "response.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct response response;
static const char *wrong;

static ssize_t parse(const char *text)
{
	/* In a block of its own size, so that a sanitizer sees what is read behind it. */
	size_t len = strlen(text);
	char *copy = malloc(len + !len);
	ssize_t r;

	memcpy(copy, text, len);
	r = response_parse(copy, len, &response, &wrong);
	free(copy);
	return r;
}

Test(response, with_a_length)
{
	const char *head = "HTTP/1.1 200 OK\r\nServer: x\r\ncontent-LENGTH:  13 \r\n\r\n";

	cr_expect_eq(parse(head), (ssize_t)strlen(head));
	cr_expect_eq(response.status, 200);
	cr_expect_eq(response.length, 13);
	cr_expect(response.keeps);
	cr_expect_not(response.chunked);
}

Test(response, ends_where_its_head_does)
{
	cr_expect_eq(parse("HTTP/1.1 204\r\n\r\nHTTP/1.1 200 OK\r\n"), 16);
	cr_expect_eq(response.status, 204);
	cr_expect_eq(response.length, RESPONSE_LENGTH_NONE);
}

Test(response, says_whether_it_keeps_the_connection)
{
	static const struct {
		const char *text;
		bool keeps;
	} cases[] = {
		{ "HTTP/1.1 200 OK\r\n\r\n", true },
		{ "HTTP/1.0 200 OK\r\n\r\n", false },
		{ "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n", true },
		{ "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", false },
		{ "HTTP/1.1 200 OK\r\nCONNECTION: foo ,\tClose\r\n\r\n", false },
		{ "HTTP/1.1 200 OK\r\nConnection: closed\r\n\r\n", true },
		{ "HTTP/1.1 200 OK\r\nXonnection: close\r\n\r\n", true },
		{ "HTTP/1.1 200 OK\nConnection: close\n\n", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_expect_eq(parse(cases[i].text), (ssize_t)strlen(cases[i].text), "%s",
			     cases[i].text);
		cr_expect_eq(response.keeps, cases[i].keeps, "%s", cases[i].text);
	}
}

Test(response, is_whole_or_not_yet)
{
	const char *head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

	for (size_t len = 0; len < strlen(head); len++) {
		char text[64] = "";

		memcpy(text, head, len);
		cr_expect_eq(parse(text), 0, "after %zu bytes", len);
	}
	cr_expect_eq(parse(head), (ssize_t)strlen(head));
	cr_expect(response.chunked);
}

Test(response, garbage_is_refused)
{
	static const char *const cases[] = {
		"garbage without an end",
		"GET / HTTP/1.1\r\n\r\n",
		"HTTP/2 200 OK\r\n\r\n",
		"HTTP/1.2 200 OK\r\n\r\n",
		"HTTP/1.1 20 OK\r\n\r\n",
		"HTTP/1.1 2000\r\n\r\n",
		"HTTP/1.1 099 X\r\n\r\n",
		"HTTP/1.1 +20 X\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_expect_eq(parse(cases[i]), -EBADMSG, "%s", cases[i]);
		cr_expect(wrong);
	}
}

/* Take a chunked body in pieces of `step` bytes. Return: bytes of data; -EBADMSG; -EAGAIN where it does not end. */
static long take(const char *text, size_t step)
{
	struct chunked chunked = { 0 };
	size_t len = strlen(text), at = 0;
	long data = 0;

	while (at < len && !chunked.ended) {
		size_t more = len - at < step ? len - at : step;
		ssize_t r;

		if (chunked.left) {
			if (more > chunked.left)
				more = (size_t)chunked.left;
			chunked.left -= more;
			data += (long)more;
			at += more;
			continue;
		}
		r = chunked_take(&chunked, text + at, more);
		if (r < 0)
			return r;
		at += (size_t)r;
	}
	if (!chunked.ended)
		return -EAGAIN;
	return at == len ? data : -EIO;
}

Test(response, chunks)
{
	static const struct {
		const char *text;
		long data;
	} cases[] = {
		{ "0\r\n\r\n", 0 },
		{ "5\r\nhello\r\n0\r\n\r\n", 5 },
		{ "1A\r\nabcdefghijklmnopqrstuvwxyz\r\n000\r\n\r\n", 26 },
		{ "a;x=\"y\"\r\n0123456789\r\n0;z\r\nTrailer: x\r\nY: z\r\n\r\n", 10 },
		{ "2 \r\nab\r\n0\r\n\r\n", 2 },
		{ "2\nab\n0\n\n", 2 },
		{ "5\r\n0\r\n\r\n\r\n0\r\n\r\n", 5 },
		{ "5\r\nhello\r\n0\r\n", -EAGAIN },
		{ "5\r\nhello", -EAGAIN },
		{ "\r\n", -EBADMSG },
		{ "x\r\n", -EBADMSG },
		{ ";\r\n", -EBADMSG },
		{ "-1\r\n", -EBADMSG },
		{ "5\r\nhellox\r\n", -EBADMSG },
		{ "5\r\nhello\rx", -EBADMSG },
		{ "0\r\n\rx", -EBADMSG },
		{ "fffffffffffffffff\r\n", -EBADMSG },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t step = 1; step < 40; step++)
			cr_expect_eq(take(cases[i].text, step), cases[i].data, "%s by %zu: %ld",
				     cases[i].text, step, take(cases[i].text, step));
}

Test(response, framing_has_a_limit)
{
	struct chunked chunked = { 0 };
	char text[1024];
	ssize_t r = 0;

	memset(text, ' ', sizeof(text));
	cr_assert_eq(chunked_take(&chunked, "5;", 2), 2);
	for (int i = 0; i < 100 && r >= 0; i++)
		r = chunked_take(&chunked, text, sizeof(text));
	cr_expect_eq(r, -EBADMSG);
}
