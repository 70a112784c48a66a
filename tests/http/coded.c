/* Tests of what goes out through a coder (eddy/coder.h). */
#include "hex.h"

#include <sys/mman.h>
#include <unistd.h>

static const struct eddy_coder slow_hex = { .step = hex_step, .end = hex_end, .slow = true };

/* ---- an app ---- */

static void at_head(void *data, struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	if (eddy_res_set_z(res, "content-encoding", "x-hex") == 0)
		eddy_res_code(res, data ? &slow_hex : &hex, hex_new(false));
}

static int encoding(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_on_head(res, at_head, NULL);

	return r < 0 ? r : eddy_next(next, req, res);
}

static int encoding_slowly(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_on_head(res, at_head, res);

	return r < 0 ? r : eddy_next(next, req, res);
}

static int numbers(struct eddy_req *req, struct eddy_res *res)
{
	uint64_t n;
	char *bytes;

	if (eddy_req_path(req, EDDY_TO(&n)) < 0)
		return 400;
	bytes = eddy_req_alloc(req, n + 1);
	for (uint64_t i = 0; i < n; i++)
		bytes[i] = (char)(i * 7 + i / 256);
	return eddy_res_bytes(res, "text/plain", eddy_str(bytes, n));
}

static int make_file(uint64_t n)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	for (uint64_t i = 0; i < n; i++) {
		char byte = (char)(i * 7 + i / 256);

		cr_assert(write(fd, &byte, 1) == 1);
	}
	return fd;
}

static int file(struct eddy_req *req, struct eddy_res *res)
{
	uint64_t n;

	if (eddy_req_path(req, EDDY_TO(&n)) < 0)
		return 400;
	return eddy_res_file(res, EDDY_STR("file.txt"), make_file(n), NULL);
}

static void swap(void *data, struct eddy_req *req, struct eddy_res *res)
{
	(void)data;
	(void)req;
	cr_assert(eddy_res_length(res) == 3 && eddy_res_fd(res) == -1);
	cr_assert(eddy_res_get_status(res) == 200);
	eddy_res_replace(res, make_file(70000), 70000);
}

static int replaced(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_on_head(res, swap, NULL) < 0 ? 500 : eddy_res_ok(res, "abc");
}

static int stream(struct eddy_req *req, struct eddy_res *res)
{
	int r = 0;

	(void)req;
	for (int i = 0; i < 5 && r == 0; i++)
		r = eddy_res_write(res, "line\n", 5);
	return r;
}

/* Bodies that are set after the head was sent. */
static int stream_and_text(struct eddy_req *req, struct eddy_res *res)
{
	int r = stream(req, res);

	return r < 0 ? r : eddy_res_ok(res, "late");
}

static int stream_and_file(struct eddy_req *req, struct eddy_res *res)
{
	int r = stream(req, res);

	return r < 0 ? r : eddy_res_file(res, EDDY_STR("late.txt"), make_file(3), NULL);
}

/* A file of n bytes, after a byte, as a stream of announced length. */
static int part(struct eddy_req *req, struct eddy_res *res)
{
	uint64_t n;
	int fd, r = eddy_req_path(req, EDDY_TO(&n));

	if (r < 0)
		return r;
	fd = make_file(n + 5);
	r = eddy_res_announce(res, n + 1);
	if (r == 0)
		r = eddy_res_write(res, "", 1);
	if (r == 0)
		r = eddy_res_write_file(res, fd, 1, n);
	close(fd);
	return r;
}

/* Pieces of 20,000 bytes. */
static int long_stream(struct eddy_req *req, struct eddy_res *res)
{
	static const char piece[20000];
	uint32_t pieces;
	int r = eddy_req_path(req, EDDY_TO(&pieces));

	for (; r == 0 && pieces; pieces--)
		r = eddy_res_write(res, piece, sizeof(piece));
	return r;
}

static int nothing(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_no_content(res);
}

static void another(void *data, struct eddy_req *req, struct eddy_res *res)
{
	at_head(data, req, res);
}

static int health(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_set_z(res, "x-health", "ok");
}

static int twice(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_on_head(res, another, NULL);

	(void)req;
	return r < 0 ? r : eddy_res_ok(res, "once");
}

/* The filter has asked for the same look already. */
static int again(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_on_head(res, at_head, res);

	(void)req;
	return r < 0 ? r : eddy_res_ok(res, "once");
}

static void expect_digits(struct eddy_str body, uint64_t n)
{
	cr_assert(eq(sz, body.len, n * 2));
	for (uint64_t i = 0; i < n; i++) {
		unsigned char byte = (unsigned char)(i * 7 + i / 256);

		cr_assert(digit(body.ptr[2 * i]) == byte >> 4 &&
				  digit(body.ptr[2 * i + 1]) == (byte & 15),
			  "byte %llu", (unsigned long long)i);
	}
}

static struct eddy_app *make(eddy_filter_fn *filter)
{
	struct eddy_app *app = hex_app();

	eddy_app_map_get(app, "/numbers/{n}", numbers);
	eddy_app_map_get(app, "/file/{n}", file);
	eddy_app_map_get(app, "/replaced", replaced);
	eddy_app_map_get(app, "/stream", stream);
	eddy_app_map_get(app, "/stream/text", stream_and_text);
	eddy_app_map_get(app, "/stream/file", stream_and_file);
	eddy_app_map_get(app, "/long/{n}", long_stream);
	eddy_app_map_get(app, "/part/{n}", part);
	eddy_app_map_get(app, "/nothing", nothing);
	eddy_app_map_get(app, "/twice", twice);
	eddy_app_map_head(app, "/health", health);
	eddy_app_map_get(app, "/again", again);
	if (filter)
		eddy_app_add_filter(app, filter, NULL);
	return app;
}

/* ---- what comes of it ---- */

Test(coded, passes_bytes_and_files_of_every_size)
{
	static const char *const sizes[] = { "0",     "1",     "511",   "4096",  "30000",
					     "33000", "65535", "65536", "65537", "300000" };
	struct eddy_app *app = make(encoding);
	char line[64];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int kind = 0; kind < 2; kind++) {
			struct eddy_response *response;
			struct eddy_str body;

			snprintf(line, sizeof(line), "GET /%s/%s", kind ? "file" : "numbers",
				 sizes[i]);
			response = ask(app, line, NULL, &body);
			expect_digits(body, strtoull(sizes[i], NULL, 10));
			cr_assert(eddy_str_eq_z(eddy_response_header(response, "transfer-encoding"),
						"chunked"));
			cr_assert(eddy_response_header(response, "content-length").ptr == NULL);
			eddy_response_free(response);
		}
	cr_assert(eq(uint, alive, 0));
	cr_assert(eq(uint, whole, 20));
	eddy_app_free(app);
}

Test(coded, takes_long_steps_elsewhere)
{
	struct eddy_app *app = make(encoding_slowly);
	struct eddy_str body;
	struct eddy_response *response = ask(app, "GET /numbers/5000", NULL, &body);

	expect_digits(body, 5000);
	eddy_response_free(response);
	cr_assert(eq(uint, whole, 1));
	cr_assert(gt(uint, elsewhere, 50));
	eddy_app_free(app);
}

/* Bodies that are known to be large, streams once they are; what is small is done at once. */
Test(coded, takes_what_is_large_elsewhere)
{
	static const struct {
		const char *line;
		unsigned least, most;
	} rows[] = {
		{ "GET /numbers/262143", 0, 0 }, { "GET /numbers/262144", 4500, 5400 },
		{ "GET /file/262143", 0, 0 },    { "GET /file/300000", 5000, 6200 },
		{ "GET /long/13", 0, 0 },        { "GET /long/20", 500, 2500 },
		{ "GET /stream", 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct eddy_app *app = make(encoding);
		struct eddy_str body;
		struct eddy_response *response = ask(app, rows[i].line, NULL, &body);

		cr_expect(ge(uint, elsewhere, rows[i].least), "%s: %u", rows[i].line, elsewhere);
		cr_expect(le(uint, elsewhere, rows[i].most), "%s: %u", rows[i].line, elsewhere);
		cr_assert(eq(uint, whole, 1));
		eddy_response_free(response);
		eddy_app_free(app);
	}
}

Test(coded, gives_a_head_what_a_get_gets)
{
	struct eddy_app *app = make(encoding);
	struct eddy_str body;
	struct eddy_response *response = ask(app, "HEAD /numbers/100", NULL, &body);

	cr_assert(eq(sz, body.len, 0));
	cr_assert(eddy_str_eq_z(eddy_response_header(response, "content-encoding"), "x-hex"));
	cr_assert(eddy_str_eq_z(eddy_response_header(response, "transfer-encoding"), "chunked"));
	eddy_response_free(response);
	cr_assert(eq(uint, alive, 0));
	eddy_app_free(app);
}

Test(coded, flushes_each_write_of_a_stream)
{
	struct eddy_app *app = make(encoding);
	struct eddy_str body;
	struct eddy_response *response = ask(app, "GET /stream", NULL, &body);

	cr_assert(eddy_str_eq_z(body, "6c696e650a6c696e650a6c696e650a6c696e650a6c696e650a"));
	cr_assert(eq(uint, flushed, 5));
	cr_assert(eq(uint, whole, 1));
	eddy_response_free(response);
	eddy_app_free(app);
}

/* Without the length that was announced. */
Test(coded, passes_parts_of_files)
{
	static const uint64_t sizes[] = { 0, 1, 5000, 65536, 300000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct eddy_app *app = make(encoding);
		struct eddy_response *response;
		struct eddy_str body;
		char line[64];

		snprintf(line, sizeof(line), "GET /part/%llu", (unsigned long long)sizes[i]);
		response = ask(app, line, NULL, &body);
		expect_digits(body, sizes[i] + 1);
		cr_assert(eddy_str_eq_z(eddy_response_header(response, "transfer-encoding"),
					"chunked"));
		cr_assert(eddy_response_header(response, "content-length").ptr == NULL);
		cr_assert(eq(uint, flushed, sizes[i] ? 2 : 1));
		cr_assert(eq(uint, whole, 1));
		eddy_response_free(response);
		eddy_app_free(app);
		app = make(NULL);
		response = ask(app, line, NULL, &body);
		cr_assert(eq(sz, body.len, sizes[i] + 1));
		cr_assert(eddy_response_header(response, "content-length").ptr != NULL);
		eddy_response_free(response);
		eddy_app_free(app);
	}
}

Test(coded, ends_a_stream_without_what_was_set_too_late)
{
	static const char *const lines[] = { "GET /stream/text", "GET /stream/file" };
	static eddy_filter_fn *const filters[] = { NULL, encoding };
	static const char *const bodies[] = { "line\nline\nline\nline\nline\n",
					      "6c696e650a6c696e650a6c696e650a6c696e650a6c696e650a" };

	for (size_t i = 0; i < 4; i++) {
		struct eddy_app *app = make(filters[i / 2]);
		struct eddy_str body;
		struct eddy_response *response = ask(app, lines[i % 2], NULL, &body);

		cr_expect(eddy_str_eq_z(body, bodies[i / 2]), "%s: %.*s", lines[i % 2],
			  EDDY_FMT(body));
		eddy_response_free(response);
		eddy_app_free(app);
	}
}

Test(coded, leaves_what_has_no_body)
{
	struct eddy_app *app = make(encoding);
	struct eddy_str body;
	struct eddy_response *response = ask(app, "GET /nothing", NULL, &body);

	cr_assert(eq(int, eddy_response_status(response), 204));
	cr_assert(eddy_response_header(response, "transfer-encoding").ptr == NULL);
	cr_assert(eq(uint, broken, 1));
	eddy_response_free(response);
	eddy_app_free(app);
}

Test(coded, leaves_a_head_that_says_nothing_of_a_body)
{
	struct eddy_app *app = make(encoding);
	struct eddy_str body;
	struct eddy_response *response = ask(app, "HEAD /health", NULL, &body);

	cr_assert(eddy_str_eq_z(eddy_response_header(response, "x-health"), "ok"));
	cr_assert(eddy_response_header(response, "transfer-encoding").ptr == NULL);
	cr_assert(eddy_response_header(response, "content-length").ptr == NULL);
	cr_assert(eq(uint, broken, 1));
	eddy_response_free(response);
	eddy_app_free(app);
}

Test(coded, passes_errors_too)
{
	struct eddy_app *app = make(encoding);
	struct eddy_str body;
	struct eddy_response *response = ask(app, "GET /missing", NULL, &body);

	cr_assert(eq(int, eddy_response_status(response), 404));
	cr_assert(eddy_str_starts(body, eddy_str_from("7b2274797065223a")), "{\"type\":");
	eddy_response_free(response);
	eddy_app_free(app);
}

Test(coded, is_one_at_most)
{
	struct eddy_app *app = make(encoding);
	struct eddy_str body;
	struct eddy_response *response = ask(app, "GET /twice", NULL, &body);

	cr_assert(eddy_str_eq_z(body, "6f6e6365"));
	cr_assert(whole == 1 && broken == 1 && alive == 0);
	eddy_response_free(response);
	eddy_app_free(app);
}

Test(coded, one_look_is_taken_once)
{
	struct eddy_app *app = make(encoding);
	struct eddy_str body;
	struct eddy_response *response = ask(app, "GET /again", NULL, &body);

	cr_assert(eddy_str_eq_z(body, "6f6e6365"));
	cr_assert(whole == 1 && broken == 0 && alive == 0);
	eddy_response_free(response);
	eddy_app_free(app);
}

Test(coded, a_body_may_be_replaced)
{
	struct eddy_app *app = make(NULL);
	struct eddy_str body;
	struct eddy_response *response = ask(app, "GET /replaced", NULL, &body);

	cr_assert(eq(sz, body.len, 70000));
	for (size_t i = 0; i < body.len; i++)
		cr_assert(body.ptr[i] == (char)(i * 7 + i / 256));
	cr_assert(eddy_str_eq_z(eddy_response_header(response, "transfer-encoding"), "chunked"));
	eddy_response_free(response);
	eddy_app_free(app);
}
