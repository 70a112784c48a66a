/* Tests of http/src/http1/reply_head.h. */
#include "http1/reply_head.h"

#include "exchange/exchange.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <stdio.h>

static struct eddy_app *app;
static struct eddyi_clocks clocks;
static struct eddy_req *req;

static void begin(void)
{
	app = eddy_app_new();
	eddyi_clocks_init(&clocks, &(struct eddy_server_options){ 0 }, 0);
	req = eddyi_req_new(app, NULL, sizeof(*req));
	cr_assert(req != NULL);
	req->head.method = EDDYI_METHOD_GET;
	req->head.version = EDDY_HTTP_1_1;
}

static void end(void)
{
	eddyi_req_free(req);
	eddy_app_free(app);
}

TestSuite(reply_head, .init = begin, .fini = end);

/* The head of a response with a body of `length` is `status`, what every head has, and `fields`. */
static struct eddyi_reply expect_head(uint64_t length, bool may_keep, const char *status,
				      const char *fields)
{
	struct eddyi_reply reply;
	struct eddy_str head;
	char want[512];

	eddyi_reply_begin(&reply, req, length, may_keep);
	head = eddyi_reply_head(&reply, req, &clocks, 0);
	snprintf(want, sizeof(want), "HTTP/1.1 %s%.*s%s\r\n", status,
		 EDDY_FMT(eddyi_clocks_own_lines(&clocks)), fields);
	cr_expect(eddy_str_eq_z(head, want), "got %.*s, not %s", EDDY_FMT(head), want);
	return reply;
}

Test(reply_head, of_a_body_whose_length_is_known)
{
	struct eddyi_reply reply = expect_head(5, true, "200 OK", "content-length: 5\r\n");

	cr_expect(reply.keep);
	cr_expect(not(reply.silent));
	cr_expect(not(reply.chunked));
	expect_head(0, true, "200 OK", "content-length: 0\r\n");
	expect_head(UINT64_MAX - 1, true, "200 OK", "content-length: 18446744073709551614\r\n");
	/* A handler for HEAD need not know it. */
	expect_head(EDDY_LENGTH_UNKNOWN, true, "200 OK", "");
}

Test(reply_head, of_a_body_whose_length_is_not_known)
{
	struct eddyi_reply reply;

	req->res.unsized = true;
	reply = expect_head(5, true, "200 OK", "transfer-encoding: chunked\r\n");
	cr_expect(reply.chunked);
	cr_expect(reply.keep);
	/* HTTP/1.0 knows no chunks: the end of the connection is that of the body. */
	req->head.version = EDDY_HTTP_1_0;
	reply = expect_head(5, true, "200 OK", "connection: close\r\n");
	cr_expect(not(reply.chunked));
	cr_expect(not(reply.keep));
}

Test(reply_head, of_no_body)
{
	struct eddyi_reply reply;

	req->res.status = 304;
	req->res.unsized = true;
	reply = expect_head(5, true, "304 Not Modified", "");
	cr_expect(reply.silent);
	cr_expect(reply.keep);
	cr_expect(not(reply.chunked));
	req->res.status = 200;
	req->res.unsized = false;
	req->head.method = EDDYI_METHOD_HEAD;
	reply = expect_head(5, true, "200 OK", "content-length: 5\r\n");
	cr_expect(reply.silent);
}

Test(reply_head, says_whether_the_connection_is_kept)
{
	cr_expect(not(
		expect_head(5, false, "200 OK", "content-length: 5\r\nconnection: close\r\n").keep));
	req->head.version = EDDY_HTTP_1_0;
	cr_expect(expect_head(5, true, "200 OK", "content-length: 5\r\nconnection: keep-alive\r\n")
			  .keep);
}

Test(reply_head, has_the_fields_of_the_response)
{
	cr_assert_eq(eddy_res_set_z(&req->res, "x-one", "1"), 0);
	cr_assert_eq(eddy_res_set_z(&req->res, "x-two", ""), 0);
	req->res.status = 599;
	expect_head(0, true, "599 Unknown", "x-one: 1\r\nx-two: \r\ncontent-length: 0\r\n");
}

/* The body is appended to the head, to be sent with it. */
Test(reply_head, leaves_room)
{
	struct eddyi_reply reply;
	struct eddy_str head, next;

	eddyi_reply_begin(&reply, req, 100, true);
	head = eddyi_reply_head(&reply, req, &clocks, 100);
	memset((char *)head.ptr + head.len, 'x', 100);
	next = eddyi_arena_dup(&req->arena, EDDY_STR("next"));
	cr_expect(next.ptr >= head.ptr + head.len + 100 || next.ptr < head.ptr);
	cr_expect_arr_eq(head.ptr + head.len - 4, "\r\n\r\n", 4);
}

Test(reply_head, has_room_for_many_fields)
{
	struct eddyi_reply reply;
	struct eddy_str head;
	char name[8];

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "x-%d", i);
		cr_assert_eq(eddy_res_set_z(&req->res, name, "v"), 0);
	}
	eddyi_reply_begin(&reply, req, 0, true);
	head = eddyi_reply_head(&reply, req, &clocks, 0);
	cr_expect(memmem(head.ptr, head.len, "\r\nx-199: v\r\n", 12) != NULL);
	cr_expect_arr_eq(head.ptr + head.len - 4, "\r\n\r\n", 4);
}

Test(reply_head, interim)
{
	static const struct eddy_header fields[] = { { "location", " /a " }, { "x", "" }, { 0 } };
	struct eddy_str head = eddyi_reply_interim(&req->arena, 104, fields);

	cr_expect(eddy_str_eq_z(head, "HTTP/1.1 104 Upload Resumption Supported\r\n"
				      "location: /a\r\nx: \r\n\r\n"));
	head = eddyi_reply_interim(&req->arena, 102, NULL);
	cr_expect(eddy_str_eq_z(head, "HTTP/1.1 102 Processing\r\n\r\n"));
}
