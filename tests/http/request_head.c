/* Tests of http/src/http1/request_head.h. */
#include "heads.h"

#include <stdio.h>

Test(request_head, accepts)
{
	static const char *const good[] = {
		"GET / HTTP/1.1\r\n" END,
		"\r\n\r\nGET / HTTP/1.1\r\n" END,
		"GET / HTTP/1.0\r\n\r\n",
		"GET / HTTP/1.2\r\n" END,
		"GET / HTTP/1.9\r\n" END,
		"GET / HTTP/2.0\r\n" END,
		"GET http://a.b:1/ HTTP/1.1\r\n" END,
		"OPTIONS * HTTP/1.1\r\n" END,
		"CONNECT a:80 HTTP/1.1\r\n" END,
		"GET /?a=b&c HTTP/1.1\r\n" END,
		"GET / HTTP/1.1\r\nX:\r\nY: \r\nZ:\ta\tb \r\n" END,
		"GET / HTTP/1.1\r\nX: \xff\r\n" END,
		"PROPFIND / HTTP/1.1\r\n" END,
		"GET /a/../b?../.. HTTP/1.1\r\n" END,
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		cr_expect(eq(int, status_of(good[i]), 200), "%s", good[i]);
}

Test(request_head, refuses)
{
	static const struct {
		int status;
		const char *text;
	} bad[] = {
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
		{ 400, "GET /.. HTTP/1.1\r\n" END },
		{ 400, "GET /a/%2e%2e/../b HTTP/1.1\r\n" END },
		{ 400, "GET http://localhost/.. HTTP/1.1\r\n" END },
		{ 400, "GET /\r\n" END },
		{ 400, "GET / HTTP/3.0\r\n" END },
		{ 400, "GET / HTTP/2.1\r\n" END },
		{ 400, "GET / HTTP/0.9\r\n" END },
		{ 400, "GET / HTTP/1.11\r\n" END },
		{ 400, "OPTIONS / RTSP/1.0\r\n" END },
		{ 400, "SOURCE / ICE/1.0\r\n" END },
		{ 400, "GET / HTTP/1.1 \r\n" END },
		{ 400, "GET  / HTTP/1.1\r\n" END },
		{ 400, "GET * HTTP/1.1\r\n" END },
		{ 400, "GET /#a HTTP/1.1\r\n" END },
		{ 400, "GET a HTTP/1.1\r\n" END },
		{ 400, "GET /\xc3\xa4 HTTP/1.1\r\n" END },
		{ 400, "GET ftp://a/ HTTP/1.1\r\n" END },
		{ 400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" },
		{ 400, "PRI * HTTP/1.1\r\n" END },
		{ 400, "G=T / HTTP/1.1\r\n" END },
		{ 400, "G ET / HTTP/1.1\r\n" END },
		{ 400, "Extra wordGET / HTTP/1.1\r\n" END },
		{ 400, "FROB  / HTTP/1.1\r\n" END },
		{ 400, "FROB  HTTP/1.1\r\n" END },
		{ 400, "FROB HTTP/1.1\r\n" END },
		{ 400, "FROB / HTTP/1.1\n" END },
		{ 400, "FROB / HTTP/3.0\r\n" END },
		{ 400, "FROB /\r\n" END },
		{ 400, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJ / HTTP/1.1\r\n" END },
		{ 501, "FROB / HTTP/1.1\r\n" END },
		{ 501, "get / HTTP/1.1\r\n" END },
		{ 501, "FROB / HTTP/1.7\r\n" END },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(eq(int, status_of(bad[i].text), bad[i].status), "%s", bad[i].text);
}

Test(request_head, reads_fields)
{
	static const char text[] =
		"POST /a%20b?x=1 HTTP/1.1\r\nHost: Example.org:81\r\nX-One:  1 \r\n"
		"x-two:\r\nContent-Length: 42\r\nExpect: 100-Continue\r\n\r\nbody";
	struct eddyi_arena arena = { 0 };

	for (size_t piece = 1; piece <= sizeof(text); piece++) {
		struct eddyi_request_head request;
		struct eddyi_head head;
		size_t used;

		cr_assert(eq(int, feed(&request, &head, &arena, eddy_str_from(text), piece, &used),
			     200));
		cr_expect(eq(sz, used, sizeof(text) - 1 - 4));
		cr_expect(eddy_str_eq_z(head.method_name, "POST"));
		cr_expect(eddy_str_eq_z(head.target.path, "/a%20b"));
		cr_expect(eddy_str_eq_z(head.target.query, "x=1"));
		cr_expect(eddy_str_eq_z(head.host, "Example.org:81"));
		cr_expect(eq(u32, head.header_count, 5));
		cr_expect(eddy_str_eq_z(eddyi_head_find(&head, EDDY_STR("X-ONE")), "1"));
		cr_expect(eddyi_head_find(&head, EDDY_STR("x-two")).ptr != NULL);
		cr_expect(eq(sz, eddyi_head_find(&head, EDDY_STR("x-two")).len, 0));
		cr_expect(eddyi_head_find(&head, EDDY_STR("x-three")).ptr == NULL);
		cr_expect(request.framing == EDDYI_BODY_LENGTH && head.length == 42);
		cr_expect(request.expect_continue && request.keep_alive &&
			  head.version == EDDY_HTTP_1_1);
	}
	eddyi_arena_deinit(&arena);
}

Test(request_head, knows_methods)
{
	static const char *const known[] = { "GET", "PATCH", "PROPFIND", "M-SEARCH" };
	static const char *const unknown[] = { "", "get", "GE", "GETS", "FROB", "PRI", "PLAY" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		cr_expect(eddyi_method_is_known(eddy_str_from(known[i])), "%s", known[i]);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		cr_expect(not(eddyi_method_is_known(eddy_str_from(unknown[i]))), "%s", unknown[i]);
}

/* `GET /` and `fill` bytes, then `fields` fields of `width` bytes each, by the piece. */
static int status_of_size(size_t fill, size_t fields, size_t width)
{
	struct eddyi_arena arena = { 0 };
	size_t size = 64 + fill + fields * (width + 8), used;
	char *text = malloc(size), *at = text;
	struct eddyi_request_head request;
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
	status = feed(&request, &head, &arena, eddy_str(text, (size_t)(at - text)), 1000, &used);
	free(text);
	eddyi_arena_deinit(&arena);
	return status;
}

Test(request_head, limits)
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

Test(request_head, a_refused_head_shows_nothing)
{
	static const char text[] =
		"POST /secret HTTP/1.1\r\nX: y\r\nHost: a b\r\nContent-Length: 5\r\n\r\n";
	struct eddyi_arena arena = { 0 };
	struct eddyi_request_head request;
	struct eddyi_head head;
	size_t used;

	cr_assert(eq(int, feed(&request, &head, &arena, eddy_str_from(text), 9, &used), 400));
	cr_expect(eq(u32, head.header_count, 0));
	cr_expect(eq(sz, head.target.path.len, 0));
	cr_expect(eq(sz, head.host.len, 0));
	cr_expect(request.framing == EDDYI_BODY_NONE);
	cr_expect(head.problem != NULL);
	eddyi_arena_deinit(&arena);
}

/* A method without an end is none, and not a target that is too long. */
Test(request_head, endless_method)
{
	struct eddyi_arena arena = { 0 };
	struct eddyi_request_head request;
	struct eddyi_head head;
	char text[20000];
	size_t used;

	memset(text, 'A', sizeof(text));
	cr_expect(eq(int, feed(&request, &head, &arena, eddy_str(text, sizeof(text)), 1000, &used),
		     400));
	eddyi_arena_deinit(&arena);
}

Test(request_head, blank_lines)
{
	static const struct {
		int first, later;
		const char *text;
	} cases[] = {
		{ 200, 200, "\r\nGET / HTTP/1.1\r\n" END },
		{ 400, 200, "\r\n\r\nGET / HTTP/1.1\r\n" END },
		{ 400, 400, "\r\n\r\n\r\nGET / HTTP/1.1\r\n" END },
		{ 400, 400, "\nGET / HTTP/1.1\r\n" END },
		{ 400, 400, "\r\rGET / HTTP/1.1\r\n" END },
		{ 400, 400, " \r\nGET / HTTP/1.1\r\n" END },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect(eq(int, status_of(cases[i].text), cases[i].later), "later %zu", i);
		cr_expect(eq(int, status_of_first(cases[i].text), cases[i].first), "first %zu", i);
	}
}

/* They take no room away from a head that is as large as it may be, and none of what is behind it. */
Test(request_head, blank_lines_take_no_room)
{
	static const struct eddyi_head_limits small = { 16, 19, 10 };
	static const char text[] = "\r\n\r\nGET / HTTP/1.1\r\n" END "GET";
	const size_t len = sizeof(text) - 1;
	struct eddyi_arena arena = { 0 };

	for (size_t piece = 1; piece <= len; piece++) {
		struct eddyi_request_head request;
		struct eddyi_head head;
		size_t at = 0, used;
		int status = 0;

		head = (struct eddyi_head){ .arena = &arena };
		eddyi_request_head_init(&request, &head, &small);
		while (!status && at < len) {
			size_t given = piece < len - at ? piece : len - at;

			status = eddyi_request_head_feed(&request, text + at, given, &used);
			cr_expect(eq(sz, status ? given : used, given));
			at += used;
		}
		cr_expect(eq(int, status, 200));
		cr_expect(eq(sz, at, len - 3));
	}
	eddyi_arena_deinit(&arena);
}

/* Who leaves behind a request line is told that more was expected; who leaves before asked nothing. */
Test(request_head, end_inside)
{
	static const struct {
		int status;
		const char *text;
	} cases[] = {
		{ 0, "" },
		{ 0, "GET" },
		{ 0, "GET / HTTP/1.1\r" },
		{ 0, "GET /\r\n" },
		{ 400, "GET / HTTP/1.1\r\n" },
		{ 400, "GET / HTTP/1.0\r\nHost: a\r\n\r" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct eddyi_arena arena = { 0 };
		struct eddyi_request_head request;
		struct eddyi_head head;
		size_t used;

		cr_assert(eq(int,
			     feed(&request, &head, &arena, eddy_str_from(cases[i].text), 5, &used),
			     0));
		cr_expect(eq(int, eddyi_request_head_end(&request), cases[i].status), "%s",
			  cases[i].text);
		cr_expect(eq(int, head.problem != NULL, cases[i].status == 400));
		eddyi_arena_deinit(&arena);
	}
}
