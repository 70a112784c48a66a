/* guarded: what `./dev bench auth` asks.
 *
 *     guarded ADDRESS [guard] [no-cache]
 *     guarded token
 *
 * GET /hello: for everyone, or for who has the token that the second form prints, signed with RS256 by a key of the
 * tests; with no-cache it is verified each time.
 */
#include "micro/signed.h"

#include <eddy/auth.h>
#include <eddy/http.h>

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "Hello, World!");
}

static bool has(char **words, const char *word)
{
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct eddy_app *app;
	struct eddy_route *route;

	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "token") == 0) {
		static struct signed_token token;

		token = signed_make("RS256");
		puts(token.text);
		return 0;
	}
	app = eddy_app_new();
	setenv("GUARDED_KEY", pem_rsa_spki, true);
	eddy_app_bind(app, argv[1]);
	eddy_app_with_bearer_auth(app, &(struct eddy_bearer_options){
					       .audiences = EDDY_LIST(SIGNED_AUDIENCE),
					       .issuer = SIGNED_ISSUER,
					       .key_env = "GUARDED_KEY",
					       .no_cache = has(argv + 2, "no-cache"),
				       });
	route = eddy_app_map_get(app, "/hello", hello);
	if (has(argv + 2, "guard"))
		eddy_app_authorize(route, eddy_scopes("read"));
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
