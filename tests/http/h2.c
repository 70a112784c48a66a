/* Tests of http/src/h2: each allocation of a connection fails in its turn, also those of libnghttp2. */
#include "../runtime/failing.h"
#include "app/app.h"
#include "dial.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SIZE 50000
#define FRAME_HEAD 9

/* ---- libnghttp2, whose allocations come by failing.h ---- */

static void *allocate(size_t size, void *arg)
{
	(void)arg;
	return malloc(size);
}

static void *allocate_zeros(size_t count, size_t size, void *arg)
{
	(void)arg;
	return calloc(count, size);
}

/* The first of a queue does not fail: libnghttp2 1.52 would free the DATA of a stream twice. */
static void *reallocate(void *at, size_t size, void *arg)
{
	(void)arg;
	return at && failing_at && --failing_at == 0 ? NULL : realloc(at, size);
}

static void release(void *at, void *arg)
{
	(void)arg;
	free(at);
}

int __wrap_nghttp2_session_server_new2(nghttp2_session **ret_session,
				       const nghttp2_session_callbacks *calls, void *arg,
				       const nghttp2_option *option);

int __wrap_nghttp2_session_server_new2(nghttp2_session **ret_session,
				       const nghttp2_session_callbacks *calls, void *arg,
				       const nghttp2_option *option)
{
	nghttp2_mem memory = { NULL, allocate, release, allocate_zeros, reallocate };

	return nghttp2_session_server_new3(ret_session, calls, arg, option, &memory);
}

/* ---- the app ---- */

static char zeros[SIZE];

static int send_bytes(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_bytes(res, "text/plain", eddy_str(zeros, SIZE));
}

static int send_file(struct eddy_req *req, struct eddy_res *res)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	(void)req;
	return write(fd, zeros, SIZE) == SIZE ? eddy_res_file(res, EDDY_STR("file"), fd, NULL) :
						500;
}

static int echo(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	int r = eddy_req_body(req, &body);

	return r < 0 ? r : eddy_res_bytes(res, "text/plain", body);
}

static int pump(struct eddy_req *req, struct eddy_res *res)
{
	char buf[3000];
	ssize_t r = eddy_res_interim(res, 103, NULL);

	while (r >= 0 && (r = eddy_req_read(req, buf, sizeof(buf))) > 0)
		r = eddy_res_write(res, buf, (size_t)r);
	return (int)r;
}

static const struct {
	const char *method, *path;
	eddy_handler_fn *handler;
} routes[] = {
	{ "GET", "/bytes", send_bytes },
	{ "GET", "/file", send_file },
	{ "POST", "/echo", echo },
	{ "POST", "/pump", pump },
};

/* ---- a client ---- */

struct bytes {
	char at[3 * SIZE];
	size_t len;
};

static void add(struct bytes *bytes, const void *more, size_t len)
{
	memcpy(bytes->at + bytes->len, more, len);
	bytes->len += len;
}

static void add_frame(struct bytes *bytes, uint8_t type, uint8_t flags, const void *payload,
		      size_t len)
{
	bool is_of_stream = type != NGHTTP2_SETTINGS;

	add(bytes,
	    (const uint8_t[]){ 0, (uint8_t)(len >> 8), (uint8_t)len, type, flags, 0, 0, 0,
			       is_of_stream },
	    FRAME_HEAD);
	add(bytes, payload, len);
}

static void add_request(struct bytes *bytes, const char *method, const char *path)
{
	bool gets = method[0] == 'G';
	char head[32] = { gets ? '\x82' : '\x83', '\x86', 1, 1, 'a', 4, (char)strlen(path) };

	add(bytes, NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
	add_frame(bytes, NGHTTP2_SETTINGS, 0, "", 0);
	memcpy(head + 7, path, strlen(path));
	add_frame(bytes, NGHTTP2_HEADERS, gets ? 5 : 4, head, 7 + strlen(path));
	for (size_t i = 0; !gets && i < 5; i++)
		add_frame(bytes, NGHTTP2_DATA, i == 4, zeros, SIZE / 5);
}

/* What has come of the request. */
struct outcome {
	bool ended; /* in full, or by a reset or GOAWAY */
	bool broken;
	uint8_t first; /* of the last head */
	size_t body;
};

static struct outcome read_frames(const struct bytes *bytes)
{
	struct outcome outcome = { 0 };
	size_t at = 0, len;

	for (; bytes->len - at >= FRAME_HEAD; at += FRAME_HEAD + len) {
		const uint8_t *head = (const uint8_t *)bytes->at + at;

		len = (size_t)head[1] << 8 | head[2];
		if (bytes->len - at < FRAME_HEAD + len)
			break;
		outcome.broken |= head[3] == NGHTTP2_RST_STREAM || head[3] == NGHTTP2_GOAWAY;
		outcome.ended |= outcome.broken || (head[3] <= NGHTTP2_HEADERS && head[4] & 1);
		outcome.body += head[3] == NGHTTP2_DATA ? len : 0;
		if (head[3] == NGHTTP2_HEADERS)
			outcome.first = head[FRAME_HEAD];
	}
	return outcome;
}

static struct outcome ask(const struct eddy_app *app, size_t route, int n)
{
	static struct bytes bytes;
	struct outcome outcome = { 0 };
	int fd = dial(eddy_app_port(app));
	ssize_t r;

	bytes.len = 0;
	add_request(&bytes, routes[route].method, routes[route].path);
	failing_at = n;
	cr_assert(eq(int, (int)send(fd, bytes.at, bytes.len, 0), (int)bytes.len));
	bytes.len = 0;
	while (!outcome.ended &&
	       (r = eddy_recv(fd, bytes.at + bytes.len, sizeof(bytes.at) - bytes.len, 0)) > 0) {
		bytes.len += (size_t)r;
		outcome = read_frames(&bytes);
	}
	outcome.broken |= !outcome.ended;
	close(fd);
	return outcome;
}

/* ---- */

static int run(void *app)
{
	return eddy_app_run(app);
}

/* Whichever allocation fails, the request ends, and a response that seems whole is. */
static void lack(const struct eddy_app *app, size_t route)
{
	struct outcome outcome;
	bool has_failed = true;
	int n;

	for (n = 1; has_failed; n++) {
		outcome = ask(app, route, n);
		while (eddy_app_stats(app).connections)
			eddy_yield();
		has_failed = failing_at == 0;
		failing_at = 0;
		cr_expect(eq(u64, app->body_memory, 0));
		if (!outcome.broken && outcome.first == 0x88)
			cr_expect(eq(sz, outcome.body, SIZE), "%s, %d", routes[route].path, n);
	}
	cr_expect(outcome.first == 0x88 && !outcome.broken);
	cr_expect(n > 20, "%d", n);
}

static int serve(void *arg)
{
	struct eddy_app *app = arg;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "app", run, app);
	while (!eddy_app_port(app))
		eddy_yield();
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
		ask(app, i, 0);
		lack(app, i);
	}
	eddy_app_shutdown(app);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return 0;
}

Test(h2, goes_on_without_memory)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_bind(app, "127.0.0.1:0");
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++)
		eddy_app_map(app, routes[i].method, routes[i].path, routes[i].handler);
	eddy_app_with_server(app,
			     &(struct eddy_server_options){ .no_signals = true, .workers = 1 });
	cr_expect(eq(int, eddy_run(NULL, serve, app), 0));
	eddy_app_free(app);
}
