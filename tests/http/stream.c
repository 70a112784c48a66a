/* Tests of http/src/exchange/stream.h: the same requests over a connection and in memory come to the same. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/coder.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGE ((size_t)300000)

static char large[LARGE];
static char dir_path[] = "/tmp/eddy-stream-XXXXXX";
static int dir;

static int small(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "hello");
}

static int echo(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	int r = eddy_req_body(req, &body);

	return r < 0 ? r : eddy_res_bytes(res, "application/octet-stream", body);
}

static int save(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_saved saved;
	int r = eddy_req_save_at(req, dir, EDDY_STR("up"), NULL, &saved);

	return r < 0 ? r : eddy_res_file_at(res, dir, EDDY_STR("up"));
}

static int stream(struct eddy_req *req, struct eddy_res *res)
{
	int r = 0;

	(void)req;
	for (int i = 0; i < 100 && r == 0; i++)
		r = eddy_res_write(res, large, 3000);
	return r;
}

static int file(struct eddy_req *req, struct eddy_res *res)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	(void)req;
	if (write(fd, large, LARGE) != (ssize_t)LARGE)
		return 500;
	return eddy_res_file(res, EDDY_STR("file.txt"), fd, NULL);
}

/* Parts of a file between bytes; one more than the file has if the query says so. */
static int parts(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str query = eddy_req_query(req);
	size_t more = eddy_str_eq_z(query, "short");
	int fd = memfd_create("parts", MFD_CLOEXEC);
	int r = write(fd, large, LARGE) == (ssize_t)LARGE ? 0 : -EIO;

	if (r == 0 && !eddy_str_eq_z(query, "chunked"))
		r = eddy_res_announce(res, 3 + 5 + LARGE - 1000 + 3 + more);
	if (r == 0)
		r = eddy_res_write(res, "one", 3);
	if (r == 0)
		r = eddy_res_write_file(res, fd, 7, 5);
	if (r == 0)
		r = eddy_res_write_file(res, fd, 7, 0);
	if (r == 0)
		r = eddy_res_write_file(res, fd, 1000, LARGE - 1000 + more);
	if (r == 0)
		r = eddy_res_write(res, "two", 3);
	close(fd);
	return r;
}

/* Nothing but a file, small enough to be copied behind the head. */
static int part(struct eddy_req *req, struct eddy_res *res)
{
	int fd = memfd_create("part", MFD_CLOEXEC);
	int r = write(fd, "0123456789", 10) == 10 ? 0 : -EIO;

	(void)req;
	if (r == 0)
		r = eddy_res_write_file(res, fd, 2, 5);
	close(fd);
	return r;
}

/* A layer has another file for the body, which is empty. */
static int empty(struct eddy_req *req, struct eddy_res *res)
{
	int r = small(req, res);

	eddy_res_replace(res, memfd_create("empty", MFD_CLOEXEC), 0);
	return r;
}

static int nothing(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_no_content(res);
}

static int half(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_res_write(res, "half", 4);
	return -EIO;
}

static struct eddy_app *make_app(void)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/small", small);
	eddy_app_map_post(app, "/echo", echo);
	eddy_app_map_post(app, "/save", save);
	eddy_app_map_get(app, "/stream", stream);
	eddy_app_map_get(app, "/file", file);
	eddy_app_map_get(app, "/parts", parts);
	eddy_app_map_get(app, "/part", part);
	eddy_app_map_get(app, "/empty", empty);
	eddy_app_map_get(app, "/nothing", nothing);
	eddy_app_map_get(app, "/half", half);
	return app;
}

static ssize_t pull(void *data, void *buf, size_t len)
{
	size_t *given = data, left = LARGE - *given;

	if (len > left)
		len = left;
	if (len > 7000)
		len = 7000;
	memcpy(buf, large + *given, len);
	*given += len;
	return (ssize_t)len;
}

enum body {
	NONE,
	FEW,
	BYTES,
	TOO_MANY,
	A_FILE,
	PULLED,
	TOO_LONG,  /* pulled, and announced as shorter */
	TOO_SHORT, /* and as longer */
};

static const struct row {
	const char *method, *path;
	enum body body;
	const char *range;
	int status; /* below 0: of the call */
} rows[] = {
	{ "GET", "/small", NONE, NULL, 200 },
	{ "HEAD", "/small", NONE, NULL, 200 },
	{ "GET", "/none", NONE, NULL, 404 },
	{ "DELETE", "/small", NONE, NULL, 405 },
	{ "GET", "/%00", NONE, NULL, 400 },
	{ "GET", "/..", NONE, NULL, 400 },
	{ "GET", "/empty", NONE, NULL, 200 },
	{ "GET", "/nothing", NONE, NULL, 204 },
	{ "GET", "/stream", NONE, NULL, 200 },
	{ "HEAD", "/stream", NONE, NULL, 200 },
	{ "GET", "/file", NONE, NULL, 200 },
	{ "HEAD", "/file", NONE, NULL, 200 },
	{ "GET", "/file", NONE, "bytes=5-9", 206 },
	{ "GET", "/file", NONE, "bytes=-100000", 206 },
	{ "GET", "/file", NONE, "bytes=0-9,100000-299999", 206 },
	{ "GET", "/file", NONE, "bytes=400000-", 416 },
	{ "GET", "/half", NONE, NULL, -ECONNRESET },
	{ "GET", "/part", NONE, NULL, 200 },
	{ "GET", "/parts", NONE, NULL, 200 },
	{ "GET", "/parts?chunked", NONE, NULL, 200 },
	{ "GET", "/parts?short", NONE, NULL, -ECONNRESET },
	{ "HEAD", "/parts", NONE, NULL, 200 },
	{ "HEAD", "/parts?chunked", NONE, NULL, 200 },
	{ "POST", "/small", BYTES, NULL, 405 }, /* which does not read it */
	{ "POST", "/echo", NONE, NULL, 200 },
	{ "POST", "/echo", FEW, NULL, 200 },
	{ "POST", "/echo", BYTES, NULL, 200 },
	{ "POST", "/echo", A_FILE, NULL, 200 },
	{ "POST", "/echo", PULLED, NULL, 200 },
	{ "POST", "/echo", TOO_MANY, NULL, 413 },
	{ "POST", "/echo", TOO_LONG, NULL, -EINVAL },
	{ "POST", "/echo", TOO_SHORT, NULL, -EINVAL },
	{ "POST", "/save", FEW, NULL, 200 },
	{ "POST", "/save", BYTES, NULL, 200 },
	{ "POST", "/save", A_FILE, NULL, 200 },
	{ "POST", "/save", PULLED, NULL, 200 },
};

#define ROWS (sizeof(rows) / sizeof(*rows))

/* What came of a row. */
struct got {
	int status;
	char fields[600];
	char *body;
	size_t len;
};

struct talk {
	struct eddy_app *app;
	char address[64];
	struct got over[ROWS], within[ROWS];
	int r;
};

/* Not those that differ by nature: the time and random boundaries. */
static bool is_compared(struct eddy_str name, struct eddy_str value)
{
	return !eddy_str_eq_nocase(name, EDDY_STR("date")) &&
	       !eddy_str_eq_nocase(name, EDDY_STR("etag")) &&
	       !eddy_str_eq_nocase(name, EDDY_STR("last-modified")) &&
	       !eddy_str_starts(value, EDDY_STR("multipart/"));
}

static int keep(struct got *got, struct eddy_response *response)
{
	struct eddy_str name, value, body;
	size_t at = 0;
	int r = eddy_response_body(response, &body);

	got->status = r < 0 ? r : eddy_response_status(response);
	for (size_t i = 0; i < eddy_response_header_count(response); i++) {
		eddy_response_header_at(response, i, &name, &value);
		if (is_compared(name, value))
			at += (size_t)snprintf(got->fields + at, sizeof(got->fields) - at,
					       "%.*s: %.*s\n", EDDY_FMT(name), EDDY_FMT(value));
	}
	if (r == 0) {
		got->body = malloc(body.len + 1);
		memcpy(got->body, body.ptr, body.len);
		got->len = body.len;
	}
	eddy_response_free(response);
	return 0;
}

static void ask(struct talk *talk, struct eddy_client *client, const struct row *row,
		struct got *got)
{
	static char too_many[2 << 20];
	struct eddy_header headers[] = { { "range", row->range }, { 0 } };
	struct eddy_client_file upload = { memfd_create("body", MFD_CLOEXEC), 0, LARGE };
	struct eddy_client_request request = { .method = row->method };
	struct eddy_response *response;
	size_t given = 0;
	char line[64];
	int r;

	cr_assert(write(upload.fd, large, LARGE) == (ssize_t)LARGE);
	if (row->range)
		request.headers = headers;
	if (row->body == FEW)
		request.body = EDDY_STR("few");
	if (row->body == BYTES)
		request.body = eddy_str(large, LARGE);
	if (row->body == TOO_MANY)
		request.body = eddy_str(too_many, sizeof(too_many));
	if (row->body == A_FILE)
		request.file = &upload;
	if (row->body >= PULLED) {
		request.pull = pull;
		request.pull_data = &given;
		request.pull_len = row->body == TOO_LONG  ? LARGE / 7000 * 7000 :
				   row->body == TOO_SHORT ? LARGE + 1 :
							    0;
	}
	if (client) {
		snprintf(line, sizeof(line), "http://localhost%s", row->path);
		/* The app may not listen yet. */
		while ((r = eddy_client_send(client, line, &request, &response)) == -ENOENT ||
		       r == -ECONNREFUSED)
			eddy_sleep(EDDY_MS);
	} else {
		snprintf(line, sizeof(line), "%s %s", row->method, row->path);
		r = eddy_app_test(talk->app, line, &request, &response);
	}
	close(upload.fd);
	got->status = r;
	if (r == 0)
		keep(got, response);
}

static int run(void *arg)
{
	return eddy_app_run(arg);
}

static int talk_over(void *arg)
{
	struct talk *talk = arg;
	struct eddy_client *client =
		eddy_client_new(&(struct eddy_client_options){ .connect = talk->address });
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "app", run, talk->app);
	for (size_t i = 0; i < ROWS; i++)
		ask(talk, client, &rows[i], &talk->over[i]);
	eddy_client_free(client);
	eddy_app_shutdown(talk->app);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return 0;
}

static int talk_within(void *arg)
{
	struct talk *talk = arg;

	for (size_t i = 0; i < ROWS; i++)
		ask(talk, NULL, &rows[i], &talk->within[i]);
	return 0;
}

/* Apart from the boundaries, which are random, a multipart body is as long. */
static bool is_same_body(const struct row *row, const struct got *a, const struct got *b)
{
	if (row->range && strchr(row->range, ','))
		return a->len == b->len && a->len > 200000;
	return a->len == b->len && (!a->len || memcmp(a->body, b->body, a->len) == 0);
}

/* The bytes that parts() sends. */
static void expect_parts(const struct got *got)
{
	const size_t rest = LARGE - 1000;

	cr_assert_eq(got->len, 8 + rest + 3);
	cr_expect(memcmp(got->body, "one", 3) == 0 && memcmp(got->body + 3, large + 7, 5) == 0);
	cr_expect(memcmp(got->body + 8, large + 1000, rest) == 0);
	cr_expect(memcmp(got->body + 8 + rest, "two", 3) == 0);
}

static void compare(const struct eddy_transfer_options *technique)
{
	static struct talk talk;

	for (size_t i = 0; i < LARGE; i++)
		large[i] = (char)(i * 7 + i / 256);
	cr_assert(mkdtemp(dir_path) != NULL);
	dir = open(dir_path, O_DIRECTORY | O_CLOEXEC);
	snprintf(talk.address, sizeof(talk.address), "unix:%s/socket", dir_path);
	talk.app = make_app();
	cr_assert(eq(int, eddy_run(NULL, talk_within, &talk), 0));
	eddy_app_free(talk.app);
	talk.app = make_app();
	eddy_app_bind(talk.app, talk.address);
	eddy_app_with_server(talk.app, &(struct eddy_server_options){ .transfer = technique });
	cr_assert(eq(int, eddy_run(NULL, talk_over, &talk), 0));
	for (size_t i = 0; i < ROWS; i++) {
		const struct got *over = &talk.over[i], *within = &talk.within[i];
		const char *path = rows[i].path;

		cr_expect_eq(over->status, rows[i].status, "%zu %s: %d", i, path, over->status);
		cr_expect_eq(within->status, rows[i].status, "%zu %s: %d", i, path, within->status);
		if (rows[i].status > 0)
			cr_expect_str_eq(within->fields, over->fields, "%zu %s", i, path);
		cr_expect(is_same_body(&rows[i], over, within), "%zu %s: %zu, %zu", i, path,
			  over->len, within->len);
		if (eddy_str_starts(eddy_str_from(path), EDDY_STR("/parts")) &&
		    strcmp(rows[i].method, "GET") == 0 && rows[i].status == 200) {
			bool is_chunked = strstr(over->fields, "transfer-encoding: chunked");

			expect_parts(over);
			cr_expect_eq(is_chunked, strcmp(path, "/parts") != 0, "%s", path);
		}
		free(over->body);
		free(within->body);
	}
	eddy_app_free(talk.app);
	unlinkat(dir, "up", 0);
	unlinkat(dir, "socket", 0);
	close(dir);
	rmdir(dir_path);
}

Test(stream, is_the_same_in_memory)
{
	compare(&(struct eddy_transfer_options){ 0 });
}

/* Whatever the size of a file, it is not copied behind the head. */
Test(stream, is_the_same_by_sendfile)
{
	compare(&(struct eddy_transfer_options){ .technique = EDDY_TECHNIQUE_SENDFILE });
}
