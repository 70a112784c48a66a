/* cart: what a visitor has chosen, in an encrypted cookie: the server stores nothing.
 *
 *     $ openssl rand -hex 32 >keys
 *     $ cart keys localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s -c jar -b jar localhost:7878/pears -X POST
 *     pears
 *     $ curl -s -c jar -b jar localhost:7878/plums -X POST
 *     pears plums
 *     $ curl -s -b cart=forged localhost:7878/figs -X POST
 *     figs
 */
#include <eddy/http.h>
#include <errno.h>
#include <stdio.h>

/* POST /{item} */
static int add(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str item, cart = EDDY_STR("");
	char text[1000];
	int len, r = eddy_req_path(req, EDDY_TO(&item));

	if (r == 0)
		r = eddy_req_cookie_sealed(req, "cart", &cart);
	/* A cart that is not valid, or no longer, is an empty one. */
	if (r < 0 && r != -ENOENT && r != -EBADMSG)
		return r;
	len = snprintf(text, sizeof(text), "%.*s%s%.*s", EDDY_FMT(cart), cart.len ? " " : "",
		       EDDY_FMT(item));
	if (len >= (int)sizeof(text))
		return eddy_res_problem(res, 507, "the cart is full");
	r = eddy_res_cookie_sealed(res, &(struct eddy_cookie){ .name = "cart",
							       .value = eddy_str_from(text),
							       .max_age_s = 86400 });
	return r < 0 ? r : eddy_res_ok(res, "%s\n", text);
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 2 ? argv[2] : "localhost:7878");
	eddy_app_with_cookie_keys(app, &(struct eddy_cookie_keys){ .file = argc > 1 ? argv[1] :
										      "keys" });
	eddy_app_use_same_origin(app, NULL);
	eddy_app_map_post(app, "/{item}", add);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
