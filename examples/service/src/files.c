#include "dropbox.h"

struct file {
	int64_t id, size;
	struct eddy_str name, type, sha256;
	bool has_sha256;
};

static const struct eddy_member new_file_members[] = { EDDY_MEMBER(struct file, id),
						       EDDY_MEMBER(struct file, name),
						       EDDY_MEMBER(struct file, size) };
static const struct eddy_member file_members[] = {
	EDDY_MEMBER(struct file, id), EDDY_MEMBER(struct file, name),
	EDDY_MEMBER(struct file, size), EDDY_MEMBER(struct file, type),
	EDDY_MEMBER(struct file, sha256, .present = EDDY_PRESENT(struct file, has_sha256),
		    .null = true)
};

struct page {
	unsigned limit, offset;
};
static const struct eddy_member page_members[] = {
	EDDY_MEMBER(struct page, limit, .range = { 1, 500 }, .otherwise = "100"),
	EDDY_MEMBER(struct page, offset, .otherwise = "0")
};

static struct eddy_metric *uploads, *bytes;

static int put(struct eddy_req *req, struct eddy_res *res)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	struct eddy_pg *pg = &dropbox.database.pg;
	struct eddy_str name, stored, owner = dropbox_caller(req);
	struct eddy_saved saved;
	int64_t left;
	int r = eddy_req_path(req, EDDY_TO(&name));

	if (r == 0)
		r = eddy_pg_get(
			pg, &rows,
			"select gen_random_uuid()::text, quota - (select coalesce(sum(size), 0)::bigint "
			"from files where owner = $1) from users where name = $1 and $2 <> ''",
			EDDY_PG(owner, name), EDDY_TO(&stored), EDDY_TO(&left));
	if (r < 0)
		return r == -ENOENT ? 403 : r;
	if (left <= 0 && eddy_req_length(req) > 0)
		r = -EFBIG;
	else
		r = eddy_req_save_at(req, dropbox.dir, stored,
				     &(struct eddy_save_options){ .max = (uint64_t)left }, &saved);
	if (r == -EFBIG)
		return eddy_res_problem(res, 507, "%lld bytes of your quota are left",
					(long long)left);
	if (r < 0)
		return r;
	eddy_res_status(res, 201);
	r = eddy_pg_respond_one(
		res, pg, EDDY_SHAPE(struct file, new_file_members),
		"insert into files (owner, name, size, stored, type) values ($1, $2, $3, $4, "
		"coalesce($5, 'application/octet-stream')) returning id, name, size",
		EDDY_PG(owner, name, saved.size, stored, eddy_req_header(req, "content-type")));
	if (r == -EEXIST || r == -EBUSY) /* after other failures there may be a row */
		eddy_unlinkat(dropbox.dir, stored.ptr, 0);
	if (r == -EEXIST)
		return eddy_res_problem(res, 409, "you have a file of this name");
	eddy_metric_add(uploads, r == 0);
	eddy_metric_add(bytes, r == 0 ? (int64_t)saved.size : 0);
	return r;
}

static int get(struct eddy_req *req, struct eddy_res *res)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	struct eddy_str name, stored, type;
	int r = eddy_req_path(req, EDDY_TO(&name));

	if (r == 0)
		r = eddy_pg_get(&dropbox.database.pg, &rows,
				"select stored, type from files where owner = $1 and name = $2",
				EDDY_PG(dropbox_caller(req), name), EDDY_TO(&stored),
				EDDY_TO(&type));
	if (r == 0)
		r = eddy_openat(dropbox.dir, stored.ptr, O_RDONLY, 0);
	return r < 0 ? r :
		       eddy_res_file(res, name, r, &(struct eddy_file_options){ .type = type.ptr });
}

static int list(struct eddy_req *req, struct eddy_res *res)
{
	struct page page;
	int r = eddy_req_query_into(req, page_members, &page);

	if (r == 0)
		r = eddy_pg_respond(
			res, &dropbox.database.pg, EDDY_SHAPE(struct file, file_members),
			"select * from files where owner = $1 order by name limit $2 offset $3",
			EDDY_PG(dropbox_caller(req), page.limit, page.offset));
	return r;
}

void dropbox_map_files(struct eddy_group *api)
{
	eddy_metric_declare(&(struct eddy_metric_options){ .name = "dropbox_uploads_total",
							   .help = "Files." },
			    &uploads);
	eddy_metric_declare(&(struct eddy_metric_options){ .name = "dropbox_bytes_total",
							   .help = "Bytes." },
			    &bytes);
	eddy_route_describe(
		eddy_app_map_put(api, "/files/{name}", put),
		&(struct eddy_operation){
			.summary = "Upload a file",
			.body_type = "application/octet-stream",
			.responses = { { 201, "Stored.",
					 .shape = EDDY_SHAPE(struct file, new_file_members) },
				       { 409, .description = "You have a file of this name." },
				       { 507, .description = "It exceeds your quota." } } });
	eddy_route_describe(eddy_app_map_get(api, "/files/{name}", get),
			    &(struct eddy_operation){
				    .summary = "Download a file",
				    .responses = { { 200, "The file.",
						     .type = "application/octet-stream" } } });
	eddy_route_describe(eddy_app_map_get(api, "/files", list),
			    &(struct eddy_operation){
				    .summary = "List your files",
				    .query = EDDY_SHAPE(struct page, page_members),
				    .responses = { { 200, "By name.",
						     .shape = EDDY_SHAPE(struct file, file_members),
						     .is_array = true } } });
}
