/* Tests of eddy/compression.h: files, those that are kept as they were coded, and what is missing. */
#include "../folder.h"
#include "../runtime/failing.h"
#include "served.h"
#include "settings.h"

#include <eddy/runtime.h>
#include <eddy/transfer.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- files, and those that are kept ---- */

static int dir; /* the folder */

static void open_folder(void)
{
	make_folder();
	dir = open(folder, O_DIRECTORY | O_CLOEXEC);
}

/* The kernel's clock goes by ticks: what changed within one is not kept. */
static void settle(void)
{
	usleep(40000);
}

/* A file of `age` seconds. */
static struct bytes add_file(const char *name, enum kind kind, size_t size, int age)
{
	struct bytes bytes = body_of(kind, size);
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct timespec times[2];

	cr_assert_eq(write(fd, bytes.ptr, size), (ssize_t)size);
	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= age;
	times[1] = times[0];
	cr_assert_eq(futimens(fd, times), 0);
	close(fd);
	settle();
	return bytes;
}

static void close_folder(void)
{
	close(dir);
	remove_folder();
}

TestSuite(compression_files, .init = open_folder, .fini = close_folder);

static void expect_file(struct eddy_app *app, const char *line, const char *coding,
			const struct bytes *want)
{
	struct served got = served(app, line, coding);

	cr_expect_eq(got.status, 200);
	cr_expect_str_eq(got.coding, coding);
	cr_assert_eq(got.text.len, want->len, "%s in %s", line, coding);
	cr_expect_eq(memcmp(got.text.ptr, want->ptr, want->len), 0);
	cr_expect_null(served_field(&got, "accept-ranges"));
	cr_expect_null(served_field(&got, "content-length"));
	cr_expect_eq(strncmp(served_field(&got, "etag"), "W/\"", 3), 0);
	served_end(&got);
}

static const struct eddyi_cache *cache_of(struct eddy_app *app)
{
	return &eddyi_settings_of(app)->cache;
}

Test(compression_files, files_are_kept_as_they_were_coded)
{
	static const char *const codings[] = { "zstd", "br", "gzip", "deflate" };
	struct bytes bytes = add_file("a", TEXT, 300000, 10);
	struct eddy_app *app = served_app_with(NULL);

	eddy_app_set_context(app, &dir);
	for (unsigned i = 0; i < 4; i++)
		for (int again = 0; again < 3; again++) {
			expect_file(app, "GET /file/a", codings[i], &bytes);
			cr_expect_eq(cache_of(app)->count, i + 1);
		}
	cr_expect_lt(cache_of(app)->size, 400000);
	bytes_deinit(&bytes);
	eddy_app_free(app);
}

struct twice {
	struct eddy_app *app;
	char address[80];
	uint64_t spliced[2]; /* bytes, of each answer */
	struct eddy_response *responses[2];
	struct eddy_str bodies[2];
	struct eddy_client *client;
};

static int run(void *arg)
{
	return eddy_app_run(arg);
}

/* Over a connection: the client's end is read while the file is sent. */
static int ask_once(struct twice *twice, int i)
{
	struct eddy_header fields[] = { { "accept-encoding", "gzip" }, { 0 } };
	struct eddy_client_request request = { .headers = fields };
	uint64_t before = eddy_transfer_stats().spliced_out;
	int r;

	/* The app may not listen yet. */
	while ((r = eddy_client_send(twice->client, "http://localhost/file/a", &request,
				     &twice->responses[i])) == -ENOENT ||
	       r == -ECONNREFUSED)
		eddy_sleep(EDDY_MS);
	if (r == 0)
		r = eddy_response_body(twice->responses[i], &twice->bodies[i]);
	twice->spliced[i] = eddy_transfer_stats().spliced_out - before;
	return r;
}

static int ask_twice(void *arg)
{
	struct twice *twice = arg;
	struct eddy_scope scope;
	int r = 0;

	twice->client = eddy_client_new(&(struct eddy_client_options){ .connect = twice->address });
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "app", run, twice->app);
	for (int i = 0; i < 2 && r == 0; i++)
		r = ask_once(twice, i);
	if (r == 0) {
		cr_expect(eddy_str_eq(twice->bodies[0], twice->bodies[1]));
		cr_expect_gt(twice->bodies[0].len, 100000);
		cr_expect_eq(twice->spliced[0], 0);
		cr_expect_eq(twice->spliced[1], twice->bodies[1].len);
	}
	for (int i = 0; i < 2; i++)
		eddy_response_free(twice->responses[i]);
	eddy_client_free(twice->client);
	eddy_app_shutdown(twice->app);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return r;
}

Test(compression_files, a_kept_file_leaves_by_splice)
{
	struct bytes bytes = add_file("a", MIXED, 1000000, 10);
	struct twice twice = { .app = served_app_with(NULL) };

	eddy_app_set_context(twice.app, &dir);
	snprintf(twice.address, sizeof(twice.address), "unix:%s/b", folder);
	eddy_app_bind(twice.app, twice.address);
	cr_assert_eq(eddy_run(NULL, ask_twice, &twice), 0);
	bytes_deinit(&bytes);
	eddy_app_free(twice.app);
}

/* The change shows in the ctime alone. */
Test(compression_files, a_file_whose_time_is_set_back_is_coded_anew)
{
	struct bytes bytes = add_file("a", TEXT, 300000, 10), later;
	struct eddy_app *app = served_app_with(NULL);
	struct timespec times[2];
	struct stat st;
	int fd = openat(dir, "a", O_RDWR | O_CLOEXEC);

	eddy_app_set_context(app, &dir);
	cr_assert_eq(fstat(fd, &st), 0);
	expect_file(app, "GET /file/a", "gzip", &bytes);
	later = body_of(ZEROS, 300000);
	cr_assert_eq(pwrite(fd, later.ptr, later.len, 0), 300000);
	times[0] = times[1] = st.st_mtim;
	cr_assert_eq(futimens(fd, times), 0);
	settle();
	expect_file(app, "GET /file/a", "gzip", &later);
	cr_expect_eq(cache_of(app)->count, 2);
	expect_file(app, "GET /file/a", "gzip", &later);
	cr_expect_eq(cache_of(app)->count, 2);
	bytes_deinit(&bytes);
	bytes_deinit(&later);
	close(fd);
	eddy_app_free(app);
}

Test(compression_files, a_file_that_changes_is_coded_anew)
{
	struct bytes first = add_file("a", TEXT, 50000, 10), second;
	struct eddy_app *app = served_app_with(NULL);

	eddy_app_set_context(app, &dir);
	expect_file(app, "GET /file/a", "zstd", &first);
	second = add_file("a", MIXED, 50000, 9);
	expect_file(app, "GET /file/a", "zstd", &second);
	expect_file(app, "GET /file/a", "zstd", &second);
	cr_expect_eq(cache_of(app)->count, 2);
	bytes_deinit(&first);
	bytes_deinit(&second);
	eddy_app_free(app);
}

Test(compression_files, files_that_are_not_kept)
{
	struct bytes noise = add_file("b", NOISE, 50000, 10);
	struct bytes text = add_file("a", TEXT, 50000, 0);
	struct eddy_app *app = served_app_with(NULL), *without;

	eddy_app_set_context(app, &dir);
	expect_file(app, "GET /file/a", "gzip", &text);
	cr_expect_eq(cache_of(app)->count, 0, "it is too new");
	expect_file(app, "GET /file/b", "gzip", &noise);
	cr_expect_eq(cache_of(app)->count, 0, "it grew");
	bytes_deinit(&text);
	text = add_file("a", TEXT, 50000, 10);
	for (int again = 0; again < 2; again++) {
		struct served got = served(app, "HEAD /file/a", "gzip");

		served_end(&got);
	}
	cr_expect_eq(cache_of(app)->count, 0, "nobody got it");
	eddy_app_free(app);
	for (int i = 0; i < 2; i++) {
		without = served_app_with(&(struct eddy_compression_options){
			.no_cache = i == 0, .cache_max = i ? 100 : 0 });
		eddy_app_set_context(without, &dir);
		expect_file(without, "GET /file/a", "gzip", &text);
		expect_file(without, "GET /file/a", "gzip", &text);
		cr_expect_eq(cache_of(without)->count, 0);
		eddy_app_free(without);
	}
	bytes_deinit(&noise);
	bytes_deinit(&text);
}

Test(compression_files, parts_and_conditions_of_files)
{
	const char *fields[] = {
		"accept-encoding", "gzip", "range", "bytes=0-99", NULL, NULL, NULL
	};
	struct bytes bytes = add_file("a", TEXT, 50000, 10);
	struct eddy_app *app = served_app_with(NULL);
	struct served got;
	char weak[100];

	eddy_app_set_context(app, &dir);
	got = served_with(app, "GET /file/a", fields);
	cr_expect_eq(got.status, 206);
	cr_expect_str_eq(got.coding, "identity");
	cr_expect_str_eq(served_field(&got, "vary"), "accept-encoding");
	cr_expect_str_eq(served_field(&got, "accept-ranges"), "bytes");
	cr_expect_str_eq(served_field(&got, "content-length"), "100");
	cr_expect_eq(served_field(&got, "etag")[0], '"');
	served_end(&got);

	fields[3] = "bytes=50000-";
	got = served_with(app, "GET /file/a", fields);
	cr_expect_eq(got.status, 416);
	cr_expect_str_eq(got.coding, "identity");
	cr_expect_str_eq(served_field(&got, "content-range"), "bytes */50000");
	served_end(&got);

	got = served(app, "GET /file/a", "gzip");
	snprintf(weak, sizeof(weak), "%s", served_field(&got, "etag"));
	served_end(&got);
	/* A weak validator never makes a part (RFC 9110 section 13.1.5). */
	fields[3] = "bytes=0-99";
	fields[4] = "if-range";
	fields[5] = weak;
	got = served_with(app, "GET /file/a", fields);
	cr_expect_eq(got.status, 200);
	cr_expect_str_eq(got.coding, "gzip");
	served_end(&got);

	for (int coded = 0; coded < 2; coded++) {
		const char *ask[] = { "if-none-match", weak, coded ? "accept-encoding" : NULL,
				      "gzip", NULL };

		got = served_with(app, "GET /file/a", ask);
		cr_expect_eq(got.status, 304);
		cr_expect_str_eq(got.coding, "identity");
		cr_expect_str_eq(served_field(&got, "vary"), "accept-encoding");
		/* As a 200 would have it. */
		cr_expect_str_eq(served_field(&got, "etag"), weak + (coded ? 0 : 2));
		served_end(&got);
	}
	bytes_deinit(&bytes);
	eddy_app_free(app);
}

/* ---- what is missing ---- */

/* No descriptor is to be had any more once the handler has run. */
static int tight(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_file_at(res, *(int *)eddy_req_context(req), EDDY_STR("a"));
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &limit);
	return r;
}

Test(compression_files, without_descriptors_files_are_not_kept)
{
	struct bytes bytes = add_file("a", TEXT, 50000, 10);
	struct eddy_app *app = served_app_with(NULL);
	struct rlimit before;

	eddy_app_map_get(app, "/tight", tight);
	eddy_app_set_context(app, &dir);
	getrlimit(RLIMIT_NOFILE, &before);
	expect_file(app, "GET /tight", "gzip", &bytes);
	setrlimit(RLIMIT_NOFILE, &before);
	cr_expect_eq(cache_of(app)->count, 0);
	expect_file(app, "GET /file/a", "gzip", &bytes);
	cr_expect_eq(cache_of(app)->count, 1);
	/* It is there, and nobody can take it. */
	expect_file(app, "GET /tight", "gzip", &bytes);
	setrlimit(RLIMIT_NOFILE, &before);
	cr_expect_eq(cache_of(app)->count, 1);
	bytes_deinit(&bytes);
	eddy_app_free(app);
}

static int fail_from_here;

static int lean(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_file_at(res, *(int *)eddy_req_context(req), EDDY_STR("a"));

	failing_at = fail_from_here;
	return r;
}

/* One allocation after the other fails: the answer is right, as it is or coded, or there is none. */
Test(compression_files, without_memory_nothing_wrong_is_sent)
{
	static const char *const codings[] = { "zstd", "br", "gzip", "deflate" };
	struct eddy_header fields[] = { { "accept-encoding", NULL }, { 0 } };
	struct eddy_client_request request = { .headers = fields };
	struct bytes bytes = add_file("a", TEXT, 5000, 10);
	unsigned wrong = 0, plain = 0;

	for (size_t i = 0; i < 4; i++)
		for (fail_from_here = 1; fail_from_here < 12; fail_from_here++) {
			/* A new one has no pools, and nothing is kept yet. */
			struct eddy_app *app = served_app_with(NULL);
			struct eddy_response *response = NULL;
			struct eddy_str body, coding;
			struct bytes raw, text;

			eddy_app_map_get(app, "/lean", lean);
			eddy_app_set_context(app, &dir);
			fields[0].value = codings[i];
			if (eddy_app_test(app, "GET /lean", &request, &response) < 0) {
				failing_at = 0;
				eddy_app_free(app);
				continue;
			}
			failing_at = 0;
			eddy_response_body(response, &body);
			coding = eddy_response_header(response, "content-encoding");
			raw = bytes_new();
			bytes_add(&raw, body.ptr, body.len);
			if (!coding.ptr) {
				plain++;
				text = raw;
			} else {
				wrong += decoded(codec_of(codings[i]), NULL, &raw,
						 &(struct cut){ 0 }, &text) != 1;
				bytes_deinit(&raw);
			}
			if (eddy_response_status(response) == 200)
				wrong += text.len != 5000 || memcmp(text.ptr, bytes.ptr, 5000) != 0;
			bytes_deinit(&text);
			eddy_response_free(response);
			eddy_app_free(app);
		}
	cr_expect_eq(wrong, 0);
	cr_expect_gt(plain, 0);
	bytes_deinit(&bytes);
}
