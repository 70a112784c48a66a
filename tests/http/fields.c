/* Tests of what http/src/http1/request_head.h takes fields for. */
#include "heads.h"

#define GET "GET / HTTP/1.1\r\n"
#define POST "POST / HTTP/1.1\r\n"
#define WEBSOCKET "Upgrade: websocket\r\nSec-WebSocket-Version: "

Test(fields, accepts)
{
	static const char *const good[] = {
		"GET / HTTP/1.0\r\n\r\n",
		GET "HOST:a\r\n\r\n",
		POST "Content-Length: 0\r\n" END,
		POST "content-length:10\r\n" END,
		POST "Transfer-Encoding: Chunked\r\n" END,
		POST "Upgrade: h2c\r\nConnection: upgrade\r\nContent-Length: 1\r\n" END,
		POST "Content-Type: text/plain\r\nContent-Types: x\r\n" END,
		"POST / HTTP/1.0\r\nExpect: more\r\nContent-Length: 1\r\n\r\n",
		GET "Connection: Upgrade\r\n" WEBSOCKET "13\r\n" END,
		GET WEBSOCKET "99\r\n" END,
		GET "Connection: Upgrade\r\nUpgrade: made-up\r\n" END,
		POST "Connection: Upgrade\r\n" WEBSOCKET "99\r\nContent-Length: 0\r\n" END,
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		cr_expect(eq(int, status_of(good[i]), 200), "%s", good[i]);
}

Test(fields, refuses)
{
	static const struct {
		int status;
		const char *text;
	} bad[] = {
		{ 400, GET "\r\n" },
		{ 400, GET HOST HOST "\r\n" },
		{ 400, GET "Host:\r\n\r\n" },
		{ 400, GET "Host: a b\r\n\r\n" },
		{ 400, GET "Host: u@a\r\n\r\n" },
		{ 400, GET "Host: a,b\r\n\r\n" },
		{ 400, POST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n" END },
		{ 400, POST "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n" END },
		{ 400, POST "Content-Length: 1\r\nContent-Length: 1\r\n" END },
		{ 400, POST "Content-Length: 1\r\nContent-Length: 2\r\n" END },
		{ 400, POST "Content-Length: 1, 1\r\n" END },
		{ 400, POST "Content-Length: +1\r\n" END },
		{ 400, POST "Content-Length: -1\r\n" END },
		{ 400, POST "Content-Length: 0x1\r\n" END },
		{ 400, POST "Content-Length:\r\n" END },
		{ 400, POST "Content-Length: 99999999999999999999\r\n" END },
		{ 413, POST "Content-Length: 18446744073709551615\r\n" END },
		{ 413, POST "Content-Length: 9223372036854775808\r\n" END },
		{ 400, POST "Transfer-Encoding:\r\n" END },
		{ 400, POST "Transfer-Encoding: gzip\r\n" END },
		{ 400, POST "Transfer-Encoding: gzip, chunked\r\n" END },
		{ 400, POST "Transfer-Encoding: chunked, chunked\r\n" END },
		{ 400, POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" END },
		{ 400, POST "Transfer-Encoding: xchunked\r\n" END },
		{ 400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" },
		{ 417, POST "Expect: more\r\nContent-Length: 1\r\n" END },
		{ 400, POST "Content-Length: 01\r\n" END },
		{ 400, POST "Content-Length: 00\r\n" END },
		{ 400, POST "Content-Length:  1\r\n" END },
		{ 400, POST "Content-Length:\t1\r\n" END },
		{ 400, POST "Content-Length: 1 \r\n" END },
		{ 400, POST "Content-Length: 1\t\r\n" END },
		{ 400, POST "Content-Type: a/b\r\nContent-Length: 1\r\nContent-Type: a/b\r\n" END },
		{ 426, GET "Connection: x, Upgrade\r\n" WEBSOCKET "99\r\n" END },
		{ 426, GET "Connection: Upgrade\r\n" WEBSOCKET "\r\n" END },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(eq(int, status_of(bad[i].text), bad[i].status), "%s", bad[i].text);
}

Test(fields, keep_alive)
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
		struct eddyi_request_head request;
		struct eddyi_head head;
		size_t used;

		cr_assert(
			eq(int,
			   feed(&request, &head, &arena, eddy_str_from(cases[i].text), 999, &used),
			   200));
		cr_expect(request.keep_alive == cases[i].keep, "%s", cases[i].text);
	}
	eddyi_arena_deinit(&arena);
}
