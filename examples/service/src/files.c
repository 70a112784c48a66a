#include "dropbox.h"

struct file {
	int64_t id, size;
	struct eddy_str name, type, sha256, stored;
	bool has_sha256;
};

static const struct eddy_member stored_members[] = { EDDY_MEMBER(struct file, id),
						     EDDY_MEMBER(struct file, name),
						     EDDY_MEMBER(struct file, size) };
static const struct eddy_member file_members[] = {
	EDDY_MEMBER(struct file, id), EDDY_MEMBER(struct file, name),
	EDDY_MEMBER(struct file, size), EDDY_MEMBER(struct file, type),
	EDDY_MEMBER(struct file, sha256, .present = EDDY_PRESENT(struct file, has_sha256),
		    .null = true)
};
static const struct eddy_member source_members[] = { EDDY_MEMBER(struct file, stored),
						     EDDY_MEMBER(struct file, type) };

struct page {
	unsigned limit, offset;
};
static const struct eddy_member page_members[] = {
	EDDY_MEMBER(struct page, limit, .range = { 1, 500 }, .otherwise = "100"),
	EDDY_MEMBER(struct page, offset, .otherwise = "0")
};

static int put(struct eddy_req *req, struct eddy_res *res)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 }, added = { 0 };
	struct dropbox *box = eddy_req_context(req);
	struct eddy_str owner = dropbox_caller(req);
	struct file file = { .type = eddy_req_header(req, "content-type") };
	struct eddy_saved saved;
	int64_t left;
	int r = eddy_req_path(req, EDDY_TO(&file.name));

	if (r == 0)
		r = eddy_pg_query(
			&box->pg, &rows,
			"select gen_random_uuid()::text, quota - (select coalesce(sum(size), 0)::bigint "
			"from files where owner = $1) from users where name = $1 and $2 <> ''",
			EDDY_PG(owner, file.name));
	if (r == 0)
		r = rows.count ? eddy_pg_row(&rows, 0, EDDY_TO(&file.stored), EDDY_TO(&left)) :
				 -EACCES;
	if (r == 0 && left <= 0 && eddy_req_length(req) > 0)
		r = -EFBIG;
	if (r == 0)
		r = eddy_req_save_at(req, box->dir, file.stored,
				     &(struct eddy_save_options){ .max = (uint64_t)left }, &saved);
	if (r == -EFBIG)
		return eddy_res_problem(res, 507, "%lld bytes of your quota are left",
					(long long)left);
	if (r < 0)
		return r;
	file.size = (int64_t)saved.size;
	r = eddy_pg_one(
		&box->pg, &added, stored_members, &file,
		"insert into files (owner, name, size, stored, type) values ($1, $2, $3, $4, "
		"coalesce($5, 'application/octet-stream')) returning id, name, size",
		EDDY_PG(owner, file.name, file.size, file.stored, file.type));
	/* After any other failure the row may be there. */
	if (r == -EBUSY || (r < 0 && *eddy_pg_sqlstate(&box->pg)))
		unlinkat(box->dir, eddy_req_strdup(req, file.stored), 0);
	if (r < 0)
		return r == -EEXIST ? eddy_res_problem(res, 409, "you have a file of this name") :
				      r;
	eddy_metric_add(box->uploads, 1);
	eddy_metric_add(box->bytes, file.size);
	eddy_res_status(res, 201);
	return eddy_res_json_from(res, stored_members, &file);
}

static int get(struct eddy_req *req, struct eddy_res *res)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	struct dropbox *box = eddy_req_context(req);
	struct eddy_str name;
	struct file file;
	int r = eddy_req_path(req, EDDY_TO(&name));

	if (r == 0)
		r = eddy_pg_one(&box->pg, &rows, source_members, &file,
				"select stored, type from files where owner = $1 and name = $2",
				EDDY_PG(dropbox_caller(req), name));
	if (r == 0)
		r = eddy_openat(box->dir, eddy_req_strdup(req, file.stored), O_RDONLY, 0);
	return r < 0 ? r :
		       eddy_res_file(res, name, r,
				     &(struct eddy_file_options){
					     .type = eddy_req_strdup(req, file.type) });
}

static int list(struct eddy_req *req, struct eddy_res *res)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	struct dropbox *box = eddy_req_context(req);
	struct page page;
	struct file files[500];
	int r = eddy_req_query_into(req, page_members, &page);

	if (r == 0)
		r = eddy_pg_query(
			&box->pg, &rows,
			"select * from files where owner = $1 order by name limit $2 offset $3",
			EDDY_PG(dropbox_caller(req), page.limit, page.offset));
	for (size_t i = 0; r == 0 && i < rows.count; i++)
		r = eddy_pg_row_into(&rows, i, file_members, &files[i]);
	return r < 0 ? r : eddy_res_json_array(res, file_members, files, rows.count);
}

static const struct eddy_operation put_operation = {
	.summary = "Upload a file",
	.body_type = "application/octet-stream",
	.responses = { { 201, "Stored.", EDDY_SHAPE(struct file, stored_members) },
		       { 409, "You have a file of this name." },
		       { 507, "It is larger than what is left of your quota." } }
};
static const struct eddy_operation get_operation = {
	.summary = "Download a file",
	.responses = { { 200, "The file.", .type = "application/octet-stream" }, { 404, "None." } }
};
static const struct eddy_operation list_operation = {
	.summary = "List your files",
	.query = EDDY_SHAPE(struct page, page_members),
	.responses = { { 200, "By name.", EDDY_SHAPE(struct file, file_members),
			 .is_array = true } }
};

void dropbox_map_files(struct eddy_group *api)
{
	eddy_route_describe(eddy_app_map_put(api, "/files/{name}", put), &put_operation);
	eddy_route_describe(eddy_app_map_get(api, "/files/{name}", get), &get_operation);
	eddy_route_describe(eddy_app_map_get(api, "/files", list), &list_operation);
}
