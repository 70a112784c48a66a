/* roles: routes that require a bearer token with a role, and a route that issues tokens.
 *
 *     $ head -c 32 /dev/urandom >secret
 *     $ roles secret localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s localhost:7878/token -d user=ada -o ada; curl -s localhost:7878/token -d user=bob -o bob
 *     $ curl -s localhost:7878/books -H "authorization: Bearer $(cat bob)"
 *     hello bob
 *     $ curl -s localhost:7878/books -X DELETE -H "authorization: Bearer $(cat bob)" -o answer -w '%{http_code}\n'
 *     403
 *     $ curl -s localhost:7878/books -X DELETE -H "authorization: Bearer $(cat ada)"
 *     hello ada
 *     $ curl -s localhost:7878/books -o answer -w '%{http_code} %header{www-authenticate}\n'
 *     401 Bearer
 */
#include <eddy/auth.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct asking {
	int user;
};

static const char *const users[] = { "ada", "bob", NULL };
static const char *const roles[] = { "librarian", "reader" };
static const struct eddy_member asking_members[] = {
	EDDY_MEMBER(struct asking, user, .names = users),
};

/* POST /token: a real program would check a password here. */
static int hand_out(struct eddy_req *req, struct eddy_res *res)
{
	struct asking asking;
	char *token = NULL;
	json_t *claims;
	int r = eddy_req_form_into(req, asking_members, &asking);

	if (r < 0)
		return r;
	claims = json_pack("{s:s, s:s, s:I}", "sub", users[asking.user], "role", roles[asking.user],
			   "exp", (json_int_t)time(NULL) + 3600);
	r = claims ? eddy_jwt_sign(eddy_req_context(req), EDDY_JWS_HS256, NULL, claims, &token) :
		     -ENOMEM;
	json_decref(claims);
	if (r == 0)
		r = eddy_res_ok(res, "%s", token);
	free(token);
	return r;
}

/* The guard has verified the token. */
static int greet(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str user = eddy_jwt_str(eddy_req_token(req), "sub");

	return eddy_res_ok(res, "hello %.*s\n", EDDY_FMT(user));
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "secret";
	struct eddy_app *app = eddy_app_new();
	struct eddy_jwk *key;
	char *secret = NULL;
	ssize_t len = eddy_file_load(path, EDDY_KIB, &secret);
	int r;

	eddy_log_text_subscribe();
	if (len < 0 || eddy_jwk_from_secret(eddy_str(secret, (size_t)len), NULL, &key) < 0) {
		eddy_error("roles", "%s is no secret of at least 32 bytes", path);
		return 1;
	}
	free(secret);
	eddy_app_bind(app, argc > 2 ? argv[2] : "localhost:7878");
	eddy_app_set_context(app, key);
	eddy_app_with_bearer_auth(app, &(struct eddy_bearer_options){ .secret_file = path });
	eddy_app_map_post(app, "/token", hand_out);
	eddy_app_authorize(eddy_app_map_get(app, "/books", greet), NULL);
	eddy_app_authorize(eddy_app_map_delete(app, "/books", greet), eddy_roles("librarian"));
	r = eddy_app_run_blocking(app);
	eddy_jwk_unref(key);
	return r < 0 ? 1 : 0;
}
