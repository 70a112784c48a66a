/* door: listen on a unix socket that the program or systemd opens (socket activation).
 *
 *     $ door unix:door.sock &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on unix:door.sock
 *     $ curl -s --unix-socket door.sock http://localhost/
 *     you came by unix
 *     $ stat -c %a door.sock
 *     660
 *     $ kill %1
 *     2026-11-21T09:00:01.000000Z  INFO eddy::app: Shutting down the server
 *     $ ls
 *     $ systemd-socket-activate -l "$PWD/door.sock" door &
 *     Listening on …/door.sock as 3.
 *     $ curl -s --unix-socket door.sock http://localhost/
 *     you came by unix
 *     $ kill %2
 *     Communication attempt on fd 3.
 *     Execing door (door)
 *     2026-11-21T09:00:02.000000Z  INFO eddy::app: Listening on systemd, unix:…/door.sock
 *     2026-11-21T09:00:03.000000Z  INFO eddy::app: Shutting down the server
 */
#include <eddy/http.h>

/* GET / */
static int hello(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_res_ok(res, "you came by %.*s\n", EDDY_FMT(eddy_req_peer(req)->text));
}

int main(int argc, char **argv)
{
	static const char *const proxies[] = { "unix", NULL };
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "systemd");
	eddy_app_with_server(app,
			     &(struct eddy_server_options){
				     .unix_mode = 0660,
				     .trusted_proxies = proxies, /* that may name their clients */
				     .forwarded = EDDY_FORWARDED_X, /* in X-Forwarded-For */
			     });
	eddy_app_map_get(app, "/", hello);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
