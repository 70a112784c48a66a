/* coded: an app that compresses and decompresses by groups and routes, for the tests.
 *
 *     coded [DIR]
 *
 * It listens at a free port of 127.0.0.1; POST /in/save saves into DIR. Requests are decoded below /in, and
 * on /few to 1000 bytes at most. GET /CODING/lines/{n} has its lines in that coding, and waits for a GET /next before each
 * but the first.
 */
#include <eddy/compress.h>
#include <eddy/http.h>
#include <eddy/runtime.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const gzip[] = { "gzip", NULL }, *const br[] = { "br", "zstd", NULL };

/* ---- out ---- */

static int text(struct eddy_req *req, struct eddy_res *res)
{
	uint32_t size;
	char *bytes;

	if (eddy_req_path(req, EDDY_TO(&size)) < 0)
		return 400;
	bytes = eddy_req_alloc(req, size + 1);
	if (!bytes)
		return -ENOMEM;
	for (uint32_t i = 0; i < size; i++)
		bytes[i] = "some text\n"[i % 10];
	return eddy_res_bytes(res, "text/plain", eddy_str(bytes, size));
}

/* The part is over; so is the answer, in the middle. */
static int broken(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_write(res, "one\n", 4);

	(void)req;
	return r < 0 ? r : -EIO;
}

static struct eddy_semaphore asked;

static int lines(struct eddy_req *req, struct eddy_res *res)
{
	char line[32];
	uint32_t count;
	int r = 0;

	if (eddy_req_path(req, EDDY_TO(&count)) < 0)
		return 400;
	for (uint32_t i = 1; i <= count && r == 0; i++) {
		if (i > 1)
			r = eddy_semaphore_acquire(&asked, 1);
		if (r == 0)
			r = eddy_res_write(res, line,
					   (size_t)snprintf(line, sizeof(line), "line %u\n", i));
	}
	return r;
}

static int next_line(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_semaphore_release(&asked, 1);
	return eddy_res_ok(res, "next");
}

static void map_lines(struct eddy_app *app)
{
	static const char *const orders[][2] = {
		{ "zstd", NULL }, { "br", NULL }, { "gzip", NULL }, { "deflate", NULL }
	};
	struct eddy_route *route;
	char path[32];

	eddy_semaphore_init(&asked, 0);
	eddy_app_map_get(app, "/next", next_line);
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		snprintf(path, sizeof(path), "/%s/lines/{n}", orders[i][0]);
		route = eddy_app_map_get(app, path, lines);
		eddy_app_use_compression(route,
					 &(struct eddy_compression_options){ .order = orders[i] });
	}
}

static void map_out(struct eddy_app *app)
{
	struct eddy_group *group = eddy_app_group(app, "/gzip");
	struct eddy_route *route;

	map_lines(app);
	eddy_app_use_compression(app, NULL);
	eddy_app_map_get(app, "/text/{n}", text);
	eddy_app_map_get(app, "/broken", broken);
	eddy_app_use_compression(group, &(struct eddy_compression_options){ .order = gzip,
									    .gzip_level = 9 });
	eddy_app_map_get(group, "/text/{n}", text);
	route = eddy_app_map_get(group, "/br/{n}", text);
	eddy_app_use_compression(route,
				 &(struct eddy_compression_options){ .order = br, .br_level = 9 });
	route = eddy_app_map_get(app, "/large/{n}", text);
	eddy_app_use_compression(route, &(struct eddy_compression_options){ .size_min = 1000 });
}

/* ---- in ---- */

static int size(struct eddy_req *req, struct eddy_res *res)
{
	char piece[5000];
	uint64_t sum = 0;
	ssize_t len;

	while ((len = eddy_req_read(req, piece, sizeof(piece))) > 0)
		sum += (uint64_t)len;
	return len < 0 ? (int)len : eddy_res_ok(res, "%llu", (unsigned long long)sum);
}

static int echo(struct eddy_req *req, struct eddy_res *res)
{
	char piece[5000];
	ssize_t len;
	int r = 0;

	eddy_res_set_z(res, "content-type", "text/plain");
	while (r == 0 && (len = eddy_req_read(req, piece, sizeof(piece))) > 0)
		r = eddy_res_write(res, piece, (size_t)len);
	return r < 0 ? r : (int)len;
}

static int json(struct eddy_req *req, struct eddy_res *res)
{
	json_t *value;
	int r = eddy_req_json(req, &value);

	return r < 0 ? r : eddy_res_json(res, json_incref(value));
}

static int save(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_saved saved;
	int r = eddy_req_save_at(req, *(int *)eddy_req_context(req), EDDY_STR("saved"), NULL,
				 &saved);

	return r < 0 ? r : eddy_res_ok(res, "%llu", (unsigned long long)saved.size);
}

static int save_all(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_saved *files;
	ssize_t count = eddy_req_save_all(req, *(int *)eddy_req_context(req), NULL, &files);

	return count < 0 ? (int)count : eddy_res_ok(res, "%zd", count);
}

static int refuse(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	(void)res;
	return 403;
}

static void map_in(struct eddy_app *app)
{
	struct eddy_group *in = eddy_app_group(app, "/in");
	struct eddy_route *few = eddy_app_map_post(app, "/few", size);

	eddy_app_use_decompression(in, NULL);
	eddy_app_map_post(in, "/size", size);
	eddy_app_map_post(in, "/echo", echo);
	eddy_app_map_post(in, "/json", json);
	eddy_app_map_post(in, "/save", save);
	eddy_app_map_post(in, "/save-all", save_all);
	eddy_app_map_post(in, "/refuse", refuse);
	eddy_app_use_decompression(few, &(struct eddy_decompression_options){ .size_max = 1000 });
	eddy_app_map_post(app, "/plain", size);
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	int dir = open(argc > 1 ? argv[1] : ".", O_DIRECTORY | O_CLOEXEC);

	eddy_log_text_subscribe();
	eddy_app_bind(app, "127.0.0.1:0");
	eddy_app_set_context(app, &dir);
	map_out(app);
	map_in(app);
	return dir < 0 || eddy_app_run_blocking(app) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
