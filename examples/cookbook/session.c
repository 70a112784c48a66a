/* session: login sessions in a signed cookie, without state on the server.
 *
 *     $ session localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s -c jar localhost:7878/login -d user=ada
 *     $ curl -s -b jar localhost:7878/me
 *     ada
 *     $ curl -s -b session=forged localhost:7878/me -w '%{http_code}\n' -o answer
 *     401
 */
#include <eddy/auth.h>
#include <eddy/http.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define LASTS_S (8 * 3600)

struct login {
	struct eddy_str user;
};

static const struct eddy_member login_members[] = {
	EDDY_MEMBER(struct login, user, .range = { 1, 100 }),
};

/* POST /login: a real program would check a password here. */
static int login(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_jwk *key = eddy_keyset_at(eddy_req_context(req), 0);
	struct login login;
	char *token = NULL;
	json_t *claims;
	int r = eddy_req_form_into(req, login_members, &login);

	if (r < 0)
		return r;
	claims = json_pack("{s:s%, s:I}", "sub", login.user.ptr, login.user.len, "exp",
			   (json_int_t)time(NULL) + LASTS_S);
	r = claims ? eddy_jwt_sign(key, EDDY_JWS_HS256, NULL, claims, &token) : -EINVAL;
	json_decref(claims);
	if (r == 0)
		r = eddy_res_cookie(res, &(struct eddy_cookie){
						 .name = "session",
						 .value = eddy_str_from(token),
						 .path = "/",
						 .max_age_s = LASTS_S,
						 .secure = eddy_req_is_secure(req),
						 .http_only = true,
						 .same_site = EDDY_SAME_SITE_LAX,
					 });
	free(token);
	return r < 0 ? r : eddy_res_no_content(res);
}

/* GET /me */
static int me(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_jwt *token = NULL;
	struct eddy_str cookie;
	int r;

	if (eddy_req_cookie(req, "session", &cookie) < 0)
		return 401;
	r = eddy_jwt_parse(cookie, EDDY_JWS_BIT(EDDY_JWS_HS256), &token);
	if (r == 0)
		r = eddy_jwt_verify(token, eddy_req_context(req), NULL);
	if (r == 0)
		r = eddy_res_ok(res, "%.*s\n", EDDY_FMT(eddy_jwt_str(token, "sub")));
	eddy_jwt_unref(token);
	return r > 0 ? 401 : r; /* above 0: the token is not valid */
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_keyset *keys;
	struct eddy_jwk *key;
	char secret[32];
	int r;

	/* For this run only. To be shared, or to survive a restart, it must come from a file. */
	if (getrandom(secret, sizeof(secret), 0) != sizeof(secret) ||
	    eddy_jwk_from_secret(eddy_str(secret, sizeof(secret)), NULL, &key) < 0)
		return 1;
	keys = eddy_keyset_of(key);
	eddy_jwk_unref(key); /* the set holds a reference */
	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_set_context(app, keys);
	eddy_app_use_same_origin(app, NULL);
	eddy_app_map_post(app, "/login", login);
	eddy_app_map_get(app, "/me", me);
	r = eddy_app_run_blocking(app);
	eddy_keyset_unref(keys);
	return r < 0 ? 1 : 0;
}
