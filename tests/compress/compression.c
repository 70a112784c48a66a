/* Tests of eddy/compression.h: who gets which coding, and what becomes of the head. */
#include "../http/vectors.h"
#include "served.h"

/* ---- the choice: the table of BEHAVIOUR, a row each ---- */

Test(compression, who_gets_what)
{
	static const char *const rows[][2] = {
		{ NULL, "identity" },
		{ "", "identity" },
		{ "gzip", "gzip" },
		{ "x-gzip", "gzip" },
		{ "X-GZip", "gzip" },
		{ "GZIP;Q=0.5", "gzip" },
		{ "deflate", "deflate" },
		{ "br", "br" },
		{ "zstd", "zstd" },
		{ "gzip, deflate, br, zstd", "zstd" },
		{ "gzip, deflate, br", "br" },
		{ "deflate, gzip", "gzip" },
		{ "gzip;q=0.8, deflate", "deflate" },
		{ "*", "zstd" },
		{ "zstd;q=0.1, *;q=0.9", "br" },
		{ "gzip;q=0.5, identity;q=0.5", "gzip" },
		{ "gzip;q=0.5, identity", "identity" },
		{ "identity", "identity" },
		{ "gzip;q=0", "identity" },
		{ "identity;q=0", "406" },
		{ "*;q=0", "406" },
		{ "identity;q=0, gzip;q=0, *;q=0", "406" },
		{ "identity;q=0, gzip", "gzip" },
		{ "*;q=0, gzip", "gzip" },
		{ "*;q=0, identity", "identity" },
		{ "compress", "406" },
		{ "compress, snappy;q=0.3", "406" },
		{ "compress, identity", "identity" },
		{ "compress;q=0", "identity" },
		{ "gzip;q=2, br;q=0.1", "br" },
		{ "gzip;q=x, deflate;q=0.1", "deflate" },
		{ "gzip;level=9, br;q=0.2", "br" },
		{ "g zip, br;q=0.2", "br" },
		{ ",, gzip,,", "gzip" },
	};
	struct eddy_app *app = served_app_with(NULL);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct served got = served(app, "GET /text/3000", rows[i][0]);
		bool refused = strcmp(rows[i][1], "406") == 0;

		cr_expect_eq(got.status, refused ? 406 : 200, "%s", rows[i][0]);
		if (!refused) {
			cr_expect_str_eq(got.coding, rows[i][1], "%s", rows[i][0]);
			cr_expect_eq(got.text.len, 3000);
		}
		cr_expect_str_eq(served_field(&got, "vary"), "accept-encoding", "%s", rows[i][0]);
		served_end(&got);
	}
	eddy_app_free(app);
}

Test(compression, lines_of_accept_encoding_all_count)
{
	static const char *const fields[] = { "accept-encoding", "gzip;q=0.5", "x", "y",
					      "accept-encoding", "br",         NULL };
	struct eddy_app *app = served_app_with(NULL);
	struct served got = served_with(app, "GET /text/10", fields);

	cr_expect_str_eq(got.coding, "br");
	served_end(&got);
	eddy_app_free(app);
}

Test(compression, vectors_tower)
{
	static const char *const gzip[] = { "gzip", NULL };
	static const char *const theirs[] = { "zstd", "br", "gzip", "deflate", NULL };
	json_t *root = vectors_load("encoding/tower_http_accept_encoding.json"), *test, *line;
	struct eddy_app *four =
		served_app_with(&(struct eddy_compression_options){ .order = theirs });
	struct eddy_app *one = served_app_with(&(struct eddy_compression_options){ .order = gzip });
	size_t i, j, count = 0, alone = 0;

	json_array_foreach(json_object_get(root, "cases"), i, test)
	{
		const char *set = json_string_value(json_object_get(test, "supported"));
		const char *want = json_string_value(json_object_get(test, "expect"));
		bool is_alone = strcmp(set, "SupportedGzipOnly") == 0;
		const char *fields[17] = { NULL };
		struct served got;

		json_array_foreach(json_object_get(test, "accept_encoding"), j, line)
		{
			fields[2 * j] = "accept-encoding";
			fields[2 * j + 1] = json_string_value(line);
		}
		got = served_with(is_alone ? one : four, "GET /text/100", fields);
		cr_expect_str_eq(got.status == 406 ? "406" : got.coding, want ? want : "406", "%s",
				 fields[1]);
		served_end(&got);
		count++;
		alone += is_alone;
	}
	cr_expect_eq(count, 43);
	cr_expect_eq(alone, 2);
	json_decref(root);
	eddy_app_free(four);
	eddy_app_free(one);
}

/* Return: an app that has just what a case of negotiator's has, of those where nothing is said all; NULL when ours
 * can't have that. */
static struct eddy_app *app_of(json_t *available)
{
	const char *order[5] = { NULL };
	const struct eddy_codec *codec;
	size_t i, count = 0;
	bool identity = false;
	json_t *name;

	if (!available)
		return served_app_with(NULL);
	json_array_foreach(available, i, name)
	{
		if (strcmp(json_string_value(name), "identity") == 0)
			identity = true;
		else if (count < 4 &&
			 eddy_codec_find(eddy_str_from(json_string_value(name)), &codec) == 0)
			order[count++] = json_string_value(name);
		else
			return NULL;
	}
	if (!identity || !count)
		return NULL;
	return served_app_with(&(struct eddy_compression_options){ .order = order });
}

Test(compression, vectors_negotiator)
{
	json_t *root = vectors_load("encoding/negotiator_accept_encoding.json"), *test;
	size_t i, count = 0;

	json_array_foreach(json_object_get(root, "cases"), i, test)
	{
		const char *value = json_string_value(json_object_get(test, "accept_encoding"));
		const char *want = json_string_value(json_object_get(test, "result"));
		struct eddy_app *app;

		/* Those with options have an order of their own for ties; `*` is not what we send. */
		if (strcmp(json_string_value(json_object_get(test, "fn")), "encoding") != 0 ||
		    json_object_get(test, "options") || (want && strcmp(want, "*") == 0))
			continue;
		app = app_of(json_object_get(test, "available"));
		if (!app)
			continue;
		cr_expect_str_eq(served_coding(app, "GET /text/100", value), want ? want : "406",
				 "%s", value);
		eddy_app_free(app);
		count++;
	}
	cr_expect_geq(count, 12, "%zu", count);
	json_decref(root);
}

/* ---- 406 ---- */

static unsigned handled;

static int count_it(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	handled++;
	return eddy_res_ok(res, "ok");
}

static int render(struct eddy_req *req, struct eddy_res *res, int status, const char *detail)
{
	(void)req;
	(void)detail;
	return eddy_res_bytes(res, "text/plain",
			      eddy_str(status == 406 ? "mine" : "other", status == 406 ? 4 : 5));
}

Test(compression, refuses_before_the_handler_runs)
{
	struct eddy_app *app = served_app_with(NULL);
	struct served got;

	eddy_app_map_get(app, "/count", count_it);
	got = served(app, "GET /count", "compress");
	cr_expect_eq(got.status, 406);
	cr_expect_eq(handled, 0);
	cr_expect_str_eq(served_field(&got, "accept-encoding"), "zstd, br, gzip, deflate");
	cr_expect_str_eq(served_field(&got, "content-type"), "application/problem+json");
	cr_expect_str_eq(served_field(&got, "vary"), "accept-encoding");
	cr_expect_null(served_field(&got, "content-encoding"));
	served_end(&got);
	eddy_app_free(app);
}

Test(compression, a_refusal_is_rendered_as_the_app_wants_it)
{
	struct eddy_app *app = served_app_with(NULL);
	struct served got;

	eddy_app_map_err(app, render);
	got = served(app, "GET /text/1", "identity;q=0");
	cr_expect_eq(got.status, 406);
	cr_expect_eq(got.text.len, 4);
	cr_expect_str_eq(served_field(&got, "accept-encoding"), "zstd, br, gzip, deflate");
	served_end(&got);
	eddy_app_free(app);
}

Test(compression, errors_are_coded)
{
	static const char *const lines[] = { "GET /nowhere", "POST /text/1", "GET /text/x" };
	static const int statuses[] = { 404, 405, 400 };
	struct eddy_app *app = served_app_with(NULL);

	for (size_t i = 0; i < 3; i++) {
		struct served got = served(app, lines[i], "gzip");

		cr_expect_eq(got.status, statuses[i], "%s", lines[i]);
		cr_expect_str_eq(got.coding, "gzip", "%s", lines[i]);
		cr_expect_str_eq(served_field(&got, "vary"), "accept-encoding");
		cr_expect_str_eq(served_field(&got, "content-type"), "application/problem+json");
		cr_expect_geq(got.text.len, 50);
		served_end(&got);
	}
	eddy_app_free(app);
}

/* ---- what is left alone, and what becomes of the head ---- */

Test(compression, left_alone)
{
	static const char *const queries[] = {
		"status=204",
		"status=206",
		"status=304",
		"content-range=bytes%200-8/9",
		"content-encoding=aes128gcm",
		"content-encoding=gzip",
		"content-encoding=identity",
		"content-digest=sha-256=:AA==:",
		"repr-digest=sha-256=:AA==:",
		"digest=sha-256=AA",
		"content-md5=AA",
		"cache-control=no-transform",
		"cache-control=public,%20No-Transform%20,max-age=1",
		"content-type=image/png",
		"content-type=application/zip;%20a=b",
	};
	struct eddy_app *app = served_app_with(NULL);
	char line[128];

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		struct eddy_response *response;
		struct eddy_header fields[] = { { "accept-encoding", "gzip" }, { 0 } };
		struct eddy_client_request request = { .headers = fields };
		struct eddy_str body, coding;

		snprintf(line, sizeof(line), "GET /set?%s", queries[i]);
		cr_assert_eq(eddy_app_test(app, line, &request, &response), 0);
		eddy_response_body(response, &body);
		coding = eddy_response_header(response, "content-encoding");
		cr_expect(i == 4 || i == 5 || i == 6 || !coding.ptr, "%s", line);
		if (i != 0 && i != 2)
			cr_expect(eddy_str_eq_z(body, "some text"), "%s", line);
		cr_expect(eddy_str_eq_z(eddy_response_header(response, "vary"), "accept-encoding"),
			  "%s", line);
		eddy_response_free(response);
	}
	eddy_app_free(app);
}

Test(compression, not_left_alone)
{
	static const char *const queries[] = {
		"cache-control=no-cache,%20private",
		"cache-control=x=%22no-transform%22",
		"content-type=image/svg%2Bxml",
		"status=201",
		"status=404",
		"status=500",
		"body=",
	};
	struct eddy_app *app = served_app_with(NULL);
	char line[128];

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		snprintf(line, sizeof(line), "GET /set?%s", queries[i]);
		cr_expect_str_eq(served_coding(app, line, "gzip"), "gzip", "%s", line);
	}
	eddy_app_free(app);
}

Test(compression, the_head)
{
	struct eddy_app *app = served_app_with(NULL);
	struct served got = served(app, "GET /set?etag=%22v1%22&accept-ranges=bytes&x=y", "br");

	cr_expect_str_eq(got.coding, "br");
	cr_expect_str_eq(served_field(&got, "etag"), "W/\"v1\"");
	cr_expect_null(served_field(&got, "accept-ranges"));
	cr_expect_null(served_field(&got, "content-length"));
	cr_expect_str_eq(served_field(&got, "transfer-encoding"), "chunked");
	cr_expect_str_eq(served_field(&got, "content-type"), "text/plain");
	cr_expect_str_eq(served_field(&got, "x"), "y");
	served_end(&got);
	got = served(app, "GET /set?etag=W/%22v1%22", "br");
	cr_expect_str_eq(served_field(&got, "etag"), "W/\"v1\"");
	served_end(&got);
	got = served(app, "GET /set?etag=%22v1%22&accept-ranges=bytes", NULL);
	cr_expect_str_eq(served_field(&got, "etag"), "\"v1\"");
	cr_expect_str_eq(served_field(&got, "accept-ranges"), "bytes");
	cr_expect_str_eq(served_field(&got, "content-length"), "9");
	served_end(&got);
	eddy_app_free(app);
}

Test(compression, vary_is_merged)
{
	static const char *const rows[][2] = {
		{ "vary=origin", "origin, accept-encoding" },
		{ "vary=Accept-Encoding", "Accept-Encoding" },
		{ "vary=origin,%20accept-ENCODING", "origin, accept-ENCODING" },
		{ "vary=*", "*" },
	};
	struct eddy_app *app = served_app_with(NULL);
	char line[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct served got;

		snprintf(line, sizeof(line), "GET /set?%s", rows[i][0]);
		got = served(app, line, i % 2 ? "gzip" : NULL);
		cr_expect_str_eq(served_field(&got, "vary"), rows[i][1]);
		served_end(&got);
	}
	eddy_app_free(app);
}

Test(compression, a_head_is_that_of_a_get)
{
	static const char *const paths[] = { "/text/5000",      "/stream/3",
					     "/nowhere",        "/set?etag=%22a%22&status=201",
					     "/set?status=204", "/set?content-type=image/png" };
	struct eddy_app *app = served_app_with(NULL);
	char line[64];

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct served get, head;
		struct eddy_str name, value;

		snprintf(line, sizeof(line), "GET %s", paths[i]);
		get = served(app, line, "zstd");
		snprintf(line, sizeof(line), "HEAD %s", paths[i]);
		head = served(app, line, "zstd");
		cr_expect_eq(head.status, get.status);
		cr_expect_eq(head.text.len, 0);
		cr_expect_eq(eddy_response_header_count(head.response),
			     eddy_response_header_count(get.response), "%s", paths[i]);
		for (size_t j = 0; j < eddy_response_header_count(get.response); j++) {
			const char *theirs;
			char key[64];

			eddy_response_header_at(get.response, j, &name, &value);
			snprintf(key, sizeof(key), "%.*s", EDDY_FMT(name));
			theirs = served_field(&head, key);
			if (strcmp(key, "date") != 0)
				cr_expect(theirs && eddy_str_eq_z(value, theirs), "%s: %s",
					  paths[i], key);
		}
		served_end(&get);
		served_end(&head);
	}
	eddy_app_free(app);
}

Test(compression, sizes)
{
	static const unsigned sizes[] = { 0, 1, 2, 511, 512, 513, 65535, 65536, 65537, 1000000 };
	static const char *const codings[] = { "zstd", "br", "gzip", "deflate" };
	struct eddy_app *app = served_app_with(NULL);
	char line[64];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (size_t j = 0; j < 4; j++) {
			struct bytes want = body_of(TEXT, sizes[i]);
			struct served got;

			snprintf(line, sizeof(line), "GET /text/%u", sizes[i]);
			got = served(app, line, codings[j]);
			cr_expect_str_eq(got.coding, codings[j]);
			cr_assert_eq(got.text.len, want.len);
			cr_expect_eq(memcmp(got.text.ptr, want.ptr, want.len), 0);
			served_end(&got);
			bytes_deinit(&want);
		}
	eddy_app_free(app);
}

Test(compression, streams)
{
	static const unsigned lines[] = { 0, 1, 2, 1000 };
	static const char *const codings[] = { "zstd", "br", "gzip", "deflate" };
	struct eddy_app *app = served_app_with(NULL);
	char line[64];

	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < 4; j++) {
			struct served got;

			snprintf(line, sizeof(line), "GET /stream/%u", lines[i]);
			got = served(app, line, codings[j]);
			cr_expect_str_eq(got.coding, codings[j]);
			cr_expect_str_eq(served_field(&got, "etag"), "W/\"s\"");
			cr_assert_eq(got.text.len, 5 * lines[i]);
			for (size_t at = 0; at < got.text.len; at += 5)
				cr_assert_eq(memcmp(got.text.ptr + at, "line\n", 5), 0);
			served_end(&got);
		}
	eddy_app_free(app);
}

/* ---- options ---- */

Test(compression, order)
{
	static const char *const order[] = { "deflate", "X-GZIP", NULL };
	struct eddy_app *app =
		served_app_with(&(struct eddy_compression_options){ .order = order });
	struct served got;

	cr_expect_str_eq(served_coding(app, "GET /text/9", "zstd, br, gzip, deflate"), "deflate");
	cr_expect_str_eq(served_coding(app, "GET /text/9", "gzip, deflate;q=0.9"), "gzip");
	cr_expect_str_eq(served_coding(app, "GET /text/9", "*"), "deflate");
	cr_expect_str_eq(served_coding(app, "GET /text/9", "br, identity;q=0.1"), "identity");
	got = served(app, "GET /text/9", "br");
	cr_expect_eq(got.status, 406);
	cr_expect_str_eq(served_field(&got, "accept-encoding"), "deflate, gzip");
	served_end(&got);
	eddy_app_free(app);
}

static size_t length_of(const struct eddy_compression_options *options, const char *coding)
{
	struct eddy_header fields[] = { { "accept-encoding", coding }, { 0 } };
	struct eddy_client_request request = { .headers = fields };
	struct eddy_app *app = served_app_with(options);
	struct eddy_response *response;
	struct eddy_str body;
	size_t len;

	cr_assert_eq(eddy_app_test(app, "GET /text/200000", &request, &response), 0);
	eddy_response_body(response, &body);
	len = body.len;
	eddy_response_free(response);
	eddy_app_free(app);
	return len;
}

/* Also those that are coded on the offload pool. */
Test(compression, levels)
{
	static const struct {
		const char *coding;
		struct eddy_compression_options least, usual, most;
	} rows[] = {
		{ "zstd", { .zstd_level = 1 }, { .zstd_level = 3 }, { .zstd_level = 19 } },
		{ "br", { .br_level = 1 }, { .br_level = 4 }, { .br_level = 11 } },
		{ "gzip", { .gzip_level = 1 }, { .gzip_level = 6 }, { .gzip_level = 9 } },
		{ "deflate",
		  { .deflate_level = 1 },
		  { .deflate_level = 6 },
		  { .deflate_level = 9 } },
	};

	for (size_t i = 0; i < 4; i++) {
		size_t least = length_of(&rows[i].least, rows[i].coding);
		size_t usual = length_of(&rows[i].usual, rows[i].coding);

		cr_expect_gt(least, usual, "%s", rows[i].coding);
		cr_expect_geq(usual, length_of(&rows[i].most, rows[i].coding), "%s",
			      rows[i].coding);
		cr_expect_eq(usual, length_of(NULL, rows[i].coding), "%s", rows[i].coding);
	}
}

Test(compression, size_min)
{
	struct eddy_app *app =
		served_app_with(&(struct eddy_compression_options){ .size_min = 1000 });
	struct served got;

	cr_expect_str_eq(served_coding(app, "GET /text/999", "gzip"), "identity");
	cr_expect_str_eq(served_coding(app, "GET /text/1000", "gzip"), "gzip");
	cr_expect_str_eq(served_coding(app, "HEAD /text/999", "gzip"), "identity");
	cr_expect_str_eq(served_coding(app, "GET /stream/1", "gzip"), "gzip",
			 "its length is not known");
	got = served(app, "GET /text/999", "gzip");
	cr_expect_str_eq(served_field(&got, "vary"), "accept-encoding");
	served_end(&got);
	eddy_app_free(app);
}

Test(compression, leave_types)
{
	static const char *const left[] = { "text/event-stream", "model/*", "*+cbor", NULL };
	struct eddy_app *app =
		served_app_with(&(struct eddy_compression_options){ .leave_types = left });

	cr_expect_str_eq(served_coding(app, "GET /set?content-type=text/event-stream;a", "gzip"),
			 "identity");
	cr_expect_str_eq(served_coding(app, "GET /set?content-type=model/obj", "gzip"), "identity");
	cr_expect_str_eq(served_coding(app, "GET /set?content-type=a/b%2Bcbor", "gzip"),
			 "identity");
	cr_expect_str_eq(served_coding(app, "GET /set?content-type=image/png", "gzip"), "identity");
	cr_expect_str_eq(served_coding(app, "GET /set?content-type=text/css", "gzip"), "gzip");
	eddy_app_free(app);
}

static int teapot(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	(void)next;
	(void)req;
	(void)res;
	return 418;
}

Test(compression, of_groups_and_routes_the_innermost_counts)
{
	static const char *const gzip[] = { "gzip", NULL }, *const br[] = { "br", NULL };
	struct eddy_compression_options of_app = { .order = gzip }, of_group = { .order = br };
	struct eddy_compression_options of_route = { .size_min = 1000 };
	struct eddy_app *app = served_app_with(&of_app);
	struct eddy_group *group = eddy_app_group(app, "/g");
	struct eddy_route *route;

	eddy_app_use_compression(group, &of_group);
	eddy_app_map_get(group, "/count", count_it);
	route = eddy_app_map_get(group, "/route", count_it);
	eddy_app_use_compression(route, &of_route);
	eddy_app_add_filter(eddy_app_map_get(group, "/tea", count_it), teapot, NULL);
	eddy_app_use_compression(eddy_app_group(app, "/same"), NULL);

	cr_expect_str_eq(served_coding(app, "GET /text/9", "br, gzip"), "gzip");
	cr_expect_str_eq(served_coding(app, "GET /g/count", "br, gzip"), "br");
	cr_expect_str_eq(served_coding(app, "GET /g/route", "br, gzip"), "identity");
	cr_expect_str_eq(served_coding(app, "GET /g/tea", "br, gzip"), "br");
	/* Who takes only what is further in is not refused outside. */
	cr_expect_str_eq(served_coding(app, "GET /g/count", "br, identity;q=0"), "br");
	cr_expect_str_eq(served_coding(app, "GET /g/count", "gzip, identity;q=0"), "406");
	cr_expect_str_eq(served_coding(app, "GET /text/9", "br, identity;q=0"), "406");
	eddy_app_free(app);
}

Test(compression, of_a_route_alone)
{
	struct eddy_app *app = served_app();
	struct eddy_route *route = eddy_app_map_get(app, "/count", count_it);
	struct served got;

	eddy_app_use_compression(route, NULL);
	cr_expect_str_eq(served_coding(app, "GET /count", "gzip"), "gzip");
	got = served(app, "GET /text/100", "gzip");
	cr_expect_str_eq(got.coding, "identity");
	cr_expect_null(served_field(&got, "vary"));
	served_end(&got);
	eddy_app_free(app);
}
