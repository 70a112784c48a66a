/* site: serve a folder of static files, precompressed for clients that accept it.
 *
 *     $ mkdir www; seq 1000 >www/numbers.txt
 *     $ eddy-compress www
 *     eddy-compress: 3 made, 0 current, 0 not worth it, 0 failed; … bytes became …
 *     $ site www localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s -H 'accept-encoding: br' localhost:7878/numbers.txt | brotli -d | tail -n 1
 *     1000
 *     $ curl -sI -H 'accept-encoding: br' localhost:7878/numbers.txt | grep -i '^content-[et]'
 *     content-type: text/plain; charset=utf-8
 *     content-encoding: br
 */
#include <eddy/http.h>

int main(int argc, char **argv)
{
	const struct eddy_tree_options options = { .cache_control = "max-age=3600" };
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 2 ? argv[2] : "localhost:7878");
	eddy_app_use_security(app, NULL);
	eddy_app_map_files(app, "/{path...}", argc > 1 ? argv[1] : ".", &options);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
