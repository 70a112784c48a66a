/* Tests of eddy/body_limit.h. */
#include "ask.h"

#include <eddy/body_limit.h>

static int len(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	int r = eddy_req_body(req, &body);

	return r < 0 ? r : eddy_res_ok(res, "%zu", body.len);
}

/* One that reads as it comes, and knows no limit of its own. */
static int count(struct eddy_req *req, struct eddy_res *res)
{
	size_t sum = 0;
	char piece[3];
	ssize_t r;

	while ((r = eddy_req_read(req, piece, sizeof(piece))) > 0)
		sum += (size_t)r;
	return r < 0 ? (int)r : eddy_res_ok(res, "%zu", sum);
}

static struct eddy_app *limited(void)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *group = eddy_app_group(app, "/g");

	eddy_app_use_body_limit(app, 10);
	eddy_app_use_body_limit(group, 5);
	eddy_app_map_post(app, "/len", len);
	eddy_app_map_post(app, "/count", count);
	eddy_app_map_post(group, "/len", len);
	eddy_app_use_body_limit(eddy_app_map_post(group, "/count", count), 20);
	return app;
}

#define SIZED(path, size, body) "POST " path " HTTP/1.1\n" HOST "Content-Length: " size "\n\n" body
#define CHUNKED(path, body) "POST " path " HTTP/1.1\n" HOST "Transfer-Encoding: chunked\n\n" body

static void expect_too_large(struct eddy_app *app, const char *request)
{
	struct asked asked;

	ask(&asked, app, request);
	cr_expect(eq(int, asked.status, 413), "%s", request);
	ask_end(&asked);
}

Test(body_limit, of_announced_length)
{
	struct eddy_app *app = limited();

	EXPECT_ANSWER(app, SIZED("/len", "10", "0123456789"), "200 10");
	EXPECT_ANSWER(app, SIZED("/count", "10", "0123456789"), "200 10");
	/* Nothing of it has arrived, and nothing is waited for. */
	expect_too_large(app, SIZED("/len", "11", ""));
	expect_too_large(app, SIZED("/count", "11", ""));
	EXPECT_ANSWER(app, SIZED("/g/len", "5", "01234"), "200 5");
	expect_too_large(app, SIZED("/g/len", "6", ""));
	/* A wider one within does not widen it. */
	expect_too_large(app, SIZED("/g/count", "6", ""));
	eddy_app_free(app);
}

Test(body_limit, of_chunks)
{
	struct eddy_app *app = limited();

	EXPECT_ANSWER(app, CHUNKED("/count", "4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n"), "200 10");
	EXPECT_ANSWER(app, CHUNKED("/len", "4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n"), "200 10");
	expect_too_large(app, CHUNKED("/count", "4\r\n0123\r\n7\r\n4567890\r\n0\r\n\r\n"));
	expect_too_large(app, CHUNKED("/len", "4\r\n0123\r\n7\r\n4567890\r\n0\r\n\r\n"));
	/* Known from the size of the chunk, before it has come. */
	expect_too_large(app, CHUNKED("/count", "b\r\n"));
	expect_too_large(app, CHUNKED("/count", "fffffff\r\n"));
	expect_too_large(app, CHUNKED("/g/count", "6\r\n012345\r\n0\r\n\r\n"));
	eddy_app_free(app);
}
