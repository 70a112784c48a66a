/* Tests of http/src/message/rules.h. */
#include "message/rules.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define HOST "Host: a.b:81\r\n"
#define VERSIONS 3

static const char *const names[VERSIONS] = { "1.0", "1.1", "2" };

struct request {
	const char *method; /* NULL: GET */
	const char *target; /* NULL: "/" */
	const char *authority;
	const char *fields; /* lines */
};

/* The head of one request; its fields point into the lines. */
struct judged {
	char target[32]; /* dot segments are removed in place */
	struct eddyi_header headers[8];
	struct eddyi_head head;
	struct eddyi_ruling ruling;
	int status;
};

static void judge(struct judged *judged, const struct request *request,
		  enum eddy_http_version version)
{
	struct eddyi_line line = {
		.method = eddy_str_from(request->method ? request->method : "GET"),
		.authority = request->authority ? eddy_str_from(request->authority) :
						  eddy_str(NULL, 0),
	};

	*judged = (struct judged){ .head.version = version };
	judged->head.headers = judged->headers;
	strcpy(judged->target, request->target ? request->target : "/");
	line.target = eddy_str_from(judged->target);
	for (const char *at = request->fields; *at;) {
		const char *colon = strchr(at, ':'), *end = strchr(at, '\r');

		judged->headers[judged->head.header_count++] = (struct eddyi_header){
			.name = eddy_str(at, (size_t)(colon - at)),
			.value = eddy_str_trim(eddy_str(colon + 1, (size_t)(end - colon - 1))),
		};
		at = end + 2;
	}
	judged->status = eddyi_rules_judge(&judged->head, &line, &judged->ruling);
}

Test(rules, statuses)
{
	static const struct {
		int status[VERSIONS];
		struct request request;
	} cases[] = {
		{ { 200, 400, 400 }, { .fields = "" } },
		{ { 200, 200, 200 }, { .fields = HOST } },
		{ { 400, 400, 400 }, { .fields = HOST HOST } },
		{ { 400, 400, 400 }, { .fields = "Host: a b\r\n" } },
		{ { 400, 400, 400 }, { .fields = "Host:\r\n" } },
		/* methods and targets */
		{ { 200, 200, 200 }, { "PROPFIND", "/?a", .fields = HOST } },
		{ { 200, 200, 200 }, { "OPTIONS", "*", .fields = HOST } },
		{ { 400, 400, 400 }, { "GET", "*", .fields = HOST } },
		{ { 400, 400, 400 }, { "GET", "", .fields = HOST } },
		{ { 400, 400, 400 }, { "GET", "/a b", .fields = HOST } },
		{ { 400, 400, 400 }, { "GET", "/a/../../b", .fields = HOST } },
		{ { 200, 200, 400 }, { "GET", "http://a.b:81/", .fields = HOST } },
		{ { 200, 200, 200 }, { "CONNECT", "a.b:81", .fields = HOST } },
		{ { 400, 400, 400 }, { "CONNECT", "a.b", .fields = HOST } },
		/* bodies */
		{ { 200, 200, 200 }, { .fields = HOST "Content-Length: 0\r\n" } },
		{ { 200, 200, 200 }, { .fields = HOST "Content-Length:10\r\n" } },
		{ { 400, 400, 200 }, { .fields = HOST "Content-Length:  5\r\n" } },
		{ { 400, 400, 200 }, { .fields = HOST "Content-Length: 5 \r\n" } },
		{ { 400, 400, 400 }, { .fields = HOST "Content-Length: 05\r\n" } },
		{ { 400, 400, 400 }, { .fields = HOST "Content-Length: 5a\r\n" } },
		{ { 400, 400, 400 }, { .fields = HOST "Content-Length: +5\r\n" } },
		{ { 400, 400, 400 }, { .fields = HOST "Content-Length: 5, 5\r\n" } },
		{ { 400, 400, 400 }, { .fields = HOST "Content-Length:\r\n" } },
		{ { 400, 400, 400 },
		  { .fields = HOST "Content-Length: 5\r\nContent-Length: 5\r\n" } },
		{ { 200, 200, 200 }, { .fields = HOST "Content-Length: 9223372036854775807\r\n" } },
		{ { 413, 413, 413 }, { .fields = HOST "Content-Length: 9223372036854775808\r\n" } },
		{ { 413, 413, 413 },
		  { .fields = HOST "Content-Length: 18446744073709551616\r\n" } },
		{ { 413, 413, 413 },
		  { .fields = HOST "Content-Length: 184467440737095516160000000000005\r\n" } },
		{ { 400, 200, 400 }, { .fields = HOST "Transfer-Encoding: Chunked\r\n" } },
		{ { 400, 400, 400 }, { .fields = HOST "Transfer-Encoding: gzip\r\n" } },
		{ { 400, 400, 400 },
		  { .fields = HOST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n" } },
		{ { 400, 400, 400 },
		  { .fields = HOST "Content-Type: a/b\r\nContent-Type: a/b\r\n" } },
		/* wishes */
		{ { 200, 417, 417 }, { .fields = HOST "Expect: more\r\n" } },
		{ { 200, 426, 200 },
		  { .fields = HOST "Connection: upgrade\r\nSec-WebSocket-Version: 12\r\n" } },
		{ { 200, 200, 200 },
		  { .fields = HOST "Connection: upgrade\r\nSec-WebSocket-Version: 13\r\n" } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int version = 0; version < VERSIONS; version++) {
			struct judged judged;

			judge(&judged, &cases[i].request, version);
			cr_expect(eq(int, judged.status, cases[i].status[version]), "%zu, HTTP/%s",
				  i, names[version]);
			cr_expect(eq(int, judged.head.problem != NULL, judged.status != 200));
		}
}

Test(rules, hosts_of_http_2)
{
	static const struct {
		int status;
		const char *host;
		struct request request;
	} cases[] = {
		{ 200, "a.b:81", { .authority = "a.b:81", .fields = "" } },
		{ 200, "a.b:81", { .fields = HOST } },
		{ 200, "A.b:81", { .authority = "A.b:81", .fields = HOST } },
		{ 200, "a.b", { .authority = "a.b", .fields = "host: a.b:\r\n" } },
		{ 200, "[::1]:81", { .authority = "[::1]:81", .fields = "host: [::1]:81\r\n" } },
		{ 200, "a.b:81", { "CONNECT", "a.b:81", "a.b:81", "" } },
		{ 400, "", { .authority = "a.b", .fields = HOST } },
		{ 400, "", { .authority = "a.b:80", .fields = HOST } },
		{ 400, "", { .authority = "b.b:81", .fields = HOST } },
		{ 400, "", { .authority = "a.b:81", .fields = HOST HOST } },
		{ 400, "", { .authority = "", .fields = "" } },
		{ 400, "", { .authority = "u@a.b", .fields = "" } },
		{ 400, "", { .authority = "a.b", .fields = "host: a b\r\n" } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct judged judged;

		judge(&judged, &cases[i].request, EDDY_HTTP_2);
		cr_expect(eq(int, judged.status, cases[i].status), "%zu", i);
		cr_expect(eddy_str_eq_z(judged.head.host, cases[i].host), "%zu", i);
	}
}

Test(rules, an_absolute_form_replaces_the_host)
{
	struct judged judged;

	judge(&judged, &(struct request){ "GET", "http://c.d/", .fields = HOST }, EDDY_HTTP_1_1);
	cr_expect(eddy_str_eq_z(judged.head.host, "c.d"));
	judge(&judged, &(struct request){ .fields = HOST }, EDDY_HTTP_1_1);
	cr_expect(eddy_str_eq_z(judged.head.host, "a.b:81"));
}

Test(rules, lengths)
{
	static const struct {
		uint64_t length[VERSIONS];
		const char *fields;
		bool has_length;
	} cases[] = {
		{ { 0, 0, EDDY_LENGTH_UNKNOWN }, HOST, false },
		{ { 0, 0, 0 }, HOST "Content-Length: 0\r\n", true },
		{ { 42, 42, 42 }, HOST "Content-Length: 42\r\n", true },
	};
	struct judged judged;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int version = 0; version < VERSIONS; version++) {
			judge(&judged, &(struct request){ .fields = cases[i].fields }, version);
			cr_expect(eq(u64, judged.head.length, cases[i].length[version]));
			cr_expect(eq(int, judged.ruling.has_length, cases[i].has_length));
			cr_expect(not(judged.ruling.chunked));
		}
	judge(&judged, &(struct request){ .fields = HOST "Transfer-Encoding: chunked\r\n" },
	      EDDY_HTTP_1_1);
	cr_expect(eq(u64, judged.head.length, EDDY_LENGTH_UNKNOWN));
	cr_expect(judged.ruling.chunked && !judged.ruling.has_length);
}

Test(rules, keeps_alive)
{
	static const struct {
		bool keeps[VERSIONS];
		const char *fields;
	} cases[] = {
		{ { false, true, true }, HOST },
		{ { true, true, true }, HOST "Connection: a, Keep-Alive\r\n" },
		{ { false, false, true }, HOST "Connection: close, keep-alive\r\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int version = 0; version < VERSIONS; version++) {
			struct judged judged;

			judge(&judged, &(struct request){ .fields = cases[i].fields }, version);
			cr_expect(eq(int, judged.ruling.keep_alive, cases[i].keeps[version]),
				  "%zu, HTTP/%s", i, names[version]);
		}
}

Test(rules, expects_continue)
{
	static const struct {
		bool expects[VERSIONS];
		const char *fields;
	} cases[] = {
		{ { false, false, false }, HOST "Content-Length: 5\r\n" },
		{ { false, false, true }, HOST "Expect: 100-Continue\r\n" },
		{ { false, true, true }, HOST "Expect: 100-continue\r\nContent-Length: 5\r\n" },
		{ { false, true, true }, HOST "Expect: 100-continue\r\nContent-Length: 0\r\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int version = 0; version < VERSIONS; version++) {
			struct judged judged;

			judge(&judged, &(struct request){ .fields = cases[i].fields }, version);
			cr_expect(eq(int, judged.ruling.expect_continue, cases[i].expects[version]),
				  "%zu, HTTP/%s", i, names[version]);
		}
}
