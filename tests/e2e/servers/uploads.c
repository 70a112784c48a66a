/* uploads: a server that receives uploads to a folder, with all options of eddy/uploads.h.
 *
 *     uploads --dir DIR [--max BYTES] [--append-max BYTES] [--append-min BYTES] [--count-max N] [--expire MS] [--sync]
 *             [--no-replace] [--tus PATH] [--hooks]
 *
 * PUT and POST /files/{path...} upload, GET downloads. With --hooks, an upload whose name begins with `no` may not begin, one
 * whose bytes begin with `bad` or `ill` is not accepted, one with `to-` is renamed, and expired ones are printed.
 */
#include "settings.h"

#include <eddy/runtime.h>
#include <eddy/tree.h>
#include <eddy/uploads.h>

#include <stdio.h>
#include <unistd.h>

struct uploads {
	struct settings common;
	const char *dir;
	bool hooks;
	struct eddy_uploads_options options;
};

static const struct setting switches[] = {
	SETTING(struct uploads, "dir", dir),
	SETTING(struct uploads, "hooks", hooks),
	SETTING(struct uploads, "max", options.max),
	SETTING(struct uploads, "append-max", options.append_max),
	SETTING(struct uploads, "append-min", options.append_min),
	SETTING(struct uploads, "count-max", options.count_max),
	{ "expire", setting_ms, offsetof(struct uploads, options.expire_ns) },
	SETTING(struct uploads, "no-replace", options.no_replace),
	SETTING(struct uploads, "sync", options.sync),
	SETTING(struct uploads, "at", options.at),
	SETTING(struct uploads, "tus", options.tus),
	{ 0 },
};

static int begin(struct eddy_req *req, struct eddy_res *res, const struct eddy_upload *upload)
{
	(void)req;
	if (eddy_str_starts(upload->path, EDDY_STR("no")))
		return eddy_res_problem(res, 403, "not this one");
	return 0;
}

static int complete(struct eddy_req *req, struct eddy_res *res, struct eddy_upload *upload)
{
	char bytes[3] = "", *path;
	size_t len = upload->path.len;

	if (pread(upload->fd, bytes, sizeof(bytes), 0) == 3 && memcmp(bytes, "bad", 3) == 0)
		return 422;
	if (memcmp(bytes, "ill", 3) == 0)
		return eddy_res_problem(res, 422, "these bytes are ill");
	eddy_res_set_z(res, "x-complete", "yes");
	if (!eddy_str_starts(upload->path, EDDY_STR("to-")))
		return 0;
	path = eddy_req_alloc(req, len);
	memcpy(path, upload->path.ptr + 3, len - 3);
	upload->path = eddy_str(path, len - 3);
	return 0;
}

static void expired(struct eddy_app *app, const struct eddy_upload *upload)
{
	(void)app;
	printf("expired %.*s\n", EDDY_FMT(upload->path));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct uploads uploads = { .dir = "." };
	struct eddy_app *app = eddy_app_new();

	settings_take(argc, argv, switches, &uploads, &uploads.common);
	eddy_log_text_subscribe();
	settings_apply(&uploads.common, app);
	if (uploads.hooks) {
		uploads.options.begin = begin;
		uploads.options.complete = complete;
		uploads.options.expired = expired;
	}
	eddy_app_map_uploads(app, "/files/{path...}", uploads.dir, &uploads.options);
	eddy_app_map_files(app, "/files/{path...}", uploads.dir, NULL);
	return eddy_app_run_blocking(app) < 0;
}
