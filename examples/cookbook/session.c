/* session: login and logout, with sessions in the server's memory.
 *
 *     $ session localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s -c jar localhost:7878/login -d user=ada
 *     $ curl -s -b jar localhost:7878/me
 *     ada
 *     $ curl -s -b jar localhost:7878/logout -X POST
 *     $ curl -s -b jar localhost:7878/me -w '%{http_code}\n' -o answer
 *     401
 */
#include <eddy/http.h>

struct login {
	struct eddy_str user;
};

static const struct eddy_member login_members[] = {
	EDDY_MEMBER(struct login, user, .range = { 1, 100 }),
};

/* POST /login: a real program would check a password here. */
static int login(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_session *session;
	struct login login;
	int r = eddy_req_form_into(req, login_members, &login);

	if (r == 0)
		r = eddy_req_session(req, &session);
	if (r == 0)
		r = eddy_session_renew(session);
	if (r == 0)
		r = eddy_session_set(session, "user", login.user);
	return r < 0 ? r : eddy_res_no_content(res);
}

/* GET /me */
static int me(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_session *session;
	struct eddy_str user;
	int r = eddy_req_session(req, &session);

	if (r < 0)
		return r;
	user = eddy_session_get(session, "user");
	return user.ptr ? eddy_res_ok(res, "%.*s\n", EDDY_FMT(user)) : 401;
}

/* POST /logout */
static int logout(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_session *session;
	int r = eddy_req_session(req, &session);

	if (r == 0)
		r = eddy_session_end(session);
	return r < 0 ? r : eddy_res_no_content(res);
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_use_same_origin(app, NULL);
	eddy_app_use_sessions(app, NULL);
	eddy_app_map_post(app, "/login", login);
	eddy_app_map_get(app, "/me", me);
	eddy_app_map_post(app, "/logout", logout);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
