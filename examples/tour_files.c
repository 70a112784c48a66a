/* File downloads and uploads. An upload gets its name when it is complete. */
#include "tour.h"

#include <eddy/part.h>

static int folder(struct eddy_req *req)
{
	const struct tour *tour = eddy_req_context(req);

	return tour->dir;
}

static json_t *describe(const struct eddy_saved *saved)
{
	return json_pack("{s:s%, s:I}", "name", saved->name.ptr, saved->name.len, "size",
			 (json_int_t)saved->size);
}

/* GET /files/{name} */
static int download(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	return eddy_res_file_at(res, folder(req), name);
}

/* POST /files */
static int save(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_saved saved;
	int r = eddy_req_save(req, folder(req), NULL, &saved);

	if (r < 0)
		return r;
	eddy_res_status(res, 201);
	return eddy_res_json(res, describe(&saved));
}

/* PUT /files/{name} */
static int save_as(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_saved saved;
	struct eddy_str name;
	int r;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	r = eddy_req_save_at(req, folder(req), name, NULL, &saved);
	if (r < 0)
		return r;
	eddy_res_status(res, saved.replaced ? 200 : 201);
	return eddy_res_json(res, describe(&saved));
}

/* POST /multipart */
static int save_all(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_saved *saved;
	ssize_t count = eddy_req_save_all(req, folder(req), NULL, &saved);
	json_t *files;

	if (count < 0)
		return (int)count;
	files = json_array();
	for (ssize_t i = 0; i < count; i++)
		json_array_append_new(files, describe(&saved[i]));
	eddy_res_status(res, 201);
	return eddy_res_json(res, json_pack("{s:o}", "files", files));
}

/* Save a part that has a file name, or read it as text. */
static int read_part(struct eddy_part *part, int dir, uint64_t *ret_size)
{
	struct eddy_saved saved;
	struct eddy_str text;
	int r;

	if (part->filename.len) {
		r = eddy_part_save(part, dir, NULL, &saved);
		*ret_size = r < 0 ? 0 : saved.size;
	} else {
		r = eddy_part_text(part, &text);
		*ret_size = r < 0 ? 0 : text.len;
	}
	return r;
}

static json_t *text_or_null(struct eddy_str text)
{
	return text.ptr ? json_stringn(text.ptr, text.len) : json_null();
}

/* POST /fields */
static int fields(struct eddy_req *req, struct eddy_res *res)
{
	json_t *list = json_array();
	struct eddy_multipart *form;
	struct eddy_part *part;
	uint64_t size;
	int r = eddy_req_multipart(req, NULL, &form);

	while (r == 0 && (r = eddy_multipart_next(form, &part)) > 0) {
		r = read_part(part, folder(req), &size);
		if (r < 0)
			break;
		/* NULL if a name is not UTF-8. */
		r = json_array_append_new(
			list, json_pack("{s:o, s:o, s:o, s:I}", "field", text_or_null(part->name),
					"filename", text_or_null(part->filename), "type",
					text_or_null(part->type), "size", (json_int_t)size));
		if (r < 0)
			r = eddy_res_problem(res, 400, "a name in the form is not UTF-8") ?: 1;
	}
	if (r == 0)
		return eddy_res_json(res, list);
	json_decref(list);
	return r < 0 ? r : 0;
}

void tour_map_files(struct eddy_app *app)
{
	eddy_app_map_get(app, "/files/{name}", download);
	eddy_app_map_post(app, "/files", save);
	eddy_app_map_put(app, "/files/{name}", save_as);
	eddy_app_map_post(app, "/multipart", save_all);
	eddy_app_map_post(app, "/fields", fields);
}
