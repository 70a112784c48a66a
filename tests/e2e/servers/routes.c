/* routes: an app of groups, filters and everything that reads parameters, for the tests.
 *
 *     routes [--plain-errors]
 *
 * It listens at a free port of 127.0.0.1.
 */
#include <eddy/http.h>
#include <eddy/runtime.h>

#include <errno.h>
#include <string.h>

/* ---- groups and filters ---- */

static int ok(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "ok");
}

/* Say in a field who was passed, the innermost first. */
static int mark(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_next(next, req, res);

	eddy_res_add(res, "x-passed", eddy_str_from(eddy_next_data(next)));
	return r;
}

static int lock(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	if (eddy_str_eq_z(eddy_req_header(req, "x-key"), eddy_next_data(next)))
		return eddy_next(next, req, res);
	eddy_res_set_z(res, "www-authenticate", "Key");
	return 401;
}

static void map_groups(struct eddy_app *app)
{
	struct eddy_group *api = eddy_app_group(app, "/api");
	struct eddy_group *secret = eddy_app_group(api, "/secret");

	eddy_app_add_filter(app, mark, "app");
	eddy_app_add_filter(api, mark, "api");
	eddy_app_add_filter(secret, lock, "123");
	eddy_app_add_filter(secret, mark, "secret");
	eddy_app_map_get(api, "/ok", ok);
	eddy_app_add_filter(eddy_app_map_get(secret, "/ok", ok), mark, "route");
}

static int echo(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	int r = eddy_req_body(req, &body);

	return r < 0 ? r : eddy_res_bytes(res, "application/octet-stream", body);
}

/* The filters that eddy brings. */
static void map_filters(struct eddy_app *app)
{
	static const char *const others[] = { "https://app.example", NULL };
	struct eddy_group *shared = eddy_app_group(app, "/shared");
	struct eddy_route *route;

	eddy_app_use_cors(shared, &(struct eddy_cors_options){
					  .origins = others,
					  .exposed = "x-passed",
					  .max_age_s = 60,
					  .credentials = true,
				  });
	eddy_app_map_get(shared, "/ok", ok);
	eddy_app_map_put(shared, "/ok", ok);
	route = eddy_app_map_get(app, "/seldom", ok);
	eddy_app_use_rate_limit(route, &(struct eddy_rate_limit_options){
					       .count = 1,
					       .per_ns = 3600 * EDDY_SECOND,
					       .burst = 2,
					       .header = "x-key",
				       });
	eddy_app_use_security(eddy_app_map_get(app, "/hard", ok), NULL);
	eddy_app_use_same_origin(eddy_app_map_post(app, "/hard", ok), NULL);
	eddy_app_use_body_limit(eddy_app_map_post(app, "/brief", echo), 5);
}

/* ---- bodies ---- */

/* SPEC: what TRACE received, streamed back as it arrives. */
static int trace(struct eddy_req *req, struct eddy_res *res)
{
	char buf[4096];
	ssize_t r;

	eddy_res_set_z(res, "content-type", "message/http");
	while ((r = eddy_req_read(req, buf, sizeof(buf))) > 0) {
		r = eddy_res_write(res, buf, (size_t)r);
		if (r < 0)
			break;
	}
	return r < 0 ? (int)r : eddy_res_write(res, "", 0);
}

static int json(struct eddy_req *req, struct eddy_res *res)
{
	json_t *json;
	int r = eddy_req_json(req, &json);

	return r < 0 ? r : eddy_res_json(res, json_incref(json));
}

static void map_bodies(struct eddy_app *app)
{
	eddy_app_map_post(app, "/echo", echo);
	eddy_app_map_post(app, "/json", json);
	eddy_app_map_trace(app, "/trace", trace);
	eddy_route_with(eddy_app_map_post(app, "/small", echo),
			&(struct eddy_route_options){ .body_max = 10 });
	eddy_route_with(eddy_app_map_post(app, "/large", echo),
			&(struct eddy_route_options){ .body_max = 2 * EDDY_MIB });
}

/* ---- parameters ---- */

enum order { NEWEST, CHEAPEST };
static const char *const order_names[] = { "newest", "cheapest", NULL };

struct post {
	uint32_t id;
	struct eddy_str slug;
	unsigned page;
	enum order order;
};

static const struct eddy_member path_members[] = {
	EDDY_MEMBER(struct post, id),
	EDDY_MEMBER(struct post, slug),
};

static const struct eddy_member post_members[] = {
	EDDY_MEMBER(struct post, id, .range = { 1, 1000 }),
	EDDY_MEMBER(struct post, slug, .range = { 1, 8 }),
	EDDY_MEMBER(struct post, page, .otherwise = "1"),
	EDDY_MEMBER(struct post, order, .as = "order-by", .names = order_names,
		    .otherwise = "newest"),
};

static int show(struct eddy_res *res, const struct post *post)
{
	return eddy_res_ok(res, "%u %.*s %u %s", post->id, EDDY_FMT(post->slug), post->page,
			   order_names[post->order]);
}

static int path_struct(struct eddy_req *req, struct eddy_res *res)
{
	struct post post = { 0 };

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

struct tag {
	struct eddy_str name;
	unsigned weight;
};

static const struct eddy_member tag_members[] = {
	EDDY_MEMBER(struct tag, name, .strict = true),
	EDDY_MEMBER(struct tag, weight, .as = "w", .otherwise = "1"),
};

static int strict_struct(struct eddy_req *req, struct eddy_res *res)
{
	struct tag tag;
	int r = eddy_req_json_into(req, tag_members, &tag);

	return r < 0 ? r : eddy_res_ok(res, "%.*s %u", EDDY_FMT(tag.name), tag.weight);
}

/* A line `name=value` each. */
static int write_pairs(struct eddy_res *res, const struct eddy_pairs *pairs)
{
	int r = eddy_res_write(res, "", 0);

	for (size_t i = 0; i < pairs->count && r == 0; i++) {
		struct eddy_pair pair = pairs->list[i];

		r = eddy_res_write(res, pair.name.ptr, pair.name.len);
		if (r == 0)
			r = eddy_res_write(res, "=", 1);
		if (r == 0)
			r = eddy_res_write(res, pair.value.ptr, pair.value.len);
		if (r == 0)
			r = eddy_res_write(res, "\n", 1);
	}
	return r;
}

typedef int pairs_fn(struct eddy_req *req, struct eddy_pairs *ret_pairs);

static int pairs(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_pairs pairs;
	int r = ((pairs_fn *)eddy_req_route_data(req))(req, &pairs);

	return r < 0 ? r : write_pairs(res, &pairs);
}

static void map_parameters(struct eddy_app *app)
{
	eddy_app_map_get(app, "/posts/{slug}/{id}", path_struct);
	eddy_app_map_get(app, "/search", query_struct);
	eddy_app_map_post(app, "/search", form_struct);
	eddy_app_map_put(app, "/search", json_struct);
	eddy_app_map_put(app, "/tag", strict_struct);
	eddy_route_with(eddy_app_map_get(app, "/map/{a}/{b}/{c...}", pairs),
			&(struct eddy_route_options){ .data = eddy_req_path_pairs });
	eddy_route_with(eddy_app_map_get(app, "/query", pairs),
			&(struct eddy_route_options){ .data = eddy_req_query_pairs });
	eddy_route_with(eddy_app_map_post(app, "/form", pairs),
			&(struct eddy_route_options){ .data = eddy_req_form_pairs });
	eddy_route_with(eddy_app_map_get(app, "/cookies", pairs),
			&(struct eddy_route_options){ .data = eddy_req_cookie_pairs });
}

/* ---- responses ---- */

static int set_cookies(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str value = EDDY_STR("1");
	int r;

	eddy_req_query_get(req, "value", &value);
	r = eddy_res_cookie(res, &(struct eddy_cookie){ .name = "__Host-id",
							.value = value,
							.path = "/",
							.secure = true,
							.http_only = true,
							.same_site = EDDY_SAME_SITE_LAX });
	if (r == 0)
		r = eddy_res_cookie(res, &(struct eddy_cookie){ .name = "old", .forget = true });
	return r < 0 ? r : 204;
}

static int redirect(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str to = EDDY_STR("/");

	eddy_req_query_get(req, "to", &to);
	return eddy_res_redirect(res, 303, to);
}

static int create(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_created(res, eddy_str_from("/things/7"));

	(void)req;
	return r < 0 ? r : eddy_res_merge(res, "vary", eddy_str_from("origin"));
}

static int set_header(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str value = EDDY_STR("");
	int r;

	eddy_req_query_get(req, "value", &value);
	r = eddy_res_set(res, "x-value", value);
	return r < 0 ? r : eddy_res_no_content(res);
}

static void map_responses(struct eddy_app *app)
{
	eddy_app_map_get(app, "/cookies/set", set_cookies);
	eddy_app_map_get(app, "/redirect", redirect);
	eddy_app_map_post(app, "/create", create);
	eddy_app_map_get(app, "/header", set_header);
}

/* ---- errors ---- */

static int render(struct eddy_req *req, struct eddy_res *res, int status, const char *detail)
{
	if (eddy_req_header(req, "x-fail").ptr)
		return -EIO;
	return eddy_res_ok(res, "error %d: %s", status, detail ? detail : "");
}

int main(int argc, char **argv)
{
	const struct eddy_server_options options = {
		.head_timeout_ns = 200 * EDDY_MS,
		.body_timeout_ns = 200 * EDDY_MS,
	};
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_bind(app, "127.0.0.1:0");
	map_groups(app);
	map_filters(app);
	map_bodies(app);
	map_parameters(app);
	map_responses(app);
	if (argc > 1 && strcmp(argv[1], "--plain-errors") == 0) {
		eddy_app_with_server(app, &options);
		eddy_app_map_err(app, render);
	}
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
