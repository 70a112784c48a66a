/* Tests of eddy/decompression.h. */
#include "../folder.h"
#include "served.h"

#include <fcntl.h>
#include <unistd.h>

/* ---- an app ---- */

static int json(struct eddy_req *req, struct eddy_res *res)
{
	json_t *value;
	int r = eddy_req_json(req, &value);

	return r < 0 ? r : eddy_res_json(res, json_incref(value));
}

static int form(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_pairs pairs;
	int r = eddy_req_form_pairs(req, &pairs);

	if (r < 0)
		return r;
	return eddy_res_ok(res, "%.*s", EDDY_FMT(eddy_pairs_get(&pairs, "a")));
}

static int multipart(struct eddy_req *req, struct eddy_res *res)
{
	char buf[64];
	struct eddy_multipart *form;
	struct eddy_part *part;
	ssize_t len;
	int r = eddy_req_multipart(req, NULL, &form);

	if (r == 0)
		r = eddy_multipart_next(form, &part);
	if (r <= 0)
		return r < 0 ? r : 400;
	len = eddy_part_read(part, buf, sizeof(buf));
	return len < 0 ? (int)len : eddy_res_ok(res, "%.*s", (int)len, buf);
}

static int save(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_saved saved;
	int r = eddy_req_save_at(req, *(int *)eddy_req_context(req), EDDY_STR("it"), NULL, &saved);

	return r < 0 ? r : eddy_res_ok(res, "%llu", (unsigned long long)saved.size);
}

static int nobody_reads(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "unread");
}

static struct eddy_app *app_new(const struct eddy_decompression_options *options)
{
	struct eddy_app *app = served_app();

	eddy_app_use_decompression(app, options);
	eddy_app_map_post(app, "/json", json);
	eddy_app_map_post(app, "/form", form);
	eddy_app_map_post(app, "/multipart", multipart);
	eddy_app_map_post(app, "/save", save);
	eddy_app_map_post(app, "/unread", nobody_reads);
	return app;
}

/* ---- asking ---- */

static char answer[1024], accepted[64];

/* Return: the status; what was said is in `answer`, the accept-encoding in `accepted`. */
static int post(struct eddy_app *app, const char *path, const char *type, const char *coding,
		const struct bytes *body)
{
	struct eddy_header headers[] = { { "content-encoding", coding },
					 { "content-type", type },
					 { 0 } };
	struct eddy_client_request request = { .headers = headers,
					       .body = eddy_str((char *)body->ptr, body->len) };
	struct eddy_response *response;
	struct eddy_str text;
	char line[64];
	int r, status;

	snprintf(line, sizeof(line), "POST %s", path);
	r = eddy_app_test(app, line, &request, &response);
	cr_assert_eq(r, 0, "%s: %d", line, r);
	status = eddy_response_status(response);
	eddy_response_body(response, &text);
	snprintf(answer, sizeof(answer), "%.*s", EDDY_FMT(text));
	snprintf(accepted, sizeof(accepted), "%.*s",
		 EDDY_FMT(eddy_response_header(response, "accept-encoding")));
	eddy_response_free(response);
	return status;
}

static int post_text(struct eddy_app *app, const char *path, const char *type, const char *coding,
		     const char *text, size_t len)
{
	struct bytes plain = bytes_new(), small;
	int status;

	bytes_add(&plain, text, len);
	small = encoded(codec_of(coding), NULL, &plain, &(struct cut){ 0 });
	status = post(app, path, type, coding, &small);
	bytes_deinit(&plain);
	bytes_deinit(&small);
	return status;
}

static struct bytes bomb(const char *coding, size_t size)
{
	struct bytes zeros = body_of(ZEROS, size);
	struct bytes small = encoded(codec_of(coding), NULL, &zeros, &(struct cut){ 0 });

	bytes_deinit(&zeros);
	return small;
}

/* ---- what is decoded ---- */

Test(decompression, of_each_coding)
{
	static const size_t sizes[] = { 0, 1, 16383, 16384, 16385, 300000 };
	struct eddy_app *app = app_new(NULL);
	char want[16];

	EACH_CODEC(codec)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			for (enum kind kind = TEXT; kind < KINDS; kind++) {
				/* Zeros are what bombs are made of. */
				struct bytes body = body_of(kind == ZEROS ? TEXT : kind, sizes[i]);
				struct bytes small =
					encoded(codec, NULL, &body, &(struct cut){ 0 });

				cr_expect_eq(post(app, "/size", "a/b", eddy_codec_name(codec),
						  &small),
					     200, "%s %zu: %s", eddy_codec_name(codec), sizes[i],
					     answer);
				snprintf(want, sizeof(want), "%zu", sizes[i]);
				cr_expect_str_eq(answer, want);
				bytes_deinit(&body);
				bytes_deinit(&small);
			}
	eddy_app_free(app);
}

Test(decompression, whoever_reads)
{
	static const char parts[] =
		"--x\r\ncontent-disposition: form-data; name=a\r\n\r\nsome text\r\n--x--\r\n";
	struct eddy_app *app = app_new(NULL);
	char saved[16];
	int dir, fd;

	make_folder();
	dir = open(folder, O_DIRECTORY | O_CLOEXEC);
	eddy_app_set_context(app, &dir);
	EACH_CODEC(codec) {
		const char *coding = eddy_codec_name(codec);

		cr_expect_eq(post_text(app, "/json", "application/json", coding, "{ \"a\": 1 }",
				       10),
			     200);
		cr_expect_str_eq(answer, "{\"a\":1}");
		cr_expect_eq(post_text(app, "/json", "application/json", coding, "{", 1), 400);
		cr_expect_eq(post_text(app, "/form", "application/x-www-form-urlencoded", coding,
				       "a=b%20c", 7),
			     200);
		cr_expect_str_eq(answer, "b c");
		cr_expect_eq(post_text(app, "/multipart", "multipart/form-data; boundary=x", coding,
				       parts, sizeof(parts) - 1),
			     200);
		cr_expect_str_eq(answer, "some text");
		cr_expect_eq(post_text(app, "/save", "a/b", coding, "0123456789", 10), 200, "%s",
			     answer);
		cr_expect_str_eq(answer, "10");
		fd = openat(dir, "it", O_RDONLY | O_CLOEXEC);
		cr_expect_eq(read(fd, saved, sizeof(saved)), 10);
		cr_expect_eq(memcmp(saved, "0123456789", 10), 0);
		close(fd);
		unlinkat(dir, "it", 0);
		cr_expect_eq(post_text(app, "/unread", "a/b", coding, "x", 1), 200);
	}
	eddy_app_free(app);
	close(dir);
	remove_empty_folder();
}

Test(decompression, names)
{
	struct bytes text = bytes_new(), gzip;
	struct eddy_app *app = app_new(NULL);

	bytes_add(&text, "text", 4);
	gzip = encoded(codec_of("gzip"), NULL, &text, &(struct cut){ 0 });
	cr_expect_eq(post(app, "/size", "a/b", "X-GZip", &gzip), 200);
	cr_expect_str_eq(answer, "4");
	cr_expect_eq(post(app, "/size", "a/b", "Identity", &text), 200);
	cr_expect_str_eq(answer, "4");
	bytes_deinit(&text);
	text = bytes_new();
	cr_expect_eq(post(app, "/size", "a/b", "gzip", &text), 200, "no body is of any coding");
	cr_expect_str_eq(answer, "0");
	bytes_deinit(&text);
	bytes_deinit(&gzip);
	eddy_app_free(app);
}

/* ---- what is refused ---- */

Test(decompression, others_and_several)
{
	static const char *const codings[] = {
		"compress", "gzip, gzip", "gzip,br", "identity, gzip", "x", "gzip;q=1", "*"
	};
	struct bytes text = bytes_new();
	struct eddy_app *app = app_new(NULL);

	bytes_add(&text, "text", 4);
	for (size_t i = 0; i < sizeof(codings) / sizeof(codings[0]); i++) {
		cr_expect_eq(post(app, "/size", "a/b", codings[i], &text), 415, "%s", codings[i]);
		cr_expect_str_eq(accepted, "zstd, br, gzip, deflate");
		cr_expect(strstr(answer, "\"status\":415") != NULL, "%s", answer);
	}
	eddy_app_free(app);
	app = served_app();
	cr_expect_eq(post(app, "/size", "a/b", "gzip", &text), 415, "nobody decodes");
	cr_expect_str_eq(accepted, "identity");
	eddy_app_free(app);
	bytes_deinit(&text);
}

Test(decompression, two_fields)
{
	struct eddy_header headers[] = { { "content-encoding", "gzip" },
					 { "content-encoding", "gzip" },
					 { 0 } };
	struct eddy_client_request request = { .headers = headers, .body = EDDY_STR("x") };
	struct eddy_response *response;
	struct eddy_app *app = app_new(NULL);

	cr_assert_eq(eddy_app_test(app, "POST /size", &request, &response), 0);
	cr_expect_eq(eddy_response_status(response), 415);
	eddy_response_free(response);
	eddy_app_free(app);
}

Test(decompression, cut_off_or_followed_or_corrupt)
{
	struct bytes text = body_of(TEXT, 40000);
	struct eddy_app *app = app_new(NULL);

	EACH_CODEC(codec) {
		const char *coding = eddy_codec_name(codec);
		struct bytes small = encoded(codec, NULL, &text, &(struct cut){ 0 });
		size_t whole = small.len;

		for (size_t len = 1; len < whole; len += 1 + whole / 20) {
			small.len = len;
			cr_expect_eq(post(app, "/size", "a/b", coding, &small), 400,
				     "%s, %zu of %zu", coding, len, whole);
		}
		small.len = whole - 1;
		cr_expect_eq(post(app, "/size", "a/b", coding, &small), 400, "%s", coding);
		cr_expect(strstr(answer, "does not match its content-encoding") != NULL, "%s",
			  answer);
		small.len = whole;
		bytes_add(&small, "!", 1);
		cr_expect_eq(post(app, "/size", "a/b", coding, &small), 400, "%s and a byte",
			     coding);
		cr_expect_eq(post(app, "/size", "a/b", coding, &text), 400, "%s is text", coding);
		bytes_deinit(&small);
	}
	bytes_deinit(&text);
	eddy_app_free(app);
}

Test(decompression, bombs)
{
	struct eddy_app *ratio = app_new(NULL), *size, *none;
	int dir;

	make_folder();
	dir = open(folder, O_DIRECTORY | O_CLOEXEC);
	size = app_new(&(struct eddy_decompression_options){ .size_max = 100000,
							     .ratio_max = EDDY_RATIO_ANY });
	none = app_new(&(struct eddy_decompression_options){ .ratio_max = EDDY_RATIO_ANY });
	eddy_app_set_context(ratio, &dir);
	eddy_app_set_context(size, &dir);
	eddy_app_set_context(none, &dir);
	EACH_CODEC(codec) {
		const char *coding = eddy_codec_name(codec);
		struct bytes small = bomb(coding, 20 * EDDY_MIB);

		cr_expect_eq(post(ratio, "/size", "a/b", coding, &small), 413, "%s", coding);
		cr_expect(strstr(answer, "the decoded body is too large") != NULL, "%s", answer);
		cr_expect_eq(post(ratio, "/save", "a/b", coding, &small), 413, "%s", coding);
		cr_expect_eq(post(size, "/size", "a/b", coding, &small), 413, "%s", coding);
		cr_expect_eq(post(size, "/save", "a/b", coding, &small), 413, "%s", coding);
		/* The reader's limit counts what comes out. */
		cr_expect_eq(post(none, "/size", "a/b", coding, &small), 413, "%s", coding);
		cr_expect_eq(post(none, "/save", "a/b", coding, &small), 200, "%s", coding);
		cr_expect_str_eq(answer, "20971520");
		unlinkat(dir, "it", 0);
		bytes_deinit(&small);
		small = bomb(coding, 100000);
		cr_expect_eq(post(size, "/size", "a/b", coding, &small), 200, "%s", coding);
		bytes_deinit(&small);
		small = bomb(coding, 100001);
		cr_expect_eq(post(size, "/size", "a/b", coding, &small), 413, "%s", coding);
		bytes_deinit(&small);
	}
	eddy_app_free(ratio);
	eddy_app_free(size);
	eddy_app_free(none);
	close(dir);
	remove_empty_folder();
}

/* What is small is never a bomb. */
Test(decompression, a_ratio_counts_from_64_kib_on)
{
	struct eddy_app *app = app_new(&(struct eddy_decompression_options){ .ratio_max = 2 });
	struct bytes small = bomb("br", 65536);

	cr_expect_eq(post(app, "/size", "a/b", "br", &small), 200, "%s", answer);
	bytes_deinit(&small);
	small = bomb("br", 70000);
	cr_expect_eq(post(app, "/size", "a/b", "br", &small), 413);
	bytes_deinit(&small);
	eddy_app_free(app);
}

/* ---- groups and routes ---- */

Test(decompression, of_groups_and_routes)
{
	struct eddy_app *app = served_app();
	struct eddy_group *group = eddy_app_group(app, "/g");
	struct eddy_route *route = eddy_app_map_post(group, "/form", form);
	struct bytes small = bomb("gzip", 50000);

	eddy_app_use_decompression(group,
				   &(struct eddy_decompression_options){ .size_max = 40000 });
	eddy_app_map_post(group, "/json", json);
	eddy_app_use_decompression(route,
				   &(struct eddy_decompression_options){ .size_max = 60000 });
	route = eddy_app_map_post(app, "/form", form);
	eddy_app_use_decompression(route,
				   &(struct eddy_decompression_options){ .size_max = 60000 });

	cr_expect_eq(post_text(app, "/g/json", "application/json", "gzip", "[]", 2), 200, "%s",
		     answer);
	cr_expect_eq(post_text(app, "/size", "a/b", "gzip", "[]", 2), 415);
	/* The outermost counts. */
	cr_expect_eq(post(app, "/g/form", "application/x-www-form-urlencoded", "gzip", &small),
		     413);
	cr_expect_eq(post(app, "/form", "application/x-www-form-urlencoded", "gzip", &small), 200,
		     "%s", answer);
	bytes_deinit(&small);
	eddy_app_free(app);
}
