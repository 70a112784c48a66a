/* files: a file server for a folder and those in it, with downloads, uploads and a web page.
 *
 *     files [DIR] [--bind ADDR] [--workers N] [--max-size BYTES] [--no-upload] [--cert FILE [--key FILE]]
 *           [--login FILE] [--insecure-login] [--upload-age SECS] [--append-max BYTES]
 *           [--technique NAME] [--upload-technique NAME] [--turn BYTES] [--no-http2] [--no-open-files] [--no-sandbox]
 *
 *     $ files ~/shared &
 *     $ curl -T holiday.mp4 localhost:7878/files/holiday.mp4
 *     {"name":"holiday.mp4","size":734003200}
 *     $ curl -o copy.mp4 localhost:7878/files/holiday.mp4
 *     $ curl -OJ localhost:7878/files/2026/?zip
 *
 * Or open http://localhost:7878/ in a browser; without JavaScript it shows /plain, a list and form.
 */
#include "files_settings.h"
#include "switches.h"

#include <eddy/file.h>
#include <eddy/layer.h>
#include <eddy/runtime.h>
#include <eddy/upload.h>
#include <eddy/uploads.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct files *files_of(struct eddy_req *req)
{
	return eddy_req_context(req);
}

static json_t *describe(const struct eddy_saved *saved)
{
	return json_pack("{s:s%, s:I}", "name", saved->name.ptr, saved->name.len, "size",
			 (json_int_t)saved->size);
}

int files_refused(struct eddy_res *res, int error)
{
	if (error == -EACCES || error == -EPERM || error == -EROFS)
		return eddy_res_error(res, 403,
				      "the server has no permission to write to its folder");
	return error;
}

/* ---- GET /files/{path} ---- */

static bool asks_for(struct eddy_req *req, const char *name)
{
	struct eddy_str value;

	return eddy_req_query(req).len && eddy_req_query_get(req, name, &value) == 0;
}

/* Let a browser show the file, without running anything in it. */
static int view(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str disposition = eddy_res_header(res, "content-disposition");
	struct eddy_str type = eddy_res_header(res, "content-type"), inline_ = EDDY_STR("inline");
	bool is_pdf = eddy_str_eq_z(type, "application/pdf");
	struct eddy_str rest = eddy_str_skip(disposition, strlen("attachment"));
	char *text = eddy_req_alloc(req, inline_.len + rest.len);

	if (!disposition.ptr) /* an error instead of the file */
		return 0;
	if (!text)
		return -ENOMEM;
	memcpy(mempcpy(text, inline_.ptr, inline_.len), rest.ptr, rest.len);
	eddy_res_set(res, "content-disposition", eddy_str(text, inline_.len + rest.len));
	/* Chromium's viewer of PDF does not run in a sandbox. */
	return eddy_res_set_z(res, "content-security-policy",
			      is_pdf ? "default-src 'none'; frame-ancestors 'self'" : "sandbox");
}

static int get(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str path;
	bool slash;
	int r = eddy_req_path_beneath(req, &path, &slash);

	if (r < 0)
		return r;
	if (slash)
		return asks_for(req, "zip") ? files_zip(req, res, path) :
					      files_send_index(req, res, path);
	r = path.len ? eddy_res_file_at(res, files_of(req)->dir, path) : -ENOENT;
	if (r == -ENOENT)
		return files_to_folder(req, res, path);
	return r == 0 && asks_for(req, "view") ? view(req, res) : r;
}

/* ---- PUT /files/{path} ---- */

static int receive(struct eddy_req *req, struct eddy_res *res, struct eddy_str path)
{
	struct eddy_uploads *uploads = files_of(req)->uploads;

	return files_refused(res, eddy_uploads_receive(uploads, req, res, path));
}

static int put(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str path;
	bool slash;
	int r = eddy_req_path_beneath(req, &path, &slash);

	if (r < 0 || (!path.len && !slash))
		return eddy_res_problem(res, 400,
					"a file name must be UTF-8 without control characters, and "
					"not contain '/' or begin with a dot");
	return slash ? files_folder_make(req, res, path) : receive(req, res, path);
}

/* ---- POST /files/{path} ---- */

ssize_t files_save_form(struct eddy_req *req, struct eddy_str path, struct eddy_saved **ret_saved)
{
	struct files *files = files_of(req);
	struct eddy_save_options options = { .max = files->max_size };
	char *copy = eddy_req_strdup(req, path);
	int dir = copy ? files_open(files, copy, O_PATH | O_DIRECTORY) : -ENOMEM;
	ssize_t count;

	if (dir < 0)
		return dir;
	count = eddy_req_save_all(req, dir, &options, ret_saved);
	close(dir);
	return count;
}

static int save_form(struct eddy_req *req, struct eddy_res *res, struct eddy_str path)
{
	struct eddy_saved *saved;
	ssize_t count = files_save_form(req, path, &saved);
	json_t *files;

	if (count < 0)
		return files_refused(res, (int)count);
	files = json_array();
	for (ssize_t i = 0; i < count; i++)
		json_array_append_new(files, describe(&saved[i]));
	eddy_res_status(res, 201);
	return eddy_res_json(res, json_pack("{s:o}", "files", files));
}

static int post(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str path;
	bool slash;
	int r = eddy_req_path_beneath(req, &path, &slash);

	if (r < 0)
		return r;
	return path.len && !slash ? receive(req, res, path) : save_form(req, res, path);
}

/* ---- OPTIONS /files/{path} ---- */

static int offer(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_uploads_offer(files_of(req)->uploads, req, res);
}

/* ---- DELETE /files/{path} ---- */

static int remove_file(struct eddy_req *req, struct eddy_res *res, struct eddy_str path)
{
	EDDY_AUTO(files_place_close) struct files_place place = { 0 };
	char *copy = eddy_req_strdup(req, path);
	struct files_kind kind;
	int r = copy ? files_place_open(files_of(req), copy, &place) : -ENOMEM;

	if (r == 0)
		r = files_place_look(&place, &kind);
	if (r == 0 && kind.is_folder)
		r = -ENOENT;
	if (r == 0)
		r = eddy_unlinkat(place.dir, place.name, 0);
	return r < 0 ? files_refused(res, r) : 204;
}

static int delete (struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str path;
	bool slash;
	int r = eddy_req_path_beneath(req, &path, &slash);

	if (r < 0 || (!path.len && !slash))
		return 404;
	return slash ? files_folder_remove(req, res, path) : remove_file(req, res, path);
}

/* ---- the program ---- */

/* The folder is readable because of eddy_app_keep_files_open(). */
static void use_sandbox(struct eddy_app *app, const struct files *files)
{
	const char *const folder[] = { files->path, NULL };

	eddy_app_sandbox(app, &(struct eddy_sandbox_options){
				      .writable = files->no_upload ? NULL : folder,
			      });
}

/* The URLs of uploads that can be resumed, and tus. */
static void use_uploads(struct eddy_app *app, struct files *files)
{
	files->uploads = eddy_app_add_uploads(app, files->path,
					      &(struct eddy_uploads_options){
						      .max = files->max_size,
						      .append_max = files->append_max,
						      .append_min = FILES_APPEND_MIN,
						      .expire_ns = files->upload_age * EDDY_SECOND,
						      .tus = "/tus",
					      });
	eddy_app_map_options(app, "/files/{path...}", offer);
}

static void map(struct eddy_app *app)
{
	eddy_app_map_get(app, "/", files_index);
	eddy_app_map_get(app, "/page/{name}", files_asset);
	eddy_app_map_get(app, "/plain", files_plain);
	eddy_app_map_post(app, "/plain", files_plain_post);
	eddy_app_map_get(app, "/api/files", files_api);
	eddy_app_map_get(app, "/api/events", files_events);
	eddy_app_map_post(app, "/api/move", files_move);
	eddy_app_map_get(app, "/files/{path...}", get);
	eddy_app_map_put(app, "/files/{path...}", put);
	eddy_app_map_post(app, "/files/{path...}", post);
	eddy_app_map_delete(app, "/files/{path...}", delete);
	eddy_app_map_err(app, files_plain_error);
}

int main(int argc, char **argv)
{
	struct files_settings settings = {
		.files = { .bind = "localhost:7878",
			   .path = ".",
			   .max_size = EDDY_NEVER,
			   .upload_age = 86400 },
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
	switch_tls(app, &settings.tls);
	settings.server.transfer = &settings.transfer;
	eddy_app_with_server(app, &settings.server);
	eddy_app_set_context(app, files);
	eddy_app_keep_files_open(app, files->dir);
	if (!settings.no_sandbox)
		use_sandbox(app, files);
	eddy_app_add_filter(app, files_harden, NULL);
	eddy_app_add_filter(app, files_ask, NULL);
	/* A page of another name can't use the login of this one. */
	eddy_app_use_same_origin(app,
				 &(struct eddy_same_origin_options){ .local_only = !files->login });
	eddy_app_add_filter(app, files_guard, NULL);
	map(app);
	if (!files->no_upload)
		use_uploads(app, files);
	files_look_around(files);
	eddy_app_add_task(app, "greet", files_greet, files);
	r = eddy_app_run_blocking(app);
	if (r < 0)
		files_advise(files, r);
	files_login_free(files->login);
	return r < 0;
}
