/* Tests of what comes in through a coder (eddy/coder.h). */
#include "../folder.h"
#include "hex.h"

#include <unistd.h>

static int decoding(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	struct hex *state = hex_new(true);
	int r;

	state->left = 100000;
	r = eddy_req_decode(req, &hex, state);
	return r < 0 ? r : eddy_next(next, req, res);
}

static int size(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	int r = eddy_req_body(req, &body);

	if (r < 0)
		return r;
	cr_assert(eddy_req_length(req) == EDDY_LENGTH_UNKNOWN);
	return eddy_res_ok(res, "%zu %.*s", body.len, (int)(body.len < 9 ? body.len : 9), body.ptr);
}

static int save(struct eddy_req *req, struct eddy_res *res)
{
	int dir = *(int *)eddy_req_context(req);
	struct eddy_saved saved;
	int r = eddy_req_save_at(req, dir, EDDY_STR("it"), NULL, &saved);

	return r < 0 ? r : eddy_res_ok(res, "%llu", (unsigned long long)saved.size);
}

static struct eddy_app *make(eddy_filter_fn *filter)
{
	struct eddy_app *app = hex_app();

	eddy_app_map_post(app, "/size", size);
	eddy_app_map_post(app, "/save", save);
	if (filter)
		eddy_app_add_filter(app, filter, NULL);
	return app;
}

static int post(const char *path, struct eddy_str sent, char *ret_text, size_t text_size)
{
	struct eddy_app *app = make(decoding);
	const struct eddy_header *fields =
		(const struct eddy_header[]){ { "content-encoding", "x-hex" }, { 0 } };
	struct eddy_client_request request = { .method = "POST", .body = sent, .headers = fields };
	struct eddy_response *response;
	struct eddy_str body;
	char line[64];
	int status, dir;

	make_folder();
	dir = open(folder, O_DIRECTORY | O_CLOEXEC);
	eddy_app_set_context(app, &dir);
	snprintf(line, sizeof(line), "POST %s", path);
	response = ask(app, line, &request, &body);
	status = eddy_response_status(response);
	snprintf(ret_text, text_size, "%.*s", EDDY_FMT(body));
	eddy_response_free(response);
	eddy_app_free(app);
	close(dir);
	remove_folder();
	cr_assert(eq(uint, alive, 0));
	return status;
}

static struct eddy_str digits_of(size_t count)
{
	char *text = malloc(count * 2);

	for (size_t i = 0; i < count * 2; i++)
		text[i] = "61"[i % 2];
	return eddy_str(text, count * 2);
}

Test(decoded, decodes_what_is_read)
{
	char text[512];

	cr_assert(eq(int, post("/size", EDDY_STR("616263"), text, sizeof(text)), 200));
	cr_assert(eq(str, (char *)text, "3 abc"));
	cr_assert(eq(uint, whole, 1));
}

Test(decoded, decodes_what_is_long)
{
	struct eddy_str sent = digits_of(90000);
	char text[512];

	cr_assert(eq(int, post("/size", sent, text, sizeof(text)), 200));
	cr_assert(eq(str, (char *)text, "90000 aaaaaaaaa"));
	cr_assert(eq(int, post("/save", sent, text, sizeof(text)), 200));
	cr_assert(eq(str, (char *)text, "90000"));
	free((char *)sent.ptr);
}

Test(decoded, refuses_what_is_not_coded)
{
	char text[512];

	cr_assert(eq(int, post("/size", EDDY_STR("61xx"), text, sizeof(text)), 400));
	cr_assert(strstr(text, "does not match its content-encoding") != NULL, "%s", text);
	cr_assert(eq(int, post("/size", EDDY_STR("616"), text, sizeof(text)), 400));
	cr_assert(eq(int, post("/save", EDDY_STR("616"), text, sizeof(text)), 400));
	cr_assert(eq(uint, whole, 0));
}

Test(decoded, refuses_what_grows_too_much)
{
	struct eddy_str sent = digits_of(100001);
	char text[512];

	cr_assert(eq(int, post("/size", sent, text, sizeof(text)), 413));
	cr_assert(strstr(text, "the decoded body is too large") != NULL, "%s", text);
	free((char *)sent.ptr);
}

Test(decoded, limits_count_what_is_decoded)
{
	struct eddy_app *app = make(decoding);
	const struct eddy_header *fields =
		(const struct eddy_header[]){ { "content-encoding", "x-hex" }, { 0 } };
	struct eddy_client_request request = { .method = "POST", .headers = fields };
	struct eddy_str sent = digits_of(51), body;
	struct eddy_response *response;

	eddy_app_use_body_limit(app, 50);
	for (size_t more = 0; more < 2; more++) {
		request.body = eddy_str(sent.ptr, 100 + 2 * more);
		response = ask(app, "POST /size", &request, &body);
		cr_assert(eq(int, eddy_response_status(response), more ? 413 : 200));
		eddy_response_free(response);
	}
	free((char *)sent.ptr);
	eddy_app_free(app);
}

Test(decoded, a_body_is_refused_that_nobody_decodes)
{
	struct eddy_app *app = make(NULL);
	const struct eddy_header *fields =
		(const struct eddy_header[]){ { "content-encoding", "x-hex" }, { 0 } };
	struct eddy_client_request request = { .body = EDDY_STR("61"), .headers = fields };
	struct eddy_str body;
	struct eddy_response *response = ask(app, "POST /size", &request, &body);

	cr_assert(eq(int, eddy_response_status(response), 415));
	eddy_response_free(response);
	eddy_app_free(app);
}
