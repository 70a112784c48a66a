#include "served.h"

#include <eddy/layer.h>

/* ---- routes ---- */

static int text(struct eddy_req *req, struct eddy_res *res)
{
	struct bytes bytes;
	uint32_t size;
	char *kept;

	if (eddy_req_path(req, EDDY_TO(&size)) < 0)
		return 400;
	bytes = body_of(TEXT, size);
	kept = eddy_req_alloc(req, size + 1);
	memcpy(kept, bytes.ptr, size);
	bytes_deinit(&bytes);
	return eddy_res_bytes(res, "text/plain", eddy_str(kept, size));
}

static int set(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body = EDDY_STR("some text");
	struct eddy_pairs query;
	uint64_t status = 200;
	char name[64];

	if (eddy_req_query_pairs(req, &query) < 0)
		return 400;
	if (eddy_pairs_get(&query, "body").ptr)
		body = eddy_pairs_get(&query, "body");
	eddy_res_bytes(res, "text/plain", body);
	for (size_t i = 0; i < query.count; i++) {
		snprintf(name, sizeof(name), "%.*s", EDDY_FMT(query.list[i].name));
		if (strcmp(name, "status") == 0)
			eddy_str_to_u64(query.list[i].value, &status);
		else if (strcmp(name, "body") != 0)
			eddy_res_set(res, name, query.list[i].value);
	}
	eddy_res_status(res, (int)status);
	return 0;
}

static int stream(struct eddy_req *req, struct eddy_res *res)
{
	uint32_t lines;
	int r = 0;

	if (eddy_req_path(req, EDDY_TO(&lines)) < 0)
		return 400;
	eddy_res_set_z(res, "content-type", "text/plain");
	eddy_res_set_z(res, "etag", "\"s\"");
	for (uint32_t i = 0; i < lines && r == 0; i++)
		r = eddy_res_write(res, "line\n", 5);
	return lines ? r : eddy_res_write(res, "", 0);
}

static int file(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	return eddy_res_file_at(res, *(int *)eddy_req_context(req), name);
}

static int size(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	int r = eddy_req_body(req, &body);

	return r < 0 ? r : eddy_res_ok(res, "%zu", body.len);
}

struct eddy_app *served_app(void)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/text/{n}", text);
	eddy_app_map_get(app, "/set", set);
	eddy_app_map_get(app, "/stream/{n}", stream);
	eddy_app_map_get(app, "/file/{name}", file);
	eddy_app_map_post(app, "/size", size);
	return app;
}

struct eddy_app *served_app_with(const struct eddy_compression_options *options)
{
	struct eddy_app *app = served_app();

	if (options)
		eddy_app_with_compression(app, options);
	eddy_app_use_compression(app, NULL);
	return app;
}

/* ---- asking ---- */

const char *served_field(const struct served *served, const char *name)
{
	static char values[8][256];
	static unsigned next;
	size_t count = eddy_response_header_count(served->response), found = 0;
	char *kept = values[next++ % 8];
	struct eddy_str key, value;

	for (size_t i = 0; i < count; i++) {
		eddy_response_header_at(served->response, i, &key, &value);
		if (eddy_str_eq_nocase(key, eddy_str_from(name))) {
			snprintf(kept, sizeof(values[0]), "%.*s", EDDY_FMT(value));
			found++;
		}
	}
	cr_assert_leq(found, 1, "%s came %zu times", name, found);
	return found ? kept : NULL;
}

struct served served_with(struct eddy_app *app, const char *line, const char *const *fields)
{
	struct eddy_header headers[8] = { { 0 } };
	struct eddy_client_request request = { .headers = headers };
	struct served served = { .coding = "identity" };
	struct eddy_str body;
	const char *coding;
	struct bytes raw = bytes_new();
	int r;

	for (size_t i = 0; fields && fields[2 * i]; i++)
		headers[i] = (struct eddy_header){ fields[2 * i], fields[2 * i + 1] };
	r = eddy_app_test(app, line, &request, &served.response);
	cr_assert_eq(r, 0, "%s: %d", line, r);
	served.status = eddy_response_status(served.response);
	cr_assert_eq(eddy_response_body(served.response, &body), 0);
	bytes_add(&raw, body.ptr, body.len);
	coding = served_field(&served, "content-encoding");
	if (coding)
		served.coding = coding;
	/* That of a HEAD can't be decoded, nor what a test calls by the name of a coding that it is not in. */
	served.text = raw;
	if (coding && raw.len && !strstr(line, "content-encoding")) {
		r = decoded(codec_of(coding), NULL, &raw, &(struct cut){ 0 }, &served.text);
		cr_assert_eq(r, 1, "%s is not %s", line, coding);
		bytes_deinit(&raw);
	}
	return served;
}

struct served served(struct eddy_app *app, const char *line, const char *accept)
{
	const char *const fields[] = { accept ? "accept-encoding" : NULL, accept, NULL };

	return served_with(app, line, fields);
}

void served_end(struct served *served)
{
	eddy_response_free(served->response);
	bytes_deinit(&served->text);
}

const char *served_coding(struct eddy_app *app, const char *line, const char *accept)
{
	static char coding[16];
	struct served got = served(app, line, accept);

	snprintf(coding, sizeof(coding), "%s", got.status == 406 ? "406" : got.coding);
	served_end(&got);
	return coding;
}
