/* tour: the whole interface on one server.
 *
 *     tour [--bind ADDR] [--dir DIR] [--workers N] [--config FILE] [--compression]
 *          [--tracing[=HEADER]] [--access-log] [--max-size BYTES]
 *          [--issuer URL] [--audience AUD] [--http-issuer] [--refresh-cooldown SECS]
 *          [--max-key-age SECS] [--secret-file FILE] [--ca FILE]
 *          [--resource URL] [--authorization-server URL]
 *
 *     $ tour &
 *     $ curl localhost:7878/users/42/posts/rivers
 *     {"id":42,"slug":"rivers"}
 *     $ curl localhost:7878/add/2/3
 *     5
 *
 * tour_*.c map the routes, each file those of its handlers.
 */
#include "switches.h"
#include "tour.h"
#include "tour_settings.h"

#include <eddy/auth.h>
#include <eddy/compress.h>
#include <eddy/config.h>
#include <eddy/trace.h>
#include <eddy/ws_room.h>

/* Allow sections for every layer in the configuration file, even for those that are not in use. */
static void name_layers(struct eddy_app *app)
{
	eddy_auth_config(app);
	eddy_compress_config(app);
#ifndef EDDY_NO_TLS
	eddy_tls_config(app);
#endif
}

int main(int argc, char **argv)
{
	struct tour_settings settings = { .bind = "localhost:7878", .dir = "." };
	struct eddy_ws_room *room = eddy_ws_room_new(NULL);
	struct eddy_app *app;
	struct tour tour;
	int r;

	eddy_log_writer_subscribe(NULL);
	tour_settings_parse(&settings, argc, argv);
	tour.dir = switch_folder(settings.dir);

	app = eddy_app_new();
	eddy_app_bind(app, settings.bind);
	eddy_app_with_server(app, &settings.server);
	switch_tls(app, &settings.tls);
	eddy_app_with_config(app, settings.config);
	name_layers(app);
	if (settings.compression)
		eddy_app_use_compression(app, NULL);
	eddy_app_set_tracing(app, &settings.traced);
	if (settings.tracing)
		eddy_app_use_tracing(app);
	if (settings.resource)
		tour_publish_resource(app, settings.resource, settings.oauth.issuer);
	if (settings.authorization_server)
		tour_publish_server(app, settings.authorization_server);
	eddy_app_use_metrics(app);
	eddy_app_map_get(app, "/metrics", eddy_metrics);
	eddy_app_set_context(app, &tour);
	tour_map_arguments(app);
	tour_map_answers(app);
	tour_map_bodies(app);
	tour_map_events(app);
	eddy_app_keep_files_open(app, tour.dir);
	tour_map_files(app);
	tour_map_sockets(app, room, settings.compression);
	tour_map_people(app);
	if (settings.oauth.issuer || settings.secret_file) {
		tour_check_tokens(app, &settings);
		tour_map_protected(app);
	}
	r = eddy_app_run_blocking(app);
	eddy_ws_room_unref(room);
	return r < 0;
}
