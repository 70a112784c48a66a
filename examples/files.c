/* files: a file server for one folder, with downloads, uploads and a web page.
 *
 *     files [DIR] [--bind ADDR] [--workers N] [--max-size BYTES] [--no-upload] [--cert FILE [--key FILE]]
 *           [--technique NAME] [--upload-technique NAME] [--turn BYTES] [--no-open-files] [--no-sandbox]
 *
 *     $ files ~/shared &
 *     $ curl -T holiday.mp4 localhost:7878/files/holiday.mp4
 *     {"name":"holiday.mp4","size":734003200}
 *     $ curl -o copy.mp4 localhost:7878/files/holiday.mp4
 *
 * Or open http://localhost:7878/ in a browser; without JavaScript it shows /plain, a list and form.
 */
#include "files_settings.h"
#include "switches.h"

#include <eddy/layer.h>
#include <eddy/runtime.h>
#include <eddy/upload.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct files *files_of(struct eddy_req *req)
{
	return eddy_req_context(req);
}

static json_t *describe(const struct eddy_saved *saved)
{
	return json_pack("{s:s%, s:I}", "name", saved->name.ptr, saved->name.len, "size",
			 (json_int_t)saved->size);
}

struct eddy_save_options files_save_options(struct eddy_req *req)
{
	return (struct eddy_save_options){ .max = files_of(req)->max_size };
}

/* GET /files/{name} */
static int download(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	if (!files_name_is_public(name))
		return 404;
	return eddy_res_file_at(res, files_of(req)->dir, name);
}

int files_refused(struct eddy_res *res, int error)
{
	if (error == -EACCES || error == -EPERM || error == -EROFS)
		return eddy_res_error(res, 403,
				      "the server has no permission to write to its folder");
	return error;
}

/* PUT /files/{name} */
static int put(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_save_options options = files_save_options(req);
	struct eddy_saved saved;
	struct eddy_str name;
	int r;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	if (!files_name_is_public(name))
		return eddy_res_problem(res, 400,
					"a file name must not contain '/' or begin with a dot");
	r = eddy_req_save_at(req, files_of(req)->dir, name, &options, &saved);
	if (r < 0)
		return files_refused(res, r);
	eddy_res_status(res, saved.replaced ? 200 : 201);
	return eddy_res_json(res, describe(&saved));
}

/* POST /files */
static int post(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_save_options options = files_save_options(req);
	struct eddy_saved *saved;
	ssize_t count = eddy_req_save_all(req, files_of(req)->dir, &options, &saved);
	json_t *files;

	if (count < 0)
		return files_refused(res, (int)count);
	files = json_array();
	for (ssize_t i = 0; i < count; i++)
		json_array_append_new(files, describe(&saved[i]));
	eddy_res_status(res, 201);
	return eddy_res_json(res, json_pack("{s:o}", "files", files));
}

/* DELETE /files/{name} */
static int remove_file(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;
	struct statx st;
	int dir = files_of(req)->dir, r;
	char path[NAME_MAX + 1];

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	if (!files_name_is_public(name) || name.len > NAME_MAX)
		return 404;
	snprintf(path, sizeof(path), "%.*s", EDDY_FMT(name));
	r = eddy_statx(dir, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &st);
	if (r == 0 && !S_ISREG(st.stx_mode))
		return 404;
	if (r == 0)
		r = eddy_unlinkat(dir, path, 0);
	return r < 0 ? files_refused(res, r) : 204;
}

static void use_tls(struct eddy_app *app, const struct eddy_tls_options *options)
{
#ifdef EDDY_NO_TLS
	(void)app;
	if (options->cert || options->key) {
		fputs("files: this eddy was built without TLS (-Dtls=disabled)\n", stderr);
		exit(2);
	}
#else
	if (options->cert || options->key)
		eddy_app_use_tls(app, options);
#endif
}

/* The folder is readable because of eddy_app_keep_files_open(). */
static void use_sandbox(struct eddy_app *app, const struct files *files)
{
	const char *const folder[] = { files->path, NULL };

	eddy_app_sandbox(app, &(struct eddy_sandbox_options){
				      .writable = files->no_upload ? NULL : folder,
			      });
}

static void map(struct eddy_app *app)
{
	eddy_app_map_get(app, "/", files_index);
	eddy_app_map_get(app, "/page/{name}", files_asset);
	eddy_app_map_get(app, "/plain", files_plain);
	eddy_app_map_post(app, "/plain", files_plain_post);
	eddy_app_map_get(app, "/api/files", files_api);
	eddy_app_map_get(app, "/files/{name}", download);
	eddy_app_map_put(app, "/files/{name}", put);
	eddy_app_map_post(app, "/files", post);
	eddy_app_map_delete(app, "/files/{name}", remove_file);
	eddy_app_map_err(app, files_plain_error);
}

int main(int argc, char **argv)
{
	struct files_settings settings = {
		.files = { .bind = "localhost:7878", .path = ".", .max_size = EDDY_NEVER },
		.server = { .restart = true },
	};
	struct files *files = &settings.files;
	struct eddy_app *app;
	int r;

	eddy_log_text_subscribe();
	files_settings_parse(&settings, argc, argv);
	files->dir = switch_folder(files->path);
	files_check(files);

	app = files->app = eddy_app_new();
	eddy_app_bind(app, files->bind);
	use_tls(app, &settings.tls);
	settings.server.transfer = &settings.transfer;
	eddy_app_with_server(app, &settings.server);
	eddy_app_set_context(app, files);
	eddy_app_keep_files_open(app, files->dir);
	if (!settings.no_sandbox)
		use_sandbox(app, files);
	eddy_app_add_filter(app, files_harden, NULL);
	eddy_app_use_same_origin(app, &(struct eddy_same_origin_options){ .local_only = true });
	eddy_app_add_filter(app, files_guard, NULL);
	map(app);
	files_look_around(files);
	eddy_app_add_task(app, "greet", files_greet, files);
	r = eddy_app_run_blocking(app);
	if (r < 0)
		files_advise(files, r);
	return r < 0;
}
