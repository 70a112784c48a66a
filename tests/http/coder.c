/* Tests of eddy/coder.h, by a coding that writes each byte as two digits. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/coder.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the coding ---- */

struct hex {
	bool decodes;
	bool odd; /* a digit has come and waits for the second */
	unsigned char half;
	uint64_t left; /* bytes that may still come out */
	bool asked_to_end;
};

static unsigned alive, whole, broken, flushed, elsewhere, switches, steps;
static const void *stepped_last;

static struct hex *hex_new(bool decodes)
{
	struct hex *hex = calloc(1, sizeof(*hex));

	cr_assert(hex != NULL);
	hex->decodes = decodes;
	hex->left = UINT64_MAX;
	alive++;
	return hex;
}

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Write one digit, the first or the second of a byte. */
static int encode_one(struct hex *hex, struct eddy_coder_io *io)
{
	unsigned char byte = (unsigned char)*io->in;

	if (!io->out_len)
		return 0;
	*io->out++ = "0123456789abcdef"[hex->odd ? byte & 15 : byte >> 4];
	io->out_len--;
	io->in += hex->odd;
	io->in_len -= hex->odd;
	hex->odd = !hex->odd;
	return 1;
}

static int decode_one(struct hex *hex, struct eddy_coder_io *io)
{
	int value = digit(*io->in);

	if (value < 0)
		return -EBADMSG;
	if (!hex->odd) {
		hex->half = (unsigned char)value;
	} else if (!io->out_len) {
		return 0;
	} else if (!hex->left) {
		return -EMSGSIZE;
	} else {
		*io->out++ = (char)(hex->half << 4 | value);
		io->out_len--;
		hex->left--;
	}
	hex->odd = !hex->odd;
	io->in++;
	io->in_len--;
	return 1;
}

/* No more than 100 bytes a step: a long body takes many. */
static int hex_step(void *state, struct eddy_coder_io *io, enum eddy_coder_op op)
{
	struct hex *hex = state;

	elsewhere += gettid() != getpid();
	steps++;
	switches += stepped_last != state;
	stepped_last = state;
	for (int i = 0; i < 100 && io->in_len; i++) {
		int r = hex->decodes ? decode_one(hex, io) : encode_one(hex, io);

		if (r <= 0)
			return r;
	}
	if (io->in_len)
		return 0;
	if (op == EDDY_CODER_FLUSH)
		flushed++;
	return op == EDDY_CODER_END && hex->odd ? -EBADMSG : 1;
}

static void hex_end(void *state, bool was_whole)
{
	alive--;
	if (was_whole)
		whole++;
	else
		broken++;
	free(state);
}

static const struct eddy_coder hex = { .step = hex_step, .end = hex_end };
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

static int decoding(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	struct hex *state = hex_new(true);
	int r;

	state->left = 100000;
	r = eddy_req_decode(req, &hex, state);
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
	return eddy_res_file(res, eddy_str("file.txt", 8), make_file(n));
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

static int size(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	int r = eddy_req_body(req, &body);

	if (r < 0)
		return r;
	cr_assert(eddy_req_length(req) == EDDY_LENGTH_UNKNOWN);
	return eddy_res_ok(res, "%zu %.*s", body.len, (int)(body.len < 9 ? body.len : 9), body.ptr);
}

static int save(struct eddy_req *req, struct eddy_res *res)
{
	int dir = *(int *)eddy_req_context(req);
	struct eddy_saved saved;
	int r = eddy_req_save_at(req, dir, eddy_str("it", 2), NULL, &saved);

	return r < 0 ? r : eddy_res_ok(res, "%llu", (unsigned long long)saved.size);
}

static struct eddy_app *make(eddy_filter_fn *filter)
{
	struct eddy_app *app = eddy_app_new();

	alive = whole = broken = flushed = elsewhere = switches = steps = 0;
	stepped_last = NULL;
	eddy_app_map_get(app, "/numbers/{n}", numbers);
	eddy_app_map_get(app, "/file/{n}", file);
	eddy_app_map_get(app, "/replaced", replaced);
	eddy_app_map_get(app, "/stream", stream);
	eddy_app_map_get(app, "/long/{n}", long_stream);
	eddy_app_map_get(app, "/nothing", nothing);
	eddy_app_map_get(app, "/twice", twice);
	eddy_app_map_head(app, "/health", health);
	eddy_app_map_get(app, "/again", again);
	eddy_app_map_post(app, "/size", size);
	eddy_app_map_post(app, "/save", save);
	if (filter)
		eddy_app_add_filter(app, filter);
	return app;
}

static struct eddy_response *ask(struct eddy_app *app, const char *line,
				 const struct eddy_client_request *request,
				 struct eddy_str *ret_body)
{
	struct eddy_response *response = NULL;

	cr_assert(eq(int, eddy_app_test(app, line, request, &response), 0), "%s", line);
	cr_assert(eq(int, eddy_response_body(response, ret_body), 0));
	return response;
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

/* ---- responses ---- */

Test(coder, passes_bytes_and_files_of_every_size)
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

Test(coder, takes_long_steps_elsewhere)
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
Test(coder, takes_what_is_large_elsewhere)
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

/* ---- many at once ---- */

struct crowd {
	struct eddy_app *app;
	struct eddy_scope scope;
	unsigned steps_before_small;
	bool failed;
};

static int ask_in_crowd(struct crowd *crowd, const char *line, size_t want)
{
	struct eddy_response *response = NULL;
	struct eddy_str body = { 0 };
	int r = eddy_app_test(crowd->app, line, NULL, &response);

	if (r == 0)
		r = eddy_response_body(response, &body);
	crowd->failed |= r < 0 || body.len != want;
	eddy_response_free(response);
	return 0;
}

static int ask_large(void *arg)
{
	ask_in_crowd(arg, "GET /numbers/60000", 120000);
	return 0;
}

static int ask_small(void *arg)
{
	struct crowd *crowd = arg;

	ask_in_crowd(crowd, "GET /numbers/10", 20);
	crowd->steps_before_small = steps;
	return 0;
}

static int be_a_crowd(void *arg)
{
	struct crowd *crowd = arg;

	eddy_scope_begin(&crowd->scope, NULL);
	for (int i = 0; i < 5; i++)
		eddy_scope_spawn(&crowd->scope, "large", ask_large, crowd);
	eddy_scope_spawn(&crowd->scope, "small", ask_small, crowd);
	eddy_scope_join(&crowd->scope);
	return eddy_scope_end(&crowd->scope);
}

/* Steps of one are not mixed with those of others; who is small is not in the queue. */
Test(coder, large_ones_take_turns)
{
	struct crowd crowd = { .app = make(encoding) };

	cr_assert(eq(int, eddy_run(NULL, be_a_crowd, &crowd), 0));
	cr_assert(not(crowd.failed));
	cr_assert(eq(uint, whole, 6));
	/* Each has 1,200 steps; once in a while one waits for its peer. */
	cr_expect(le(uint, switches, 40), "%u", switches);
	cr_expect(le(uint, crowd.steps_before_small, 300), "%u", crowd.steps_before_small);
	eddy_app_free(crowd.app);
}

Test(coder, gives_a_head_what_a_get_gets)
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

Test(coder, flushes_each_write_of_a_stream)
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

Test(coder, leaves_what_has_no_body)
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

Test(coder, leaves_a_head_that_says_nothing_of_a_body)
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

Test(coder, passes_errors_too)
{
	struct eddy_app *app = make(encoding);
	struct eddy_str body;
	struct eddy_response *response = ask(app, "GET /missing", NULL, &body);

	cr_assert(eq(int, eddy_response_status(response), 404));
	cr_assert(eddy_str_starts(body, eddy_str_from("7b2274797065223a")), "{\"type\":");
	eddy_response_free(response);
	eddy_app_free(app);
}

Test(coder, is_one_at_most)
{
	struct eddy_app *app = make(encoding);
	struct eddy_str body;
	struct eddy_response *response = ask(app, "GET /twice", NULL, &body);

	cr_assert(eddy_str_eq_z(body, "6f6e6365"));
	cr_assert(whole == 1 && broken == 1 && alive == 0);
	eddy_response_free(response);
	eddy_app_free(app);
}

Test(coder, one_look_is_taken_once)
{
	struct eddy_app *app = make(encoding);
	struct eddy_str body;
	struct eddy_response *response = ask(app, "GET /again", NULL, &body);

	cr_assert(eddy_str_eq_z(body, "6f6e6365"));
	cr_assert(whole == 1 && broken == 0 && alive == 0);
	eddy_response_free(response);
	eddy_app_free(app);
}

Test(coder, a_body_may_be_replaced)
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

/* ---- requests ---- */

static int post(const char *path, struct eddy_str sent, char *ret_text, size_t text_size)
{
	char folder[] = "/tmp/eddy-coder-XXXXXX";
	struct eddy_app *app = make(decoding);
	const struct eddy_header *fields =
		(const struct eddy_header[]){ { "content-encoding", "x-hex" }, { 0 } };
	struct eddy_client_request request = { .method = "POST", .body = sent, .headers = fields };
	struct eddy_response *response;
	struct eddy_str body;
	char line[64];
	int status, dir;

	cr_assert(mkdtemp(folder) != NULL);
	dir = open(folder, O_DIRECTORY | O_CLOEXEC);
	eddy_app_set_context(app, &dir);
	snprintf(line, sizeof(line), "POST %s", path);
	response = ask(app, line, &request, &body);
	status = eddy_response_status(response);
	snprintf(ret_text, text_size, "%.*s", EDDY_FMT(body));
	eddy_response_free(response);
	eddy_app_free(app);
	unlinkat(dir, "it", 0);
	close(dir);
	rmdir(folder);
	cr_assert(eq(uint, alive, 0));
	return status;
}

static struct eddy_str digits_of(size_t count)
{
	char *text = malloc(count * 2);

	for (size_t i = 0; i < count * 2; i++)
		text[i] = "61"[i % 2];
	return eddy_str(text, count * 2);
}

Test(coder, decodes_what_is_read)
{
	char text[512];

	cr_assert(eq(int, post("/size", eddy_str("616263", 6), text, sizeof(text)), 200));
	cr_assert(eq(str, (char *)text, "3 abc"));
	cr_assert(eq(uint, whole, 1));
}

Test(coder, decodes_what_is_long)
{
	struct eddy_str sent = digits_of(90000);
	char text[512];

	cr_assert(eq(int, post("/size", sent, text, sizeof(text)), 200));
	cr_assert(eq(str, (char *)text, "90000 aaaaaaaaa"));
	cr_assert(eq(int, post("/save", sent, text, sizeof(text)), 200));
	cr_assert(eq(str, (char *)text, "90000"));
	free((char *)sent.ptr);
}

Test(coder, refuses_what_is_not_coded)
{
	char text[512];

	cr_assert(eq(int, post("/size", eddy_str("61xx", 4), text, sizeof(text)), 400));
	cr_assert(strstr(text, "not what its content-encoding says") != NULL, "%s", text);
	cr_assert(eq(int, post("/size", eddy_str("616", 3), text, sizeof(text)), 400));
	cr_assert(eq(int, post("/save", eddy_str("616", 3), text, sizeof(text)), 400));
	cr_assert(eq(uint, whole, 0));
}

Test(coder, refuses_what_grows_too_much)
{
	struct eddy_str sent = digits_of(100001);
	char text[512];

	cr_assert(eq(int, post("/size", sent, text, sizeof(text)), 413));
	cr_assert(strstr(text, "once it is decoded") != NULL, "%s", text);
	free((char *)sent.ptr);
}

Test(coder, limits_count_what_is_decoded)
{
	struct eddy_app *app = make(decoding);
	const struct eddy_header *fields =
		(const struct eddy_header[]){ { "content-encoding", "x-hex" }, { 0 } };
	struct eddy_client_request request = { .method = "POST", .headers = fields };
	struct eddy_str sent = digits_of(51), body;
	struct eddy_response *response;

	eddy_app_use_body_limit(app, 50);
	for (size_t more = 0; more < 2; more++) {
		request.body = eddy_str(sent.ptr, 100 + 2 * more);
		response = ask(app, "POST /size", &request, &body);
		cr_assert(eq(int, eddy_response_status(response), more ? 413 : 200));
		eddy_response_free(response);
	}
	free((char *)sent.ptr);
	eddy_app_free(app);
}

Test(coder, a_body_is_refused_that_nobody_decodes)
{
	struct eddy_app *app = make(NULL);
	const struct eddy_header *fields =
		(const struct eddy_header[]){ { "content-encoding", "x-hex" }, { 0 } };
	struct eddy_client_request request = { .body = eddy_str("61", 2), .headers = fields };
	struct eddy_str body;
	struct eddy_response *response = ask(app, "POST /size", &request, &body);

	cr_assert(eq(int, eddy_response_status(response), 415));
	eddy_response_free(response);
	eddy_app_free(app);
}
