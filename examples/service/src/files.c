#include "dropbox.h"

struct file {
	int64_t id, size;
	struct eddy_str name, type, sha256;
	bool has_sha256;
};

/* Of a file that was stored, and of one in the list. */
static const struct eddy_member stored_members[] = {
	EDDY_MEMBER(struct file, id),
	EDDY_MEMBER(struct file, name),
	EDDY_MEMBER(struct file, size),
};
static const struct eddy_member file_members[] = {
	EDDY_MEMBER(struct file, id),
	EDDY_MEMBER(struct file, name),
	EDDY_MEMBER(struct file, size),
	EDDY_MEMBER(struct file, type),
	EDDY_MEMBER(struct file, sha256, .present = EDDY_PRESENT(struct file, has_sha256),
		    .null = true),
};

struct page {
	unsigned limit, offset;
};

static const struct eddy_member page_members[] = {
	EDDY_MEMBER(struct page, limit, .range = { 1, 500 }, .otherwise = "100"),
	EDDY_MEMBER(struct page, offset, .otherwise = "0"),
};

/* Add a file and its job in a transaction. */
static int add_file(struct eddy_pg *tx, struct eddy_str owner, struct eddy_str stored,
		    struct file *file)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	char id[EDDY_U64_SIZE];
	int r = eddy_pg_query(
		tx, &rows,
		"insert into files (owner, name, size, stored, type) values ($1, $2, $3, $4, "
		"coalesce($5, 'application/octet-stream')) returning id",
		EDDY_PG(owner, file->name, file->size, stored, file->type));

	if (r == 0)
		r = eddy_pg_row(&rows, 0, EDDY_TO(&file->id));
	if (r < 0)
		return r;
	eddy_u64_format((uint64_t)file->id, id);
	return eddy_pg_jobs_add(tx, &(struct eddy_pg_new_job){ .kind = "checksum",
							       .payload = eddy_str_from(id) });
}

static int put_file(struct eddy_req *req, struct eddy_res *res)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	EDDY_AUTO(eddy_pg_end) struct eddy_pg tx = { 0 }; /* rolls back, unless committed */
	struct dropbox *box = eddy_req_context(req);
	struct file file = { .type = eddy_req_header(req, "content-type") };
	struct eddy_saved saved;
	struct eddy_str stored;
	int64_t left;
	int r;

	if (eddy_req_path(req, EDDY_TO(&file.name)) < 0)
		return 400;
	r = eddy_pg_query(
		&box->pg, &rows,
		"select gen_random_uuid()::text, quota - (select coalesce(sum(size), 0)::bigint "
		"from files where owner = users.name) from users where name = $1 and $2 <> ''",
		EDDY_PG(dropbox_caller(req), file.name));
	if (r < 0)
		return r;
	if (!rows.count)
		return eddy_res_problem(res, 403, "you are not a user");
	r = eddy_pg_row(&rows, 0, EDDY_TO(&stored), EDDY_TO(&left));
	if (r == 0 && left <= 0 && eddy_req_length(req) > 0)
		r = -EFBIG;
	if (r == 0)
		r = eddy_req_save_at(req, box->dir, stored,
				     &(struct eddy_save_options){ .max = (uint64_t)left }, &saved);
	if (r == -EFBIG)
		return eddy_res_problem(res, 507, "your quota has %lld bytes left",
					(long long)left);
	if (r < 0)
		return r;
	file.size = (int64_t)saved.size;
	r = eddy_pg_begin(&box->pg, NULL, &tx);
	if (r == 0)
		r = add_file(&tx, dropbox_caller(req), stored, &file);
	if (r < 0) {
		unlinkat(box->dir, eddy_req_strdup(req, stored), 0);
		return r == -EEXIST ? eddy_res_problem(res, 409, "you have a file of this name") :
				      r;
	}
	r = eddy_pg_commit(&tx);
	if (r < 0)
		return r; /* perhaps the database has it, so the file stays */
	eddy_metric_add(box->uploads, 1);
	eddy_metric_add(box->bytes, file.size);
	eddy_res_status(res, 201);
	return eddy_res_json_from(res, stored_members, &file);
}

static int get_file(struct eddy_req *req, struct eddy_res *res)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	struct dropbox *box = eddy_req_context(req);
	struct eddy_str name, stored, type;
	int fd, r;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	r = eddy_pg_query(&box->pg, &rows,
			  "select stored, type from files where owner = $1 and name = $2",
			  EDDY_PG(dropbox_caller(req), name));
	if (r == 0)
		r = rows.count ? eddy_pg_row(&rows, 0, EDDY_TO(&stored), EDDY_TO(&type)) : -ENOENT;
	if (r < 0)
		return r;
	fd = eddy_openat(box->dir, eddy_req_strdup(req, stored), O_RDONLY, 0);
	return fd < 0 ? fd :
			eddy_res_file(
				res, name, fd,
				&(struct eddy_file_options){ .type = eddy_req_strdup(req, type) });
}

static int list_files(struct eddy_req *req, struct eddy_res *res)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	struct dropbox *box = eddy_req_context(req);
	struct file *files;
	struct page page;
	int r = eddy_req_query_into(req, page_members, &page);

	if (r == 0)
		r = eddy_pg_query(
			&box->pg, &rows,
			"select * from files where owner = $1 order by name limit $2 offset $3",
			EDDY_PG(dropbox_caller(req), page.limit, page.offset));
	files = eddy_req_alloc(req, (rows.count + 1) * sizeof(*files));
	for (size_t i = 0; r == 0 && i < rows.count; i++)
		r = files ? eddy_pg_row_into(&rows, i, file_members, &files[i]) : -ENOMEM;
	return r < 0 ? r : eddy_res_json_array(res, file_members, files, rows.count);
}

static const struct eddy_operation put_operation = {
	.summary = "Upload a file",
	.body_type = "application/octet-stream",
	.responses = { { 201, "The file.", EDDY_SHAPE(struct file, stored_members) },
		       { 409, "You have a file of this name." },
		       { 507, "It is larger than what is left of your quota." } },
};
static const struct eddy_operation get_operation = {
	.summary = "Download a file",
	.responses = { { 200, "The file.", .type = "application/octet-stream" },
		       { 404, "You have no such file." } },
};
static const struct eddy_operation list_operation = {
	.summary = "List your files",
	.query = EDDY_SHAPE(struct page, page_members),
	.responses = { { 200, "The files.", EDDY_SHAPE(struct file, file_members),
			 .is_array = true } },
};

void dropbox_map_files(struct dropbox *box)
{
	eddy_route_describe(eddy_app_map_put(box->api, "/files/{name}", put_file), &put_operation);
	eddy_route_describe(eddy_app_map_get(box->api, "/files/{name}", get_file), &get_operation);
	eddy_route_describe(eddy_app_map_get(box->api, "/files", list_files), &list_operation);
}
