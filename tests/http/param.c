/* Tests of what eddy/req.h says of parameters, forms and JSON bodies. */
#include "ask.h"

#include <eddy/http.h>
#include <eddy/offload.h>
#include <eddy/test.h>

struct post {
	uint32_t id;
	struct eddy_str slug;
	unsigned page;
};

static const struct eddy_member path_members[] = {
	EDDY_MEMBER(struct post, id, .range = { 1, 99 }),
	EDDY_MEMBER(struct post, slug),
};

static const struct eddy_member post_members[] = {
	EDDY_MEMBER(struct post, id, .range = { 1, 99 }),
	EDDY_MEMBER(struct post, slug),
	EDDY_MEMBER(struct post, page, .otherwise = "1"),
};

static int show(struct eddy_res *res, const struct post *post)
{
	return eddy_res_ok(res, "%u %.*s %u", post->id, EDDY_FMT(post->slug), post->page);
}

static int path_struct(struct eddy_req *req, struct eddy_res *res)
{
	struct post post = { .page = 7 };

	return eddy_req_path_into(req, path_members, &post) < 0 ? 400 : show(res, &post);
}

static int query_struct(struct eddy_req *req, struct eddy_res *res)
{
	struct post post;

	return eddy_req_query_into(req, post_members, &post) < 0 ? 400 : show(res, &post);
}

static int form_struct(struct eddy_req *req, struct eddy_res *res)
{
	struct post post;
	int r = eddy_req_form_into(req, post_members, &post);

	return r < 0 ? r : show(res, &post);
}

static int json_struct(struct eddy_req *req, struct eddy_res *res)
{
	struct post post;
	int r = eddy_req_json_into(req, post_members, &post);

	return r < 0 ? r : show(res, &post);
}

/* ---- JSON with arrays ---- */

struct order {
	struct eddy_str name;
	struct post *posts;
	size_t post_count;
};

static const struct eddy_member order_members[] = {
	EDDY_MEMBER(struct order, name, .range = { 1, 9 }, .strict = true),
	EDDY_ARRAY(struct order, posts, post_count, .of = EDDY_SHAPE(struct post, post_members)),
};

static int echo_order(struct eddy_req *req, struct eddy_res *res)
{
	struct order order;
	int r = eddy_req_json_into(req, order_members, &order);

	return r < 0 ? r : eddy_res_json_from(res, order_members, &order);
}

static int list_posts(struct eddy_req *req, struct eddy_res *res)
{
	struct post *posts;
	size_t count;
	int r = eddy_req_json_array_into(req, post_members, &posts, &count);

	return r < 0 ? r : eddy_res_json_array(res, post_members, posts, count);
}

static int own_detail(struct eddy_req *req, struct eddy_res *res)
{
	struct order order;

	return eddy_req_json_into(req, order_members, &order) < 0 ?
		       eddy_res_problem(res, 400, "my own words") :
		       0;
}

static int numbers(struct eddy_req *req, struct eddy_res *res)
{
	int8_t small;
	bool flag;

	if (eddy_req_path(req, EDDY_TO(&small), EDDY_TO(&flag)) < 0)
		return 400;
	return eddy_res_ok(res, "%d %d", small, flag);
}

static int show_pairs(struct eddy_res *res, const struct eddy_pairs *pairs)
{
	char text[256] = "";

	for (size_t i = 0; i < pairs->count; i++)
		sprintf(text + strlen(text), "[%.*s=%.*s]", EDDY_FMT(pairs->list[i].name),
			EDDY_FMT(pairs->list[i].value));
	return eddy_res_ok(res, "%s", text);
}

static int path_pairs(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_pairs pairs;
	int r = eddy_req_path_pairs(req, &pairs);

	return r < 0 ? r : show_pairs(res, &pairs);
}

static int query_pairs(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str x = eddy_str_from("-");
	struct eddy_pairs pairs;
	int r = eddy_req_query_get(req, "x", &x);

	if (r == 0 || r == -ENOENT)
		r = eddy_req_query_pairs(req, &pairs);
	if (r == 0)
		r = eddy_res_set(res, "x-first", x);
	return r < 0 ? r : show_pairs(res, &pairs);
}

/* Reads it twice: what has been read is kept. */
static int form_pairs(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_pairs pairs;
	int r = eddy_req_form_pairs(req, &pairs);

	if (r == 0)
		r = eddy_req_form_pairs(req, &pairs);
	return r < 0 ? r : show_pairs(res, &pairs);
}

static int json(struct eddy_req *req, struct eddy_res *res)
{
	json_t *first, *json;
	int r = eddy_req_json(req, &first);

	if (r == 0)
		r = eddy_req_json(req, &json);
	if (r < 0)
		return r;
	cr_assert(first == json);
	return eddy_res_json(res, json_incref(json));
}

/* Answer with the borrowed tree. */
static int json_borrowed(struct eddy_req *req, struct eddy_res *res)
{
	json_t *json, *again;
	int r = eddy_req_json(req, &json);

	if (r == 0)
		r = eddy_res_json(res, json);
	if (r == 0)
		r = eddy_req_json(req, &again);
	cr_assert(eq(int, r, 0));
	cr_assert(again == json && (json_is_true(json) || json->refcount == 1));
	return r;
}

/* Answer with a reference, and keep another for a while. */
static int json_shared(struct eddy_req *req, struct eddy_res *res)
{
	json_t *json;
	int r = eddy_req_json(req, &json);

	json_incref(json);
	if (r == 0)
		r = eddy_res_json(res, json_incref(json));
	cr_assert(json->refcount == 2);
	json_decref(json);
	return r;
}

static int body_twice(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str first, second;
	int r = eddy_req_body(req, &first);

	if (r == 0)
		r = eddy_req_body(req, &second);
	return r < 0 ? r : eddy_res_ok(res, "%.*s%.*s", EDDY_FMT(first), EDDY_FMT(second));
}

/* The detail of the problem that is answered. */
static void expect_refused(const struct eddy_app *app, const char *request, int status,
			   const char *detail)
{
	char want[300];
	struct asked asked;

	snprintf(want, sizeof(want), "\"detail\":\"%s\"", detail);
	ask(&asked, app, request);
	cr_expect(eq(int, asked.status, status), "%s", request);
	cr_expect(strstr(asked.text, want) != NULL, "%s: %s", request, asked.text);
	ask_end(&asked);
}

#define POST(path, type, body)                                                                     \
	"POST " path " HTTP/1.1\n" HOST type "transfer-encoding: chunked\n\n" body "\r\n0\r\n\r\n"
#define FORM "content-type: application/x-www-form-urlencoded\n"
#define JSON "content-type: application/json\n"

Test(param, path)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/posts/{slug}/{id}", path_struct);
	eddy_app_map_get(app, "/wrong/{slug}", path_struct);
	eddy_app_map_get(app, "/numbers/{small}/{flag}", numbers);
	eddy_app_map_get(app, "/pairs/{a}/{b...}", path_pairs);
	eddy_app_map_get(app, "/pairs", path_pairs);
	EXPECT_ANSWER(app, GET("/posts/a%20b/42"), "200 42 a b 7");
	expect_refused(app, GET("/posts/a/100"), 400,
		       "the path parameter \\\"id\\\" must be an integer from 1 to 99");
	expect_refused(app, GET("/posts/a/x"), 400,
		       "the path parameter \\\"id\\\" must be an integer from 1 to 99");
	expect_refused(app, GET("/wrong/a"), 400,
		       "the path parameter \\\"id\\\" is missing: it must be an integer from 1 to "
		       "99");
	EXPECT_ANSWER(app, GET("/numbers/-128/true"), "200 -128 1");
	expect_refused(app, GET("/numbers/128/true"), 400,
		       "the path parameter \\\"small\\\" must be an integer from -128 to 127");
	expect_refused(app, GET("/numbers/1/1"), 400,
		       "the path parameter \\\"flag\\\" must be true or false");
	EXPECT_ANSWER(app, GET("/pairs/1/2/%33"), "200 [a=1][b=2/3]");
	EXPECT_ANSWER(app, GET("/pairs"), "200 ");
	eddy_app_free(app);
}

static char heard[200];

static void hear(const struct eddy_record *record, void *arg)
{
	(void)arg;
	if (!*heard)
		snprintf(heard, sizeof(heard), "%.*s", EDDY_FMT(record->message));
}

static int two(struct eddy_req *req, struct eddy_res *res)
{
	int first, second;
	int r = eddy_req_path(req, EDDY_TO(&first), EDDY_TO(&second));

	return r < 0 ? r : eddy_res_ok(res, "%d %d", first, second);
}

static int two_or_400(struct eddy_req *req, struct eddy_res *res)
{
	return two(req, res) < 0 ? 400 : 0;
}

struct misdeclared {
	uint8_t small;
};

static const struct eddy_member misdeclared_members[] = {
	EDDY_MEMBER(struct misdeclared, small, .otherwise = "x"),
};

static int misdeclared_or_400(struct eddy_req *req, struct eddy_res *res)
{
	struct misdeclared read;

	(void)res;
	return eddy_req_query_into(req, misdeclared_members, &read) < 0 ? 400 : 0;
}

/* The handler makes another code of it, which is that of a client's mistake. */
static int two_or_einval(struct eddy_req *req, struct eddy_res *res)
{
	return two(req, res) < 0 ? -EINVAL : 0;
}

/* No client is to blame. */
Test(param, more_than_the_path_has)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/one/{first}", two);
	eddy_app_map_get(app, "/only/{first}", two_or_400);
	eddy_app_map_get(app, "/code/{first}", two_or_einval);
	eddy_app_map_get(app, "/misdeclared", misdeclared_or_400);
	eddy_log_subscribe(hear, NULL);
	expect_refused(app, GET("/one/1"), 500, "the server failed to handle the request");
	cr_expect_str_eq(heard, "the handler of GET /one/{first} reads 2 path parameters, and its "
				"pattern has 1");
	expect_refused(app, GET("/only/1"), 500, "the server failed to handle the request");
	expect_refused(app, GET("/code/1"), 500, "the server failed to handle the request");
	expect_refused(app, GET("/misdeclared"), 500, "the server failed to handle the request");
	eddy_log_unsubscribe();
	eddy_app_free(app);
}

Test(param, query)
{
	static char many[9000] = "GET /?";
	struct eddy_app *app = eddy_app_new();
	struct asked asked;

	eddy_app_with_server(app, &(struct eddy_server_options){ .request_line_max = 20000 });
	eddy_app_map_get(app, "/struct", query_struct);
	eddy_app_map_get(app, "/", query_pairs);
	EXPECT_ANSWER(app, GET("/struct?slug=a+b&id=9&x=y"), "200 9 a b 1");
	expect_refused(app, GET("/struct?slug=a"), 400,
		       "the query parameter \\\"id\\\" is missing: it must be an integer from 1 to "
		       "99");
	expect_refused(app, GET("/struct"), 400,
		       "the query parameter \\\"id\\\" is missing: it must be an integer from 1 to "
		       "99");
	EXPECT_ANSWER(app, GET("/"), "200 ");
	EXPECT_ANSWER(app, GET("/?"), "200 ");
	EXPECT_ANSWER(app, GET("/?a=%41&a=%zz&b"), "200 [a=A][a=%zz][b=]");
	ask(&asked, app, GET("/?x=1&x=2"));
	cr_expect_str_eq(eddy_res_header(&asked.req->res, "x-first").ptr, "1");
	ask_end(&asked);
	ask(&asked, app, GET("/?y=1"));
	cr_expect_str_eq(eddy_res_header(&asked.req->res, "x-first").ptr, "-");
	ask_end(&asked);
	for (int i = 0; i < 4097; i++)
		strcat(many, "a&");
	strcat(many, " HTTP/1.1\n" HOST "\n");
	ask(&asked, app, many);
	cr_expect(eq(int, asked.status, 400));
	ask_end(&asked);
	eddy_app_free(app);
}

Test(param, form)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_post(app, "/struct", form_struct);
	eddy_app_map_post(app, "/", form_pairs);
	eddy_route_with(eddy_app_map_post(app, "/short", form_pairs),
			&(struct eddy_route_options){ .body_max = 5 });
	EXPECT_ANSWER(app, POST("/struct", FORM, "15\r\nid=1&slug=%3C%3E&page"),
		      "400 {\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
		      "\"detail\":\"the form field \\\"page\\\" must be an integer from 0 to "
		      "4294967295\"}");
	EXPECT_ANSWER(app, POST("/struct", FORM, "10\r\nid=1&slug=%3C%3E"), "200 1 <> 1");
	EXPECT_ANSWER(app, POST("/", FORM, "9\r\na=1&a=+&b"), "200 [a=1][a= ][b=]");
	EXPECT_ANSWER(app,
		      POST("/", "Content-Type: Application/X-WWW-form-urlencoded ;charset=utf-8\n",
			   "3\r\na=1"),
		      "200 [a=1]");
	EXPECT_ANSWER(app, "POST / HTTP/1.1\n" HOST FORM "\n", "200 ");
	expect_refused(app, POST("/", JSON, "3\r\na=1"), 415,
		       "the body must be application/x-www-form-urlencoded");
	expect_refused(app, POST("/", "", "3\r\na=1"), 415,
		       "the body must be application/x-www-form-urlencoded");
	expect_refused(app, POST("/short", FORM, "6\r\na=1234"), 413,
		       "the body exceeds the size limit");
	eddy_app_free(app);
}

Test(param, json)
{
	static const char *const types[] = { "application/json", "Application/JSON; charset=utf-8",
					     "application/problem+json", "a/b+JSON" };
	static const char *const others[] = { "text/json",
					      "application/jsonp",
					      "json",
					      "+json",
					      "application/+json",
					      "a b/c+json",
					      "",
					      ";",
					      "/+json" };
	struct eddy_app *app = eddy_app_new();
	char request[256];

	eddy_app_map_post(app, "/", json);
	eddy_app_map_post(app, "/struct", json_struct);
	EXPECT_ANSWER(app, POST("/", JSON, "d\r\n[1, {\"a\":2} ]"), "200 [1,{\"a\":2}]");
	EXPECT_ANSWER(app, POST("/", JSON, "3\r\n\"a\""), "200 \"a\"");
	expect_refused(
		app, POST("/", JSON, "1\r\n["), 400,
		"the body is not valid JSON: line 1, column 1: ']' expected near end of file");
	expect_refused(app, POST("/", JSON, "8\r\n{\"a\":1,}"), 400,
		       "the body is not valid JSON: line 1, column 8: string or '}' expected");
	expect_refused(app, "POST / HTTP/1.1\n" HOST JSON "\n", 400,
		       "the body is not valid JSON: it is empty");
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		sprintf(request,
			"POST / HTTP/1.1\n" HOST "content-type: %s\ncontent-length: 2\n\n[]",
			types[i]);
		EXPECT_ANSWER(app, request, "200 []");
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		sprintf(request,
			"POST / HTTP/1.1\n" HOST "content-type: %s\ncontent-length: 2\n\n[]",
			others[i]);
		expect_refused(app, request, 415, "the body must be application/json");
	}
	EXPECT_ANSWER(app, POST("/struct", JSON, "16\r\n{\"id\": 5, \"slug\":\"ab\"}"),
		      "200 5 ab 1");
	expect_refused(app, POST("/struct", JSON, "2\r\n[]"), 400,
		       "the body must be a JSON object");
	expect_refused(app, POST("/struct", JSON, "8\r\n{\"id\":0}"), 400,
		       "the JSON member \\\"id\\\" must be an integer from 1 to 99");
	eddy_app_free(app);
}

Test(param, json_with_arrays)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_post(app, "/", echo_order);
	eddy_app_map_post(app, "/posts", list_posts);
	eddy_app_map_post(app, "/own", own_detail);
	EXPECT_ANSWER(app,
		      POST("/", JSON,
			   "32\r\n{\"posts\":[{\"id\":5,\"slug\":\"a\\n\"}],\"name\":\"x\"}      "),
		      "200 {\"name\":\"x\",\"posts\":[{\"id\":5,\"slug\":\"a\\n\",\"page\":1}]}");
	EXPECT_ANSWER(app, POST("/posts", JSON, "15\r\n[{\"id\":5,\"slug\":\"a\"}]"),
		      "200 [{\"id\":5,\"slug\":\"a\",\"page\":1}]");
	EXPECT_ANSWER(app, POST("/posts", JSON, "2\r\n[]"), "200 []");
	expect_refused(app, POST("/posts", JSON, "2\r\n{}"), 400, "the body must be a JSON array");
	EXPECT_ANSWER(app, POST("/own", JSON, "2\r\n{}"),
		      "400 {\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
		      "\"detail\":\"my own words\"}");
	eddy_app_free(app);
}

Test(param, all_faults_of_json)
{
	static const char request[] = POST(
		"/", JSON, "2e\r\n{\"posts\":[{\"id\":0,\"slug\":\"a\"},5],\"b\":\"\\u00e4\"}");
	struct eddy_app *app = eddy_app_new();
	struct asked asked;

	eddy_app_map_post(app, "/", echo_order);
	ask(&asked, app, request);
	cr_expect(eq(int, asked.status, 422));
	cr_expect(
		strstr(asked.text,
		       "\"detail\":\"the JSON member \\\"posts/0/id\\\" must be an integer "
		       "from 1 to 99\",\"errors\":[{\"pointer\":\"#/posts/0/id\",\"detail\":"
		       "\"must be an integer from 1 to 99\"},{\"pointer\":\"#/posts/1\",\"detail\":"
		       "\"must be an object\"},{\"pointer\":\"#/b\",\"detail\":\"is unknown\"},"
		       "{\"pointer\":\"#/name\",\"detail\":\"is missing: it must be text of 1 to 9 "
		       "bytes\"}]}") != NULL,
		"%s", asked.text);
	ask_end(&asked);
	eddy_app_free(app);
}

Test(param, json_depth)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_post(app, "/", json);
	for (size_t depth = 128; depth < 130; depth++) {
		char request[1024];
		struct asked asked;
		size_t at;

		at = (size_t)sprintf(request,
				     "POST / HTTP/1.1\n" HOST JSON "content-length: %zu\n\n",
				     2 * depth);
		memset(request + at, '[', depth);
		memset(request + at + depth, ']', depth);
		request[at + 2 * depth] = 0;
		ask(&asked, app, request);
		cr_expect(eq(int, asked.status, depth > 128 ? 400 : 200));
		ask_end(&asked);
	}
	eddy_app_free(app);
}

/* Post an array of `count` times `item`. Return: the status. */
static int post_array(struct eddy_app *app, const char *item, size_t count)
{
	size_t len = strlen(item), body_len = count * (len + 1) + 1;
	char *body = malloc(body_len + 1), *at = body;
	static const struct eddy_header headers[] = { { "content-type", "application/json" },
						      { 0 } };
	struct eddy_response *response;
	struct eddy_str echo;
	int status;

	*at++ = '[';
	for (size_t i = 0; i < count; i++)
		at += sprintf(at, "%s%c", item, i + 1 < count ? ',' : ']');
	cr_assert(eq(int,
		     eddy_app_test(app, "POST /",
				   &(struct eddy_client_request){
					   .headers = headers,
					   .body = eddy_str(body, body_len),
				   },
				   &response),
		     0));
	status = eddy_response_status(response);
	cr_assert(eq(int, eddy_response_body(response, &echo), 0));
	if (status == 200)
		cr_expect(eddy_str_eq(echo, eddy_str(body, body_len)));
	eddy_response_free(response);
	free(body);
	return status;
}

/* The request frees its tree once, with and without json_incref(). */
Test(param, json_of_the_request_is_answered_with)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_post(app, "/borrowed", json_borrowed);
	eddy_app_map_post(app, "/shared", json_shared);
	EXPECT_ANSWER(app, POST("/borrowed", JSON, "9\r\n{\"a\":[1]}"), "200 {\"a\":[1]}");
	EXPECT_ANSWER(app, POST("/shared", JSON, "9\r\n{\"a\":[1]}"), "200 {\"a\":[1]}");
	/* A tree that was parsed on the pool, and a value without a reference count. */
	eddy_app_map_post(app, "/", json_borrowed);
	cr_expect(eq(int, post_array(app, "\"0123456789\"", 8000), 200));
	EXPECT_ANSWER(app, POST("/", JSON, "4\r\ntrue"), "200 true");
	eddy_app_free(app);
}

static const struct {
	const char *item;
	size_t count;
	int status;
	uint64_t jobs; /* of the offload pool: one parses, one writes, one frees */
} arrays[] = {
	{ "1", 1000, 200, 0 },   { "1", 1024, 200, 3 },   { "{}", 16383, 200, 3 },
	{ "{}", 16384, 413, 1 }, { "{}", 30000, 413, 1 },
};

Test(param, json_of_many_values_goes_to_the_pool)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_post(app, "/", json);
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		uint64_t before = eddy_offload_stats().begun;
		cr_expect(eq(int, post_array(app, arrays[i].item, arrays[i].count),
			     arrays[i].status),
			  "%zu", i);
		cr_expect(eq(u64, eddy_offload_stats().begun - before, arrays[i].jobs), "%zu", i);
	}
	eddy_app_free(app);
}

Test(param, json_of_many_bytes_goes_to_the_pool)
{
	struct eddy_app *app = eddy_app_new();
	static char item[64 * EDDY_KIB];

	eddy_app_map_post(app, "/", json);
	/* With the brackets: 64 KiB, then a byte more. */
	for (size_t longer = 0; longer < 2; longer++) {
		uint64_t before = eddy_offload_stats().begun;
		size_t len = sizeof(item) - 2 + longer;

		memset(item, 0, sizeof(item));
		memset(item, 'a', len);
		item[0] = item[len - 1] = '"';
		cr_expect(eq(int, post_array(app, item, 1), 200));
		cr_expect(eq(u64, eddy_offload_stats().begun - before, 3 * longer));
	}
	eddy_app_free(app);
}

Test(param, body_is_kept)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_post(app, "/", body_twice);
	EXPECT_ANSWER(app, POST("/", "", "2\r\nab"), "200 abab");
	EXPECT_ANSWER(app, "POST / HTTP/1.1\n" HOST "content-length: 2\n\nab", "200 abab");
	EXPECT_ANSWER(app, "POST / HTTP/1.1\n" HOST "\n", "200 ");
	eddy_app_free(app);
}

static int beneath(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str path;
	bool slash;
	int r = eddy_req_path_beneath(req, &path, &slash);

	return r < 0 ? r : eddy_res_ok(res, "%.*s %d", EDDY_FMT(path), slash);
}

Test(param, path_that_is_public)
{
	char name[258] = "a/";

	memset(name + 2, 'n', 255);
	cr_expect(eddy_path_is_public(EDDY_STR("")));
	cr_expect(eddy_path_is_public(EDDY_STR("a/b c/\xc3\xa4.txt")));
	cr_expect(eddy_path_is_public(eddy_str(name, 2 + 255)));
	name[257] = 'n';
	cr_expect_not(eddy_path_is_public(eddy_str(name, 2 + 256)));
	cr_expect_not(eddy_path_is_public(EDDY_STR("/a")));
	cr_expect_not(eddy_path_is_public(EDDY_STR("a/")));
	cr_expect_not(eddy_path_is_public(EDDY_STR("a//b")));
	cr_expect_not(eddy_path_is_public(EDDY_STR("a/../b")));
	cr_expect_not(eddy_path_is_public(EDDY_STR("a\nb")));
	cr_expect_not(eddy_path_is_public(EDDY_STR("a/\xed\xa0\x80")));
}

Test(param, path_beneath_a_folder)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_map_get(app, "/f/{path...}", beneath);
	eddy_app_map_get(app, "/{id}/f/{path...}", beneath);
	EXPECT_ANSWER(app, GET("/f/a"), "200 a 0");
	EXPECT_ANSWER(app, GET("/f/a/b%20c/"), "200 a/b c 1");
	EXPECT_ANSWER(app, GET("/f/"), "200  1");
	EXPECT_ANSWER(app, GET("/f"), "200  0");
	EXPECT_ANSWER(app, GET("/f/a/../b"), "200 b 0");
	EXPECT_ANSWER(app, GET("/.x/f/a"), "200 a 0");
	for (size_t i = 0; i < 8; i++) {
		static const char *const paths[] = { "/f/.a",   "/f/a/.b/c",     "/f/a%2Fb",
						     "/f/a//b", "/f/%2e%2e%2fa", "/f/a%0ab/c",
						     "/f/%ff",  "/f/a/b%7f" };
		char head[64];
		struct asked asked;

		snprintf(head, sizeof(head), "GET %s HTTP/1.1\nHost: h\n\n", paths[i]);
		ask(&asked, app, head);
		cr_expect(eq(int, asked.status, 404), "%s", paths[i]);
		ask_end(&asked);
	}
	eddy_app_free(app);
}
