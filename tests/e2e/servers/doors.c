/* doors: an app that says at which door a client has come in.
 *
 *     doors [--bind ADDR]… [--proxied ADDR]… [--workers N] [--mode OCTAL] [--restart]
 *           [--head_timeout MS] [--drain_timeout MS] [--lame_duck MS] [--header_max BYTES]
 *           [--trust NETWORK]… [--forwarded x|rfc7239] [--forwarded_host] [--config FILE]
 *
 * Without any of the two it listens at a free port of 127.0.0.1. At each --proxied connections begin with a PROXY header.
 */
#include <eddy/http.h>
#include <eddy/runtime.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int door(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str bound = eddy_req_bound(req);

	return eddy_res_ok(res, "%d %.*s", (int)getpid(), EDDY_FMT(bound));
}

static int slow(struct eddy_req *req, struct eddy_res *res)
{
	uint64_t ms;
	int r;

	if (eddy_req_path(req, EDDY_TO(&ms)) < 0)
		return 400;
	r = eddy_sleep(ms * EDDY_MS);
	return r < 0 ? r : eddy_res_ok(res, "%d", (int)getpid());
}

/* What a child would inherit. */
static int variable(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;
	const char *value;
	char copy[64];

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	snprintf(copy, sizeof(copy), "%.*s", EDDY_FMT(name));
	value = getenv(copy);
	return eddy_res_ok(res, "%s", value ? value : "-");
}

static int restart(struct eddy_req *req, struct eddy_res *res)
{
	(void)res;
	eddy_app_restart(eddy_req_context(req));
	return 204;
}

static int stop(struct eddy_req *req, struct eddy_res *res)
{
	eddy_app_shutdown(eddy_req_context(req));
	return eddy_res_ok(res, "ending");
}

/* Who the server thinks has asked. */
static int peer(struct eddy_req *req, struct eddy_res *res)
{
	const struct eddy_peer *peer = eddy_req_peer(req);
	struct eddy_str scheme = eddy_req_scheme(req), host = eddy_req_host(req);
	char addr[EDDY_SOCKADDR_TEXT_MAX];

	eddy_sockaddr_format(&peer->addr.addr.any, peer->addr.len, addr);
	return eddy_res_ok(res, "%.*s %s %s %s %.*s %.*s", EDDY_FMT(peer->text), addr,
			   eddy_peer_is_local(peer) ? "local" : "remote",
			   peer->is_forwarded ? "forwarded" : "direct", EDDY_FMT(scheme),
			   EDDY_FMT(host));
}

static int failures(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_app_stats stats = eddy_app_stats(eddy_req_context(req));

	return eddy_res_ok(res, "%ju %ju", (uintmax_t)stats.proxy_failures,
			   (uintmax_t)stats.connections);
}

#define TRUSTED_MAX 8

struct settings {
	struct eddy_server_options server;
	const char *trusted[TRUSTED_MAX + 1];
	unsigned trusted_count;
	bool bound;
};

static void bind_to(struct eddy_app *app, struct settings *settings, const char *address,
		    bool proxied)
{
	const struct eddy_bind_options options = { .proxy_protocol = proxied };

	if (settings->bound)
		eddy_app_add_bind_with(app, address, &options);
	else
		eddy_app_bind_with(app, address, &options);
	settings->bound = true;
}

static void parse(int argc, char **argv, struct eddy_app *app, struct settings *settings)
{
	static const struct option options[] = {
		{ "bind", required_argument, NULL, 'b' },
		{ "workers", required_argument, NULL, 'w' },
		{ "mode", required_argument, NULL, 'm' },
		{ "restart", no_argument, NULL, 'r' },
		{ "head_timeout", required_argument, NULL, 'H' },
		{ "drain_timeout", required_argument, NULL, 'd' },
		{ "lame_duck", required_argument, NULL, 'l' },
		{ "header_max", required_argument, NULL, 'x' },
		{ "proxied", required_argument, NULL, 'p' },
		{ "trust", required_argument, NULL, 't' },
		{ "forwarded", required_argument, NULL, 'f' },
		{ "forwarded_host", no_argument, NULL, 'h' },
		{ "config", required_argument, NULL, 'c' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 'b':
			bind_to(app, settings, optarg, false);
			break;
		case 'w':
			settings->server.workers = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'm':
			settings->server.unix_mode = (mode_t)strtoul(optarg, NULL, 8);
			break;
		case 'r':
			settings->server.restart = true;
			break;
		case 'p':
			bind_to(app, settings, optarg, true);
			break;
		case 'H':
			settings->server.head_timeout_ns = strtoull(optarg, NULL, 10) * EDDY_MS;
			break;
		case 'x':
			settings->server.proxy_header_max = strtoul(optarg, NULL, 10);
			break;
		case 'l':
			settings->server.lame_duck_ns = strtoull(optarg, NULL, 10) * EDDY_MS;
			break;
		case 'd':
			settings->server.drain_timeout_ns = strtoull(optarg, NULL, 10) * EDDY_MS;
			break;
		case 't':
			if (settings->trusted_count == TRUSTED_MAX)
				exit(2);
			settings->trusted[settings->trusted_count++] = optarg;
			settings->server.trusted_proxies = settings->trusted;
			break;
		case 'f':
			settings->server.forwarded = *optarg == 'x' ? EDDY_FORWARDED_X :
								      EDDY_FORWARDED_RFC7239;
			break;
		case 'h':
			settings->server.forwarded_host = true;
			break;
#ifndef EDDY_NO_CONFIG
		case 'c':
			eddy_app_with_config(app, optarg);
			break;
#endif
		default:
			exit(2);
		}
	}
}

/* What the tests want of a start: that it fails where there is no file of this name; that a successor
 * writes its number to this one, and hangs. */
static void obstruct(void)
{
	const char *gate = getenv("DOORS_GATE"), *hang = getenv("DOORS_HANG");
	FILE *file;

	if (gate && access(gate, F_OK) < 0)
		exit(3);
	if (!hang || !getenv("EDDY_RESTART"))
		return;
	file = fopen(hang, "w");
	fprintf(file, "%d\n", (int)getpid());
	fclose(file);
	pause();
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	struct settings settings = { .trusted_count = 0 };

	eddy_log_text_subscribe();
	eddy_app_bind(app, "127.0.0.1:0");
	parse(argc, argv, app, &settings);
	eddy_app_with_server(app, &settings.server);
	eddy_app_set_context(app, app);
	eddy_app_map_get(app, "/", door);
	eddy_app_map_post(app, "/", door);
	eddy_app_map_get(app, "/slow/{ms}", slow);
	eddy_app_map_get(app, "/peer", peer);
	eddy_app_map_get(app, "/health", eddy_health);
	eddy_app_map_get(app, "/failures", failures);
	eddy_route_use_rate_limit(eddy_app_map_get(app, "/rare", door),
				  &(struct eddy_rate_limit_options){
					  .count = 1,
					  .per_ns = 3600 * EDDY_SECOND,
				  });
	eddy_app_map_get(app, "/env/{name}", variable);
	eddy_app_map_post(app, "/restart", restart);
	eddy_app_map_post(app, "/stop", stop);
	obstruct();
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
