/* limits: an app of odd handlers whose limits are what the tests say.
 *
 *     limits [--dir DIR] [--tree DIR] [--fallback] [--compression] [--collector URL]
 *            [--cert FILE --key FILE] [SWITCH]…
 *
 * What other switches there are is in settings.h. With a collector it is traced, and does not wait
 * long for it.
 */
#include "handlers.h"
#include "limits_parts.h"

#include <eddy/compress.h>
#include <eddy/runtime.h>
#include <eddy/tracing.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	return eddy_res_ok(res, "Hello, %.*s!", EDDY_FMT(name));
}

static int hello_world(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "static");
}

static int rest(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str path;

	if (eddy_req_path(req, EDDY_TO(&path)) < 0)
		return 400;
	return eddy_res_ok(res, "%.*s", EDDY_FMT(path));
}

static int numbers(struct eddy_req *req, struct eddy_res *res)
{
	unsigned char small;
	long long large;

	if (eddy_req_path(req, EDDY_TO(&small), EDDY_TO(&large)) < 0)
		return 400;
	return eddy_res_ok(res, "%u %lld", small, large);
}

/* Connections that were closed, by reason. */
static int closed(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_app_stats stats = eddy_app_stats(eddy_req_app(req));

	return eddy_res_ok(
		res, "idle %llu head %llu slow %llu bodies %llu writes %llu over %llu",
		(unsigned long long)stats.evicted_idle, (unsigned long long)stats.evicted_head,
		(unsigned long long)stats.evicted_slow, (unsigned long long)stats.slow_bodies,
		(unsigned long long)stats.slow_writes, (unsigned long long)stats.over_address);
}

/* The whole body, once it is there. */
static int echo(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	int r = eddy_req_body(req, &body);

	return r < 0 ? r : eddy_res_bytes(res, "application/octet-stream", body);
}

static int ignore(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "ignored");
}

static uint64_t number_of(struct eddy_req *req)
{
	uint64_t n;

	return eddy_req_path(req, EDDY_TO(&n)) < 0 ? 0 : n;
}

/* Hold the loop and everybody on it. */
static int block(struct eddy_req *req, struct eddy_res *res)
{
	(void)res;
	usleep((useconds_t)number_of(req) * 1000);
	return 204;
}

static int slow(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_sleep(number_of(req) * EDDY_MS);

	return r < 0 ? r : eddy_res_ok(res, "slept");
}

/* Hold the tree of a body for a while. */
static int hold_json(struct eddy_req *req, struct eddy_res *res)
{
	json_t *json;
	int r = eddy_req_json(req, &json);

	return r < 0 ? r : slow(req, res);
}

struct wait {
	uint64_t ms;
};

static const struct eddy_member wait_members[] = {
	EDDY_MEMBER(struct wait, ms, .otherwise = "2000"),
};

/* Wait for ?ms= milliseconds, and log what ends the wait. */
static int wait_for_nothing(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	struct wait wait;
	int r = eddy_req_query_into(req, wait_members, &wait);

	if (r == 0)
		r = eddy_req_body(req, &body);
	eddy_info("limits", "waiting %llu ms", (unsigned long long)wait.ms);
	if (r == 0)
		r = eddy_sleep(wait.ms * EDDY_MS);
	eddy_info("limits", "waited %llu ms: %s, the client %s", (unsigned long long)wait.ms,
		  r < 0 ? "cancelled" : "done",
		  eddy_req_client_left(req) ? "has left" : "is there");
	return r < 0 ? r : eddy_res_ok(res, "waited");
}

static void map_waits(struct eddy_app *app)
{
	eddy_app_map_get(app, "/wait", wait_for_nothing);
	eddy_app_map_post(app, "/wait", wait_for_nothing);
	eddy_app_map_put(app, "/wait", wait_for_nothing);
	eddy_route_with(eddy_app_map_get(app, "/wait/never", wait_for_nothing),
			&(struct eddy_route_options){ .cancel_on = EDDY_CANCEL_ON_NOTHING });
	eddy_route_with(eddy_app_map_get(app, "/wait/end", wait_for_nothing),
			&(struct eddy_route_options){ .cancel_on = EDDY_CANCEL_ON_END });
	eddy_route_with(eddy_app_map_post(app, "/wait/end", wait_for_nothing),
			&(struct eddy_route_options){ .cancel_on = EDDY_CANCEL_ON_END });
	eddy_route_with(eddy_app_map_post(app, "/wait/reset", wait_for_nothing),
			&(struct eddy_route_options){ .cancel_on = EDDY_CANCEL_ON_RESET });
}

/* As clean-up does that forgot to bound itself. */
static int stubborn(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_scope scope;

	(void)res;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .shielded = true });
	eddy_sleep(number_of(req) * EDDY_MS);
	return eddy_scope_end(&scope);
}

static int write_lines(struct eddy_req *req, struct eddy_res *res)
{
	uint64_t n = number_of(req);
	char line[32];
	/* The head alone. */
	int r = eddy_res_write(res, "", 0);

	for (uint64_t i = 1; i <= n && r == 0; i++)
		r = eddy_res_write(res, line, (size_t)sprintf(line, "line %ju\n", (uintmax_t)i));
	return r;
}

static int stream(struct eddy_req *req, struct eddy_res *res)
{
	eddy_res_set_z(res, "content-type", "text/plain");
	return write_lines(req, res);
}

/* A stream that fails behind its n-th line. */
static int broken(struct eddy_req *req, struct eddy_res *res)
{
	int r = write_lines(req, res);

	return r < 0 ? r : -EIO;
}

static int big(struct eddy_req *req, struct eddy_res *res)
{
	uint64_t n = number_of(req);
	char *bytes = eddy_req_alloc(req, n + 1);

	if (!bytes)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++)
		bytes[i] = (char)('a' + i % 26);
	return eddy_res_bytes(res, "text/plain", eddy_str(bytes, n));
}

/* A large head. */
static int large_header(struct eddy_req *req, struct eddy_res *res)
{
	uint64_t n = number_of(req);
	char *bytes = eddy_req_alloc(req, n + 1);

	if (!bytes)
		return -ENOMEM;
	memset(bytes, 'a', n);
	return eddy_res_set(res, "x-large", eddy_str(bytes, n));
}

/* A file that the handler has opened itself. */
static int own_file(struct eddy_req *req, struct eddy_res *res)
{
	int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	(void)req;
	return fd < 0 ? -errno : eddy_res_file(res, eddy_str_from("own.txt"), fd, NULL);
}

static int status(struct eddy_req *req, struct eddy_res *res)
{
	(void)res;
	return (int)number_of(req);
}

static int fail(struct eddy_req *req, struct eddy_res *res)
{
	(void)res;
	return -(int)number_of(req);
}

static int health(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_set_z(res, "x-health", "ok");
}

/* Try to say what the server says itself, and more than one line: how often that was refused. */
static int own(struct eddy_req *req, struct eddy_res *res)
{
	static const char *const fields[][2] = {
		{ "Connection", "close" },
		{ "content-length", "5" },
		{ "Date", "now" },
		{ "server", "another" },
		{ "Transfer-Encoding", "chunked" },
		{ "x-split", "a\r\nx-second: b" },
		{ "x split", "a" },
	};
	int refused = 0;

	(void)req;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		refused += eddy_res_set_z(res, fields[i][0], fields[i][1]) == -EINVAL;
		refused += eddy_res_add(res, fields[i][0], eddy_str_from(fields[i][1])) == -EINVAL;
	}
	return eddy_res_ok(res, "%d of 14", refused);
}

static int host(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_res_ok(res, "%.*s", EDDY_FMT(eddy_req_host(req)));
}

static int headers(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name, value;
	int r = 0;

	for (size_t i = 0; i < eddy_req_header_count(req) && r == 0; i++) {
		eddy_req_header_at(req, i, &name, &value);
		r = eddy_res_write(res, name.ptr, name.len);
		if (r == 0)
			r = eddy_res_write(res, ": ", 2);
		if (r == 0)
			r = eddy_res_write(res, value.ptr, value.len);
		if (r == 0)
			r = eddy_res_write(res, "\n", 1);
	}
	return r;
}

static int save(struct eddy_req *req, struct eddy_res *res)
{
	const struct limits *limits = eddy_req_context(req);
	struct eddy_saved saved;
	int r = eddy_req_save(req, limits->dir, NULL, &saved);

	return r < 0 ? r :
		       eddy_res_ok(res, "%.*s %ju", EDDY_FMT(saved.name), (uintmax_t)saved.size);
}

static int save_all(struct eddy_req *req, struct eddy_res *res)
{
	const struct limits *limits = eddy_req_context(req);
	struct eddy_saved *saved;
	ssize_t r = eddy_req_save_all(req, limits->dir, NULL, &saved);

	return r < 0 ? (int)r : eddy_res_ok(res, "%zd", r);
}

static int sync_all(struct eddy_req *req, struct eddy_res *res)
{
	const struct limits *limits = eddy_req_context(req);
	struct eddy_saved *saved;

	(void)res;
	return eddy_req_save_all(req, limits->dir, &(struct eddy_save_options){ .sync = true },
				 &saved) < 0 ?
		       500 :
		       0;
}

static int nothing(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	(void)res;
	return 0;
}

/* PUT that keeps what is there, and has all of it on the disk before it answers. */
static int save_once(struct eddy_req *req, struct eddy_res *res)
{
	const struct eddy_save_options options = { .no_replace = true, .sync = true };
	const struct limits *limits = eddy_req_context(req);
	struct eddy_saved saved;
	struct eddy_str name;
	int r;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	r = eddy_req_save_at(req, limits->dir, name, &options, &saved);
	if (r < 0)
		return r;
	eddy_res_status(res, 201);
	return eddy_res_ok(res, "%ju", (uintmax_t)saved.size);
}

static int fallback(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "fallback");
}

static int mark(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_next(next, req, res);

	eddy_res_set_z(res, "x-filtered", "yes");
	return r;
}

static void map(struct eddy_app *app)
{
	static const char *const any[] = { "GET", "POST", "PUT", "PATCH", "DELETE" };

	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++) {
		eddy_app_map(app, any[i], "/echo", echo);
		eddy_app_map(app, any[i], "/ignore", ignore);
		eddy_app_map(app, any[i], "/refuse", refuse);
	}
	eddy_app_map_get(app, "/", hello_world);
	eddy_app_map_get(app, "/hello/{name}", hello);
	eddy_app_map_get(app, "/hello/world", hello_world);
	eddy_app_map_get(app, "/hello/world/{a}/end", hello);
	eddy_app_map_get(app, "/hello/{name}/{b}/else", hello);
	eddy_app_map_get(app, "/rest/{path...}", rest);
	eddy_app_map_get(app, "/numbers/{small}/{large}", numbers);
	eddy_app_map_post(app, "/pump", pump);
	eddy_app_map_get(app, "/slow/{ms}", slow);
	eddy_app_map_post(app, "/json/{ms}", hold_json);
	eddy_app_map_get(app, "/stubborn/{ms}", stubborn);
	eddy_app_map_get(app, "/block/{ms}", block);
	eddy_app_map_get(app, "/stream/{n}", stream);
	eddy_app_map_get(app, "/broken/{n}", broken);
	eddy_app_map_get(app, "/big/{n}", big);
	eddy_app_map_get(app, "/header/{n}", large_header);
	eddy_app_map_get(app, "/own-file", own_file);
	eddy_route_with(eddy_app_map_get(app, "/patient/{n}", big),
			&(struct eddy_route_options){ .write_rate_min = EDDY_NEVER });
	eddy_route_with(eddy_app_map_post(app, "/patient", echo),
			&(struct eddy_route_options){ .body_rate_min = EDDY_NEVER });
	eddy_route_with(eddy_app_map_post(app, "/patient/save-all", save_all),
			&(struct eddy_route_options){ .body_rate_min = EDDY_NEVER });
	eddy_app_map_get(app, "/closed", closed);
	eddy_app_map_get(app, "/status/{code}", status);
	eddy_app_map_get(app, "/errno/{n}", fail);
	eddy_app_map_head(app, "/health", health);
	eddy_app_map_options(app, "/options", health);
	eddy_app_map_trace(app, "/trace", echo);
	eddy_app_map_get(app, "/own", own);
	eddy_app_map_get(app, "/host", host);
	eddy_app_map_get(app, "/headers", headers);
	eddy_app_map_post(app, "/save", save);
	eddy_app_map_post(app, "/save-all", save_all);
	eddy_app_map_post(app, "/sync-all", sync_all);
	eddy_app_map_post(app, "/nothing", nothing);
	eddy_app_map_put(app, "/once/{name}", save_once);
	map_parts(app);
	map_live(app);
	map_waits(app);
}

static void map_trees(struct eddy_app *app, const char *dir)
{
	eddy_app_map_files(app, "/tree/{path...}", dir, NULL);
	eddy_app_map_files(app, "/plain/{path...}", dir,
			   &(struct eddy_tree_options){ .index = "",
							.cache_control = "max-age=60",
							.dot_files = true,
							.no_siblings = true });
	eddy_app_map_files(app, "/of/{whom}/{path...}", dir,
			   &(struct eddy_tree_options){ .index = "a.txt" });
}

static void trace(struct eddy_app *app, const char *collector)
{
	const struct eddy_tracing_options options = {
		.access_log = true,
		.collector = collector,
		.batch_max = 64,
		.queue_max = 200,
		.age_ns = 10 * EDDY_MS,
		.timeout_ns = 100 * EDDY_MS,
		.retry_ns = 10 * EDDY_MS,
		.flush_ns = 200 * EDDY_MS,
	};

	eddy_app_set_tracing(app, &options);
	eddy_app_use_tracing(app);
}

static const struct setting switches[] = {
	{ "dir", setting_folder, offsetof(struct limits, dir) },
	SETTING(struct limits, "tree", tree),
	SETTING(struct limits, "fallback", fallback),
	SETTING(struct limits, "compression", compression),
	SETTING(struct limits, "collector", collector),
	SETTING(struct limits, "cert", tls.cert),
	SETTING(struct limits, "key", tls.key),
	{ 0 },
};

int main(int argc, char **argv)
{
	struct limits limits = { .dir = -1 };
	struct eddy_app *app = eddy_app_new();
	int r;

	eddy_log_text_subscribe();
	settings_take(argc, argv, switches, &limits, &limits.common);
	settings_apply(&limits.common, app);
	eddy_app_set_context(app, &limits);
	if (limits.collector)
		trace(app, limits.collector);
	if (limits.compression) {
		eddy_app_use_compression(app, NULL);
		eddy_app_use_decompression(app, NULL);
	}
#ifndef EDDY_NO_TLS
	if (limits.tls.cert)
		eddy_app_use_tls(app, &limits.tls);
#endif
	eddy_app_add_filter(app, mark, NULL);
	map(app);
	if (limits.tree)
		map_trees(app, limits.tree);
	if (limits.fallback)
		eddy_app_map_fallback(app, fallback);
	r = eddy_app_run_blocking(app);
	free_live();
	return r < 0;
}
