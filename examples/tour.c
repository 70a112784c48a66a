/* tour: the whole interface on one server.
 *
 *     tour [--bind ADDR] [--dir DIR] [--workers N] [--config FILE] [--compression]
 *          [--tracing[=HEADER]] [--access-log] [--max-size BYTES]
 *          [--resource URL] [--authorization-server URL]
 *
 *     $ tour &
 *     $ curl localhost:7878/users/42/posts/rivers
 *     {"id":42,"slug":"rivers"}
 *     $ curl localhost:7878/add/2/3
 *     5
 *
 * Its routes are mapped in tour_*.c, each beside its handler.
 */
#include "switches.h"
#include "tour.h"

#include <eddy/auth.h>
#include <eddy/compress.h>
#include <eddy/config.h>
#include <eddy/trace.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

struct settings {
	struct eddy_server_options server;
	const char *bind;
	const char *dir;
	const char *config;
	bool compression;
	bool tracing;
	struct eddy_tracing_options traced;
	const char *resource;
	const char *authorization_server;
};

static void usage(FILE *out)
{
	fputs("usage: tour [--bind ADDR] [--dir DIR] [--workers N] [--config FILE] [--compression]\n"
	      "            [--tracing[=HEADER]] [--access-log] [--max-size BYTES]\n"
	      "            [--resource URL] [--authorization-server URL]\n"
	      "  --bind         where to listen: host:port, [v6]:port or unix:path (default: "
	      "localhost:7878)\n"
	      "  --dir          where files are saved and sent from (default: the current folder)\n"
	      "  --workers      threads, each with its own loop (default: 1)\n"
	      "  --config       settings in TOML, which win over these switches\n"
	      "  --compression  answers leave compressed for those who take them so\n"
	      "  --tracing      answers have a number in a field (default: request-id), records as well\n"
	      "  --access-log   a record for every request\n"
	      "  --max-size     largest upload in bytes (default: 1 GiB)\n"
	      "  --resource     publish what tokens this server takes, which clients know by this URL\n"
	      "  --authorization-server  publish what is known of the issuer of this URL\n",
	      out);
}

static void parse(int argc, char **argv, struct settings *settings)
{
	static const struct option options[] = {
		{ "bind", required_argument, NULL, 'b' },
		{ "dir", required_argument, NULL, 'd' },
		{ "workers", required_argument, NULL, 'w' },
		{ "config", required_argument, NULL, 'c' },
		{ "compression", no_argument, NULL, 'z' },
		{ "tracing", optional_argument, NULL, 't' },
		{ "access-log", no_argument, NULL, 'a' },
		{ "max-size", required_argument, NULL, 'm' },
		{ "resource", required_argument, NULL, 'r' },
		{ "authorization-server", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		switch (option) {
		case 'b':
			settings->bind = optarg;
			break;
		case 'd':
			settings->dir = optarg;
			break;
		case 'w':
			settings->server.workers = (unsigned)switch_number("workers", optarg, 1024);
			break;
		case 'c':
			settings->config = optarg;
			break;
		case 'z':
			settings->compression = true;
			break;
		case 't':
			settings->tracing = settings->traced.header = true;
			settings->traced.header_name = optarg;
			break;
		case 'a':
			settings->tracing = settings->traced.access_log = true;
			break;
		case 'm':
			settings->server.file_max =
				switch_number("max-size", optarg, EDDY_NEVER - 1);
			break;
		case 'r':
			settings->resource = optarg;
			break;
		case 's':
			settings->authorization_server = optarg;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "tour: takes switches only, not \"%s\"\n", argv[optind]);
		usage(stderr);
		exit(2);
	}
}

/* The configuration file may speak of every layer, whether it is switched on or not. */
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
	struct settings settings = { .bind = "localhost:7878", .dir = "." };
	struct eddy_app *app;
	struct tour tour;

	eddy_log_writer_subscribe(NULL);
	parse(argc, argv, &settings);
	tour.dir = switch_folder(settings.dir);

	app = eddy_app_new();
	eddy_app_bind(app, settings.bind);
	eddy_app_with_server(app, &settings.server);
	eddy_app_with_config(app, settings.config);
	name_layers(app);
	if (settings.compression)
		eddy_app_use_compression(app);
	eddy_app_set_tracing(app, &settings.traced);
	if (settings.tracing)
		eddy_app_use_tracing(app);
	if (settings.resource)
		tour_publish_resource(app, settings.resource, NULL);
	if (settings.authorization_server)
		tour_publish_server(app, settings.authorization_server);
	eddy_app_use_metrics(app);
	eddy_app_map_get(app, "/metrics", eddy_metrics);
	eddy_app_set_context(app, &tour);
	tour_map_arguments(app);
	tour_map_answers(app);
	tour_map_bodies(app);
	tour_map_files(app);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
