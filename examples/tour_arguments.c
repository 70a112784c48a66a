/* Text, JSON and numbers from the path, the query and the body. */
#include "tour.h"

/* GET /hello */
static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "Hello, World!");
}

/* GET /hello/{name} */
static int hello_name(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	return eddy_res_ok(res, "Hello, %.*s!", EDDY_FMT(name));
}

/* GET /add/{a}/{b}: by position; the variable's type selects the parser. */
static int add(struct eddy_req *req, struct eddy_res *res)
{
	int64_t a, b, sum;

	if (eddy_req_path(req, EDDY_TO(&a), EDDY_TO(&b)) < 0)
		return 400;
	if (__builtin_add_overflow(a, b, &sum))
		return eddy_res_problem(res, 400, "the sum of a and b does not fit in 64 bits");
	return eddy_res_ok(res, "%lld", (long long)sum);
}

/* Answer with JSON, or with 400 if `failed`: some client input was not UTF-8. */
static int answer_json(struct eddy_res *res, json_t *json, bool failed)
{
	if (!failed)
		return eddy_res_json(res, json);
	json_decref(json);
	return eddy_res_problem(res, 400, "a name or value is not UTF-8");
}

/* GET /users/{id}/posts/{slug}: by name, into a struct. */

struct post {
	uint32_t id;
	struct eddy_str slug;
};

static const struct eddy_member post_members[] = {
	EDDY_MEMBER(struct post, id),
	EDDY_MEMBER(struct post, slug),
};

static int show_post(struct eddy_req *req, struct eddy_res *res)
{
	struct post post;
	json_t *json;

	if (eddy_req_path_into(req, post_members, &post) < 0)
		return 400;
	json = json_pack("{s:I, s:s%}", "id", (json_int_t)post.id, "slug", post.slug.ptr,
			 post.slug.len);
	return answer_json(res, json, !json);
}

/* GET /map/{a}/{b}/{c}: all parameters. */
static int map(struct eddy_req *req, struct eddy_res *res)
{
	const struct eddy_pair *pair;
	struct eddy_pairs pairs;
	json_t *all;
	int r = eddy_req_path_pairs(req, &pairs);

	if (r < 0)
		return r;
	all = json_object();
	for (size_t i = 0; r == 0 && i < pairs.count; i++) {
		pair = &pairs.list[i];
		r = json_object_setn_new(all, pair->name.ptr, pair->name.len,
					 json_stringn(pair->value.ptr, pair->value.len));
	}
	return answer_json(res, all, r < 0);
}

/* Append a value to the list for its name. */
static int add_value(json_t *all, const struct eddy_pair *pair)
{
	json_t *values = json_object_getn(all, pair->name.ptr, pair->name.len);

	if (!values) {
		values = json_array();
		if (json_object_setn_new(all, pair->name.ptr, pair->name.len, values) < 0)
			return -1;
	}
	return json_array_append_new(values, json_stringn(pair->value.ptr, pair->value.len));
}

/* GET /query */
static int query(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_pairs pairs;
	json_t *all;
	int r = eddy_req_query_pairs(req, &pairs);

	if (r < 0)
		return r;
	all = json_object();
	for (size_t i = 0; r == 0 && i < pairs.count; i++)
		r = add_value(all, &pairs.list[i]);
	return answer_json(res, all, r < 0);
}

/* POST /json */
static int json(struct eddy_req *req, struct eddy_res *res)
{
	json_t *body;
	int r = eddy_req_json(req, &body);

	return r < 0 ? r : eddy_res_json(res, json_incref(body));
}

static const struct eddy_operation show_post_operation = {
	.summary = "Shows the parameters.",
	.path = EDDY_SHAPE(struct post, post_members),
	.responses = { { 200, "The post.", .shape = EDDY_SHAPE(struct post, post_members) } },
};

void tour_map_arguments(struct eddy_app *app)
{
	eddy_app_map_get(app, "/hello", hello);
	eddy_app_map_get(app, "/hello/{name}", hello_name);
	eddy_app_map_get(app, "/add/{a}/{b}", add);
	eddy_route_describe(eddy_app_map_get(app, "/users/{id}/posts/{slug}", show_post),
			    &show_post_operation);
	eddy_app_map_get(app, "/map/{a}/{b}/{c}", map);
	eddy_app_map_get(app, "/query", query);
	eddy_app_map_post(app, "/json", json);
}
