/* Tests of http/src/head.h. */
#include "head.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

static const struct eddyi_head_limits limits = {
	.request_line_max = 8192,
	.header_block_max = 16384,
	.header_count_max = 100,
};

/* Feed `text` in pieces of `piece` bytes, each in memory of its own.
 * Return: the status; 0 when it was not enough. */
static int feed(struct eddyi_head *head, struct eddyi_arena *arena, struct eddy_str text,
		size_t piece, size_t *ret_used)
{
	int status = 0;

	*ret_used = 0;
	eddyi_head_init(head, arena, &limits);
	while (text.len && !status) {
		size_t len = text.len < piece ? text.len : piece, used;
		char *exact = malloc(len);

		memcpy(exact, text.ptr, len);
		status = eddyi_head_feed(head, exact, len, &used);
		free(exact);
		*ret_used += used;
		text = eddy_str_skip(text, used);
	}
	return status;
}

/* The status of a head, the same however it is cut. */
static int status_of(const char *text)
{
	struct eddyi_arena arena = { 0 };
	struct eddyi_head head;
	size_t used;
	int whole = feed(&head, &arena, eddy_str_from(text), SIZE_MAX, &used);

	for (size_t piece = 1; piece < 8; piece++) {
		int cut = feed(&head, &arena, eddy_str_from(text), piece, &used);

		if (cut != whole)
			cr_log_error("%d whole and %d in pieces of %zu: %s", whole, cut, piece,
				     text);
		whole = cut == whole ? whole : -1;
	}
	eddyi_arena_deinit(&arena);
	return whole;
}

#define HOST "Host: localhost\r\n"
#define END HOST "\r\n"

Test(head, accepts)
{
	static const char *const good[] = {
		"GET / HTTP/1.1\r\n" END,
		"\r\n\r\nGET / HTTP/1.1\r\n" END,
		"GET / HTTP/1.0\r\n\r\n",
		"GET / HTTP/1.2\r\n" END,
		"GET / HTTP/1.9\r\n" END,
		"GET http://a.b:1/ HTTP/1.1\r\n" END,
		"OPTIONS * HTTP/1.1\r\n" END,
		"CONNECT a:80 HTTP/1.1\r\n" END,
		"GET /?a=b&c HTTP/1.1\r\n" END,
		"GET / HTTP/1.1\r\nX:\r\nY: \r\nZ:\ta\tb \r\n" END,
		"GET / HTTP/1.1\r\nX: \xff\r\n" END,
		"POST / HTTP/1.1\r\nContent-Length: 0\r\n" END,
		"POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n" END,
		"POST / HTTP/1.1\r\nUpgrade: h2c\r\nConnection: upgrade\r\nContent-Length: 1\r\n" END,
		"PROPFIND / HTTP/1.1\r\n" END,
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		cr_expect(eq(int, status_of(good[i]), 200), "%s", good[i]);
}

Test(head, refuses)
{
	static const struct {
		int status;
		const char *text;
	} bad[] = {
		{ 400, "GET / HTTP/1.1\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\r\n" HOST HOST "\r\n" },
		{ 400, "GET / HTTP/1.1\r\nHost:\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\r\nHost: a b\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\r\nHost: a,b\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\nHost: a\n\n" },
		{ 400, "GET / HTTP/1.1\r\nHost: a\n\r\n" },
		{ 400, "GET / HTTP/1.1\r\nHost: a\r\n\n" },
		{ 400, "GET / HTTP/1.1\r\nX: a\rb\r\n" END },
		{ 400, "GET / HTTP/1.1\r\nX: a\r\n b\r\n" END },
		{ 400, "GET / HTTP/1.1\r\n X: a\r\n" END },
		{ 400, "GET / HTTP/1.1\r\nX : a\r\n" END },
		{ 400, "GET / HTTP/1.1\r\nX\r\n" END },
		{ 400, "GET / HTTP/1.1\r\n: a\r\n" END },
		{ 400, "GET / HTTP/1.1\r\nX: a\x01\r\n" END },
		{ 400, "GET / HTTP/1.1\r\nX: a\x7f\r\n" END },
		{ 400, "GET /\r\n" END },
		{ 400, "GET / HTTP/2.0\r\n" END },
		{ 400, "GET / HTTP/0.9\r\n" END },
		{ 400, "GET / HTTP/1.1 \r\n" END },
		{ 400, "GET  / HTTP/1.1\r\n" END },
		{ 400, "GET * HTTP/1.1\r\n" END },
		{ 400, "GET /#a HTTP/1.1\r\n" END },
		{ 400, "GET a HTTP/1.1\r\n" END },
		{ 400, "GET /\xc3\xa4 HTTP/1.1\r\n" END },
		{ 400, "GET ftp://a/ HTTP/1.1\r\n" END },
		{ 400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" },
		{ 400, "G=T / HTTP/1.1\r\n" END },
		{ 400, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJ / HTTP/1.1\r\n" END },
		{ 501, "FROB / HTTP/1.1\r\n" END },
		{ 501, "get / HTTP/1.1\r\n" END },
		{ 400,
		  "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n" END },
		{ 400,
		  "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n" END },
		{ 400, "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n" END },
		{ 400, "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n" END },
		{ 400, "POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n" END },
		{ 400, "POST / HTTP/1.1\r\nContent-Length: +1\r\n" END },
		{ 400, "POST / HTTP/1.1\r\nContent-Length: -1\r\n" END },
		{ 400, "POST / HTTP/1.1\r\nContent-Length: 0x1\r\n" END },
		{ 400, "POST / HTTP/1.1\r\nContent-Length:\r\n" END },
		{ 400, "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n" END },
		{ 413, "POST / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n" END },
		{ 413, "POST / HTTP/1.1\r\nContent-Length: 9223372036854775808\r\n" END },
		{ 400, "POST / HTTP/1.1\r\nTransfer-Encoding:\r\n" END },
		{ 400, "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n" END },
		{ 400, "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n" END },
		{ 400, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n" END },
		{ 400,
		  "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" END },
		{ 400, "POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n" END },
		{ 400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" },
		{ 417, "POST / HTTP/1.1\r\nExpect: more\r\nContent-Length: 1\r\n" END },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(eq(int, status_of(bad[i].text), bad[i].status), "%s", bad[i].text);
}

Test(head, reads_fields)
{
	static const char text[] =
		"POST /a%20b?x=1 HTTP/1.1\r\nHost: Example.org:81\r\nX-One:  1 \r\n"
		"x-two:\r\nContent-Length: 42\r\nExpect: 100-Continue\r\n\r\nbody";
	struct eddyi_arena arena = { 0 };

	for (size_t piece = 1; piece <= sizeof(text); piece++) {
		struct eddyi_head head;
		size_t used;

		cr_assert(eq(int, feed(&head, &arena, eddy_str_from(text), piece, &used), 200));
		cr_expect(eq(sz, used, sizeof(text) - 1 - 4));
		cr_expect(eddy_str_eq_z(head.method_name, "POST"));
		cr_expect(eddy_str_eq_z(head.target.path, "/a%20b"));
		cr_expect(eddy_str_eq_z(head.target.query, "x=1"));
		cr_expect(eddy_str_eq_z(head.host, "Example.org:81"));
		cr_expect(eq(u32, head.header_count, 5));
		cr_expect(eddy_str_eq_z(eddyi_head_find(&head, eddy_str("X-ONE", 5)), "1"));
		cr_expect(eddyi_head_find(&head, eddy_str("x-two", 5)).ptr != NULL);
		cr_expect(eq(sz, eddyi_head_find(&head, eddy_str("x-two", 5)).len, 0));
		cr_expect(eddyi_head_find(&head, eddy_str("x-three", 7)).ptr == NULL);
		cr_expect(head.framing == EDDYI_BODY_LENGTH && head.length == 42);
		cr_expect(head.expect_continue && head.keep_alive && head.minor == 1);
	}
	eddyi_arena_deinit(&arena);
}

Test(head, keep_alive)
{
	static const struct {
		bool keep;
		const char *text;
	} cases[] = {
		{ true, "GET / HTTP/1.1\r\n" END },
		{ false, "GET / HTTP/1.1\r\nConnection: close\r\n" END },
		{ false, "GET / HTTP/1.1\r\nConnection: close\t\r\n" END },
		{ false, "GET / HTTP/1.1\r\nConnection: x, CLOSE\r\n" END },
		{ false, "GET / HTTP/1.1\r\nConnection: keep-alive\r\nConnection: close\r\n" END },
		{ true, "GET / HTTP/1.1\r\nConnection: closed\r\n" END },
		{ false, "GET / HTTP/1.0\r\n" END },
		{ true, "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n" END },
		{ false, "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n" END },
	};
	struct eddyi_arena arena = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct eddyi_head head;
		size_t used;

		cr_assert(eq(int, feed(&head, &arena, eddy_str_from(cases[i].text), 999, &used),
			     200));
		cr_expect(head.keep_alive == cases[i].keep, "%s", cases[i].text);
	}
	eddyi_arena_deinit(&arena);
}

/* `GET /` and `fill` bytes, then `fields` fields of `width` bytes each, by the piece. */
static int status_of_size(size_t fill, size_t fields, size_t width)
{
	struct eddyi_arena arena = { 0 };
	size_t size = 64 + fill + fields * (width + 8), used;
	char *text = malloc(size), *at = text;
	struct eddyi_head head;
	int status;

	at += sprintf(at, "GET /");
	memset(at, 'a', fill);
	at += fill;
	at += sprintf(at, " HTTP/1.1\r\n" HOST);
	for (size_t i = 0; i < fields; i++) {
		at += sprintf(at, "x: ");
		memset(at, 'b', width);
		at += width;
		at += sprintf(at, "\r\n");
	}
	at += sprintf(at, "\r\n");
	status = feed(&head, &arena, eddy_str(text, (size_t)(at - text)), 1000, &used);
	free(text);
	eddyi_arena_deinit(&arena);
	return status;
}

Test(head, limits)
{
	size_t line = sizeof("GET / HTTP/1.1\r\n") - 1, host = sizeof(HOST) - 1;

	cr_expect(eq(int, status_of_size(limits.request_line_max - line, 0, 0), 200));
	cr_expect(eq(int, status_of_size(limits.request_line_max - line + 1, 0, 0), 414));
	cr_expect(eq(int, status_of_size(100000, 0, 0), 414));
	cr_expect(eq(int, status_of_size(0, 1, limits.header_block_max - host - 2 - 5), 200));
	cr_expect(eq(int, status_of_size(0, 1, limits.header_block_max - host - 2 - 5 + 1), 431));
	cr_expect(eq(int, status_of_size(0, 1, 100000), 431));
	cr_expect(eq(int, status_of_size(limits.request_line_max - line, 1, 16300), 200));
	cr_expect(eq(int, status_of_size(0, limits.header_count_max - 1, 1), 200));
	cr_expect(eq(int, status_of_size(0, limits.header_count_max, 1), 431));
}

Test(head, a_refused_head_shows_nothing)
{
	static const char text[] =
		"POST /secret HTTP/1.1\r\nX: y\r\nHost: a b\r\nContent-Length: 5\r\n\r\n";
	struct eddyi_arena arena = { 0 };
	struct eddyi_head head;
	size_t used;

	cr_assert(eq(int, feed(&head, &arena, eddy_str_from(text), 9, &used), 400));
	cr_expect(eq(u32, head.header_count, 0));
	cr_expect(eq(sz, head.target.path.len, 0));
	cr_expect(eq(sz, head.host.len, 0));
	cr_expect(head.framing == EDDYI_BODY_NONE);
	cr_expect(head.problem != NULL);
	eddyi_arena_deinit(&arena);
}

/* More blank lines than there is room for a head: they are no part of it, and nothing is left over. */
Test(head, many_blank_lines)
{
	static const struct eddyi_head_limits small = { 64, 64, 10 };
	static const char request[] = "GET / HTTP/1.1\r\n" END;
	struct eddyi_arena arena = { 0 };
	struct eddyi_head head;
	char text[2048];
	size_t blank = 2 * 500, used;

	for (size_t i = 0; i < blank; i++)
		text[i] = "\r\n"[i % 2];
	memcpy(text + blank, request, sizeof(request) - 1);
	memcpy(text + blank + sizeof(request) - 1, "GET", 3);
	eddyi_head_init(&head, &arena, &small);
	cr_expect(eq(int, eddyi_head_feed(&head, text, blank + 1, &used), 0));
	cr_expect(eq(sz, used, blank + 1));
	cr_expect(
		eq(int, eddyi_head_feed(&head, text + used, sizeof(request) - 2 + 3, &used), 200));
	cr_expect(eq(sz, used, sizeof(request) - 2));
	eddyi_arena_deinit(&arena);
}
