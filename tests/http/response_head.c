/* Tests of http/src/http1/response_head.h. */
#include "http1/response_head.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdlib.h>

#define BLOCK_MAX 512
#define HEADERS_MAX 8

/* Feed it in steps of so many bytes, each in memory of its own. */
static int feed(struct eddyi_response_head *head, struct eddyi_arena *arena, struct eddy_str text,
		size_t step, bool no_body, size_t *ret_left)
{
	int r = 0;

	eddyi_response_head_init(head, arena, BLOCK_MAX, HEADERS_MAX);
	while (r == 0 && text.len) {
		size_t len = step < text.len ? step : text.len, used;
		char *bytes = malloc(len);

		memcpy(bytes, text.ptr, len);
		r = eddyi_response_head_feed(head, bytes, len, no_body, &used);
		free(bytes);
		text = eddy_str_skip(text, used);
		if (used < len)
			break;
	}
	*ret_left = text.len;
	return r;
}

Test(response_head, reads)
{
	static const struct {
		const char *text;
		int status;
		enum eddyi_framing framing;
		uint64_t length;
		bool no_body, keep;
		size_t left;
	} heads[] = {
		{ "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde", 200, EDDYI_BODY_LENGTH, 5,
		  false, true, 5 },
		{ "HTTP/1.1 200\r\n\r\n", 200, EDDYI_BODY_CLOSE, UINT64_MAX, false, false, 0 },
		{ "HTTP/1.1 200 \r\ncontent-length:0\r\n\r\n", 200, EDDYI_BODY_LENGTH, 0, false,
		  true, 0 },
		{ "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n0", 200, EDDYI_BODY_CHUNKED,
		  UINT64_MAX, false, true, 1 },
		{ "HTTP/1.1 200 OK\r\nconnection: x, Close\r\ncontent-length: 1\r\n\r\n", 200,
		  EDDYI_BODY_LENGTH, 1, false, false, 0 },
		{ "HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\n", 200, EDDYI_BODY_LENGTH, 1, false,
		  false, 0 },
		{ "HTTP/1.0 200 OK\r\ncontent-length: 1\r\nconnection: keep-alive\r\n\r\n", 200,
		  EDDYI_BODY_LENGTH, 1, false, true, 0 },
		{ "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n", 200, EDDYI_BODY_NONE, 7, true,
		  true, 0 },
		{ "HTTP/1.1 204 No Content\r\n\r\n", 204, EDDYI_BODY_NONE, UINT64_MAX, false, true,
		  0 },
		{ "HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n", 304, EDDYI_BODY_NONE, 9,
		  false, true, 0 },
		{ "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP", 103, EDDYI_BODY_NONE,
		  UINT64_MAX, false, true, 4 },
		{ "HTTP/1.2 299 x\ty\xe4\r\na:\r\nb: \tc\t \r\ncontent-length: 0\r\n\r\n", 299,
		  EDDYI_BODY_LENGTH, 0, false, true, 0 },
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		for (size_t step = 1; step < 128; step += 9) {
			struct eddyi_arena arena = { 0 };
			struct eddyi_response_head head;
			size_t left;

			cr_assert(feed(&head, &arena, eddy_str_from(heads[i].text), step,
				       heads[i].no_body, &left) == 1,
				  "%s: %s", heads[i].text, head.problem);
			cr_expect(eq(int, head.status, heads[i].status));
			cr_expect(eq(int, (int)head.framing, (int)heads[i].framing), "%s",
				  heads[i].text);
			cr_expect(eq(u64, head.length, heads[i].length), "%s", heads[i].text);
			cr_expect(head.keep_alive == heads[i].keep, "%s", heads[i].text);
			cr_expect(eq(sz, left, heads[i].left), "%s", heads[i].text);
			eddyi_arena_deinit(&arena);
		}
	}
}

Test(response_head, has_fields_in_order)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nb: 1\r\nA:\r\nb:\t2 x \r\n\r\n";
	static const char *const names[] = { "b", "A", "b" }, *const values[] = { "1", "", "2 x" };
	struct eddyi_arena arena = { 0 };
	struct eddyi_response_head head;
	size_t left;

	cr_assert(feed(&head, &arena, eddy_str_from(text), 7, false, &left) == 1);
	cr_assert(eq(int, (int)head.header_count, 3));
	for (unsigned i = 0; i < 3; i++) {
		cr_expect(eddy_str_eq_z(head.headers[i].name, names[i]));
		cr_expect(eddy_str_eq_z(head.headers[i].value, values[i]));
	}
	eddyi_arena_deinit(&arena);
}

#define OK "HTTP/1.1 200 OK\r\n"

Test(response_head, reads_folds_and_blanks_around_values)
{
	static const struct {
		const char *text, *value;
		enum eddyi_framing framing;
		uint64_t length;
	} heads[] = {
		{ OK "a: b\r\n c\r\ncontent-length: 5\r\n\r\n", "b c", EDDYI_BODY_LENGTH, 5 },
		{ OK "a: b \t\r\n\t  c  d\r\n\r\n", "b c  d", EDDYI_BODY_CLOSE, UINT64_MAX },
		{ OK "a:\r\n b\r\n\tc\r\n \r\n d\r\n\r\n", "b c d", EDDYI_BODY_CLOSE, UINT64_MAX },
		{ OK "a: b\r\n \r\n\r\n", "b", EDDYI_BODY_CLOSE, UINT64_MAX },
		{ OK "a:\t b:\tc\td \t\r\n\r\n", "b:\tc\td", EDDYI_BODY_CLOSE, UINT64_MAX },
		{ OK "a:\t\r\ncontent-length:\t5\t\r\n\r\n", "", EDDYI_BODY_LENGTH, 5 },
		{ OK "a:b\r\ncontent-length:\r\n\t5\r\n\r\n", "b", EDDYI_BODY_LENGTH, 5 },
		{ OK "a:b\r\ntransfer-encoding:\tchunked \t\r\n\r\n", "b", EDDYI_BODY_CHUNKED,
		  UINT64_MAX },
		{ OK "a:b\r\ntransfer-encoding: chunked\r\n\t\r\n\r\n", "b", EDDYI_BODY_CHUNKED,
		  UINT64_MAX },
		{ OK "a:b\r\nconnection:\tclose\t\r\ncontent-length: 1\r\n\r\n", "b",
		  EDDYI_BODY_LENGTH, 1 },
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		for (size_t step = 1; step < 128; step += 9) {
			struct eddyi_arena arena = { 0 };
			struct eddyi_response_head head;
			size_t left;

			cr_assert(feed(&head, &arena, eddy_str_from(heads[i].text), step, false,
				       &left) == 1,
				  "%s: %s", heads[i].text, head.problem);
			cr_expect(eddy_str_eq_z(head.headers[0].value, heads[i].value), "%s",
				  heads[i].text);
			cr_expect(eq(int, (int)head.framing, (int)heads[i].framing), "%s",
				  heads[i].text);
			cr_expect(eq(u64, head.length, heads[i].length), "%s", heads[i].text);
			cr_expect(eq(sz, left, 0), "%s", heads[i].text);
			eddyi_arena_deinit(&arena);
		}
	}
}

Test(response_head, refuses)
{
	static const char *const heads[] = {
		"HTTP/2.0 200 OK\r\n\r\n",
		"HTTP/0.9 200 OK\r\n\r\n",
		"HTTP/1.1 20 OK\r\n\r\n",
		"HTTP/1.1 2000 OK\r\n\r\n",
		"HTTP/1.1 099 OK\r\n\r\n",
		"HTTP/1.1  200 OK\r\n\r\n",
		"HTTP/1.1\t200 OK\r\n\r\n",
		"HTTP/1.1 200 OK\n\r\n",
		"HTTP/1.1 200 OK\r\na: b\n\r\n",
		"HTTP/1.1 200 OK\r\n\n",
		"http/1.1 200 OK\r\n\r\n",
		"ICY 200 OK\r\n\r\n",
		"\r\nHTTP/1.1 200 OK\r\n\r\n",
		"<html>",
		OK " a: b\r\n\r\n",
		OK "\ta: b\r\n\r\n",
		OK "a\r\n : b\r\n\r\n",
		OK "a\t: b\r\n\r\n",
		OK "a: b\n c\r\n\r\n",
		OK "a: b\r c\r\n\r\n",
		OK "a: b\r\n\x0b c\r\n\r\n",
		OK "content-length: 1\r\n 2\r\n\r\n",
		OK "content-length: 1\r\n\tcontent-length: 1\r\n\r\n",
		OK "content-length: 1\t2\r\n\r\n",
		OK "transfer-encoding: chunked\r\n , gzip\r\n\r\n",
		OK "a : b\r\n\r\n",
		OK ": b\r\n\r\n",
		OK "a\r\n\r\n",
		OK "a: b\rc\r\n\r\n",
		OK "a: \x01\r\n\r\n",
		OK "content-length: 1\r\ncontent-length: 1\r\n\r\n",
		OK "content-length: 1\r\ncontent-length: 2\r\n\r\n",
		OK "content-length: 1, 1\r\n\r\n",
		OK "content-length: +1\r\n\r\n",
		OK "content-length: -1\r\n\r\n",
		OK "content-length: 0x1\r\n\r\n",
		OK "content-length:\r\n\r\n",
		OK "content-length: 9223372036854775808\r\n\r\n",
		OK "content-length: 99999999999999999999\r\n\r\n",
		OK "content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
		OK "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n",
		OK "transfer-encoding: gzip, chunked\r\n\r\n",
		OK "transfer-encoding: gzip\r\n\r\n",
		OK "transfer-encoding: xchunked\r\n\r\n",
		OK "transfer-encoding:\r\n\r\n",
		"HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		for (size_t step = 1; step < 128; step += 63) {
			struct eddyi_arena arena = { 0 };
			struct eddyi_response_head head;
			size_t left;
			int r = feed(&head, &arena, eddy_str_from(heads[i]), step, false, &left);

			cr_expect(eq(int, r, -EBADMSG), "%s", heads[i]);
			cr_expect(head.problem != NULL, "%s", heads[i]);
			eddyi_arena_deinit(&arena);
		}
	}
}

/* A NUL is no part of a value. */
Test(response_head, refuses_nul)
{
	static const char text[] = OK "a: b\0c\r\n\r\n";
	struct eddyi_arena arena = { 0 };
	struct eddyi_response_head head;
	size_t left;

	cr_expect(feed(&head, &arena, eddy_str(text, sizeof(text) - 1), 99, false, &left) ==
		  -EBADMSG);
	eddyi_arena_deinit(&arena);
}

static int feed_long(size_t len, size_t step)
{
	struct eddyi_arena arena = { 0 };
	struct eddyi_response_head head;
	char text[BLOCK_MAX * 2];
	size_t left;
	int r;

	memset(text, 'x', sizeof(text));
	memcpy(text, OK "a: ", sizeof(OK "a: ") - 1);
	memcpy(text + len - 4, "\r\n\r\n", 4);
	r = feed(&head, &arena, eddy_str(text, len), step, false, &left);
	eddyi_arena_deinit(&arena);
	return r;
}

static int feed_many(int count)
{
	struct eddyi_arena arena = { 0 };
	struct eddyi_response_head head;
	char text[BLOCK_MAX] = OK;
	size_t left;
	int r;

	while (count--)
		strcat(text, "a: b\r\n");
	strcat(text, "\r\n");
	r = feed(&head, &arena, eddy_str_from(text), sizeof(text), false, &left);
	eddyi_arena_deinit(&arena);
	return r;
}

Test(response_head, is_limited)
{
	for (size_t step = 1; step <= BLOCK_MAX * 2; step += 200) {
		cr_expect(eq(int, feed_long(BLOCK_MAX, step), 1));
		cr_expect(eq(int, feed_long(BLOCK_MAX + 1, step), -EMSGSIZE));
		cr_expect(eq(int, feed_long(BLOCK_MAX * 2, step), -EMSGSIZE));
	}
	cr_expect(eq(int, feed_many(HEADERS_MAX), 1));
	cr_expect(eq(int, feed_many(HEADERS_MAX + 1), -EMSGSIZE));
}
