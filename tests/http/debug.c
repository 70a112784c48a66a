/* Tests of what http tells EDDY_DEBUG and dumps: routes, descriptors, request memory. */
#include "../on_asan.h"
#include "../runtime/debug.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/dump.h>
#include <eddy/file.h>
#include <eddy/http.h>
#include <eddy/io.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char dumped[16 * 1024];

/* GET /dump/{name}, and other paths: what a dump says meanwhile. */
static int dump(struct eddy_req *req, struct eddy_res *res)
{
	int fd = memfd_create("dump", MFD_CLOEXEC);
	ssize_t len;

	(void)req;
	eddy_dump(fd);
	len = pread(fd, dumped, sizeof(dumped) - 1, 0);
	dumped[len > 0 ? len : 0] = '\0';
	close(fd);
	return eddy_res_ok(res, "dumped");
}

static int dump_in_filter(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	dump(req, res);
	return eddy_next(next, req, res);
}

static int ask(struct eddy_app *app, const char *line)
{
	struct eddy_response *response = NULL;
	int r = eddy_app_test(app, line, NULL, &response);
	int status = r == 0 ? eddy_response_status(response) : r;

	eddy_response_free(response);
	return status;
}

static int ask_all(void *arg)
{
	struct eddy_app *app = arg;

	cr_expect(eq(int, ask(app, "GET /api/dump/1"), 200));
	cr_expect(strstr(dumped, " \"request\" (GET /api/dump/{name}), stack ") != NULL, "%s",
		  dumped);
	/* Its route is that of GET. */
	cr_expect(eq(int, ask(app, "HEAD /api/dump/2"), 200));
	cr_expect(strstr(dumped, " \"request\" (GET /api/dump/{name}), stack ") != NULL, "%s",
		  dumped);
	cr_expect(eq(int, ask(app, "GET /nothing"), 404));
	cr_expect(strstr(dumped, " \"request\" (a request without a route), stack ") != NULL, "%s",
		  dumped);
	return 0;
}

Test(debug, dumps_name_the_route)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *api = eddy_app_group(app, "/api/");

	eddy_app_map_get(api, "/dump/{name}", dump);
	eddy_app_add_filter(app, dump_in_filter, NULL);
	cr_expect(eq(int, eddy_run(NULL, ask_all, app), 0));
	eddy_app_free(app);
}

/* Run a task with EDDY_DEBUG, which has the app's requests, and free the app. */
static void run_debugged(struct eddy_app *app, eddy_task_fn *fn)
{
	debug_begin();
	cr_expect(eq(int, eddy_run(NULL, fn, app), 0));
	eddy_log_unsubscribe();
	eddy_app_free(app);
}

/* ---- descriptors ---- */

static int leave_open(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "%d", eddy_openat(AT_FDCWD, "/dev/null", O_RDONLY, 0));
}

static int close_all(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_close(eddy_openat(AT_FDCWD, "/dev/null", O_RDONLY, 0));
	close(eddy_openat(AT_FDCWD, "/dev/zero", O_RDONLY, 0));
	return eddy_res_ok(res, "closed");
}

/* The response closes it. */
static int send_file(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_file(res, EDDY_STR("passwd"),
			     eddy_openat(AT_FDCWD, "/etc/passwd", O_RDONLY, 0), NULL);
}

static int leave_some(void *arg)
{
	struct eddy_app *app = arg;

	cr_expect(eq(int, ask(app, "GET /closed"), 200));
	cr_expect(eq(int, ask(app, "GET /file"), 200));
	/* This one stays in the cache. */
	cr_expect(eq(int, ask(app, "GET /files/passwd"), 200));
	cr_expect_str_empty(warned);
	cr_expect(eq(int, ask(app, "GET /open/1"), 200));
	cr_expect(
		strstr(warned,
		       "eddy::debug: GET /open/{n} seems to have left 1 of the descriptors that it "
		       "opened: ") != NULL,
		"%s", warned);
	cr_expect(strstr(warned, " (/dev/null); close them on every path") != NULL, "%s", warned);
	return 0;
}

Test(debug, descriptors_that_a_handler_left_are_told)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/open/{n}", leave_open);
	eddy_app_map_get(app, "/closed", close_all);
	eddy_app_map_get(app, "/file", send_file);
	eddy_app_map_files(app, "/files/{path...}", "/etc", NULL);
	run_debugged(app, leave_some);
}

/* ---- memory ---- */

static struct eddy_str kept;

static int keep(struct eddy_req *req, struct eddy_res *res)
{
	if (eddy_req_path(req, EDDY_TO(&kept)) < 0)
		return 400;
	return eddy_res_ok(res, "%.*s", EDDY_FMT(kept));
}

static int keep_one(void *arg)
{
	struct eddy_app *app = arg;

	cr_expect(eq(int, ask(app, "GET /keep/something"), 200));
	cr_assert(eq(sz, kept.len, 9));
	for (size_t i = 0; i < kept.len; i++)
		cr_expect(eq(u8, (unsigned char)kept.ptr[i], 0xdd));
	/* The next one has other memory. */
	cr_expect(eq(int, ask(app, "GET /else/something"), 200));
	for (size_t i = 0; i < kept.len; i++)
		cr_expect(eq(u8, (unsigned char)kept.ptr[i], 0xdd));
	return 0;
}

static int answer(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;

	return eddy_req_path(req, EDDY_TO(&name)) < 0 ? 400 : eddy_res_ok(res, "x");
}

Test(debug, memory_of_a_request_is_filled_when_it_ends)
{
	struct eddy_app *app;

	if (RUNNING_ON_ASAN)
		cr_skip_test("AddressSanitizer finds it itself");
	app = eddy_app_new();
	eddy_app_map_get(app, "/keep/{name}", keep);
	eddy_app_map_get(app, "/else/{name}", answer);
	run_debugged(app, keep_one);
}

/* ---- responses ---- */

static int answer_kept(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "before %.*s", EDDY_FMT(kept));
}

static int answer_late(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_res_set_z(res, "content-length", "3");
	eddy_res_set_z(res, "x y", "1");
	eddy_res_set_z(res, "x", "a\nb");
	cr_expect(eq(int, eddy_res_write(res, "all", 3), 0));
	eddy_res_set_z(res, "late", "1");
	return eddy_res_ok(res, "late");
}

static int answer_badly(void *arg)
{
	struct eddy_app *app = arg;

	cr_expect(eq(int, ask(app, "GET /else/something"), 200));
	cr_expect_str_empty(warned);
	kept = EDDY_STR("\xdd\xdd\xdd\xdd\xdd");
	cr_expect(eq(int, ask(app, "GET /kept"), 200));
	cr_expect_str_eq(warned,
			 "eddy::debug: GET /kept answers with bytes 0xdd, as in memory of a "
			 "request that has been answered: copy what is needed later\n");
	warned[0] = '\0';
	cr_expect(eq(int, ask(app, "GET /late"), 200));
	cr_expect_str_eq(
		warned,
		"eddy::debug: GET /late can't set the field \"content-length\": the server sets it\n"
		"eddy::debug: GET /late can't set the field \"x y\": this is not a field name\n"
		"eddy::debug: GET /late can't set the field \"x\": its value contains a control character\n"
		"eddy::debug: GET /late sets the field \"late\" after its head was sent: it is "
		"ignored\n"
		"eddy::debug: GET /late sets a body after its head was sent: it is ignored\n");
	return 0;
}

Test(debug, responses_that_lose_something_are_told)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/else/{name}", answer);
	eddy_app_map_get(app, "/kept", answer_kept);
	eddy_app_map_get(app, "/late", answer_late);
	run_debugged(app, answer_badly);
}
