#include "dropbox.h"

struct user {
	struct eddy_str name, email;
	int64_t quota, used;
	bool has_quota;
};

static const struct eddy_member new_user_members[] = {
	EDDY_MEMBER(struct user, name, .range = { 1, 64 }),
	EDDY_MEMBER(struct user, email, .range = { 3, 200 }),
	EDDY_MEMBER(struct user, quota, .range = { 1, 1e12L },
		    .present = EDDY_PRESENT(struct user, has_quota)),
};
static const struct eddy_member user_members[] = { EDDY_MEMBER(struct user, name),
						   EDDY_MEMBER(struct user, email),
						   EDDY_MEMBER(struct user, quota),
						   EDDY_MEMBER(struct user, used) };

static int add(struct eddy_req *req, struct eddy_res *res)
{
	char path[sizeof("/users/") + 3 * 64];
	struct user user;
	int r = eddy_req_json_into(req, new_user_members, &user);

	if (r < 0)
		return r; /* 400, with a list of what is wrong */
	r = eddy_pg_query(&dropbox.database.pg, NULL, "insert into users values ($1, $2, $3)",
			  EDDY_PG(user.name, user.email,
				  user.has_quota ? user.quota : (int64_t)dropbox.quota));
	if (r == -EEXIST)
		return eddy_res_problem(res, 409, "there is a user of this name");
	if (r < 0)
		return r; /* 503 if the database can't be reached */
	snprintf(path, sizeof(path), "/users/%.*s", EDDY_FMT(eddy_req_escape(req, user.name)));
	eddy_res_created(res, eddy_str_from(path));
	user.has_quota = false; /* not sent back */
	return eddy_res_json_from(res, new_user_members, &user);
}

static int show(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;
	int r = eddy_req_path(req, EDDY_TO(&name));

	if (r == 0)
		r = eddy_pg_respond_one(
			res, &dropbox.database.pg, EDDY_SHAPE(struct user, user_members),
			"select *, (select coalesce(sum(size), 0)::bigint from files "
			"where owner = users.name) as used from users where name = $1",
			EDDY_PG(name));
	return r; /* -ENOENT is 404 */
}

void dropbox_map_users(struct eddy_group *api)
{
	struct eddy_route *route = eddy_app_map_post(api, "/users", add);

	eddy_app_authorize(route, eddy_roles("admin"));
	eddy_route_describe(
		route,
		&(struct eddy_operation){
			.summary = "Add a user",
			.body = EDDY_SHAPE(struct user, new_user_members),
			.responses = { { 201, "Added.",
					 .shape = EDDY_SHAPE(struct user, new_user_members) },
				       { 409, .description = "There is a user of this name." } } });
	eddy_route_describe(
		eddy_app_map_get(api, "/users/{name}", show),
		&(struct eddy_operation){
			.summary = "Show a user",
			.responses = { { 200, "The user.",
					 .shape = EDDY_SHAPE(struct user, user_members) } } });
}
