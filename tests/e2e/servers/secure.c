/* secure: a folder and a few handlers over TLS.
 *
 *     secure --cert FILE [--key FILE] [--more FILE]… [--client-ca FILE [--required]] [--only-1.3]
 *            [--config FILE] [--dir DIR] [--workers N] [--head_timeout MS] [--handshake_timeout MS]
 *            [--idle_timeout MS] [--no_ktls] [--bind ADDR] [--plain ADDR]… [--proxied ADDR]…
 *            [--to_https] [--restart] [--compression]
 *
 * Each `--more` is another certificate with its key, in one file. It listens at a free port of 127.0.0.1, and
 * without TLS at each `--plain`; from there `--to_https` sends clients on. At each `--proxied` this machine's PROXY
 * headers come before TLS.
 */
#include "handlers.h"

#include <eddy/compress.h>
#include <eddy/http.h>
#include <eddy/runtime.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static int text_or_dash(struct eddy_res *res, const char *name, struct eddy_str text)
{
	return eddy_res_set(res, name, text.ptr ? text : eddy_str("-", 1));
}

/* All that is known of the session, and how much of files this worker has spliced, as headers. */
static int session(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str peer = { 0 }, der = eddy_str("", 0);
	int r = eddy_req_tls_peer_subject(req, &peer);
	char spliced[32];

	snprintf(spliced, sizeof(spliced), "%ju", (uintmax_t)eddy_transfer_stats().spliced_out);
	if (r == -ENOENT)
		r = 0;
	if (r == 0 && peer.ptr)
		r = eddy_req_tls_peer_der(req, &der);
	if (r == 0)
		r = text_or_dash(res, "x-version", eddy_req_tls_version(req));
	if (r == 0)
		r = text_or_dash(res, "x-cipher", eddy_req_tls_cipher(req));
	if (r == 0)
		r = text_or_dash(res, "x-name", eddy_req_tls_server_name(req));
	if (r == 0)
		r = text_or_dash(res, "x-peer", peer);
	if (r == 0)
		r = eddy_res_set_z(res, "x-resumed", eddy_req_tls_is_resumed(req) ? "yes" : "no");
	if (r == 0)
		r = eddy_res_set_z(res, "x-spliced", spliced);
	if (r == 0)
		r = eddy_res_set(res, "x-client", eddy_req_peer(req)->text);
	if (r == 0)
		r = eddy_res_set_z(res, "x-secure", eddy_req_is_secure(req) ? "yes" : "no");
	return r < 0 ? r : eddy_res_bytes(res, "application/octet-stream", der);
}

static int download(struct eddy_req *req, struct eddy_res *res)
{
	const int *dir = eddy_req_context(req);
	struct eddy_str name;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	return eddy_res_file_at(res, *dir, name);
}

static int upload(struct eddy_req *req, struct eddy_res *res)
{
	const int *dir = eddy_req_context(req);
	struct eddy_saved saved;
	struct eddy_str name;
	int r;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	r = eddy_req_save_at(req, *dir, name, NULL, &saved);
	return r < 0 ? r : eddy_res_ok(res, "%ju", (uintmax_t)saved.size);
}

/* A stream that fails behind its first line. */
static int broken(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_write(res, "line\n", 5);

	(void)req;
	return r < 0 ? r : -EIO;
}

static int slow(struct eddy_req *req, struct eddy_res *res)
{
	uint64_t ms;
	int r;

	if (eddy_req_path(req, EDDY_TO(&ms)) < 0)
		return 400;
	r = eddy_sleep(ms * EDDY_MS);
	return r < 0 ? r : eddy_res_ok(res, "slept");
}

/* Send on who comes without TLS. */
static int to_https(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str rest = eddy_req_host(req), path = eddy_req_target_path(req), host;
	char location[512];

	if (eddy_req_is_secure(req))
		return eddy_next(next, req, res);
	eddy_str_split(&rest, ':', &host);
	snprintf(location, sizeof(location), "https://%.*s:%u%.*s", EDDY_FMT(host),
		 eddy_app_port(eddy_next_data(next)), EDDY_FMT(path));
	return eddy_res_redirect(res, 308, eddy_str_from(location));
}

struct settings {
	struct eddy_server_options server;
	struct eddy_tls_options tls;
	const char *more[4];
	size_t more_count;
	const char *config;
	bool to_https;
	int dir;
};

static const char *const this_machine[] = { "127.0.0.0/8", NULL };

static void parse(int argc, char **argv, struct eddy_app *app, struct settings *settings)
{
	static const struct option options[] = {
		{ "cert", required_argument, NULL, 'c' },
		{ "key", required_argument, NULL, 'k' },
		{ "more", required_argument, NULL, 'm' },
		{ "client-ca", required_argument, NULL, 'a' },
		{ "required", no_argument, NULL, 'r' },
		{ "only-1.3", no_argument, NULL, '3' },
		{ "config", required_argument, NULL, 'C' },
		{ "dir", required_argument, NULL, 'd' },
		{ "workers", required_argument, NULL, 'w' },
		{ "head_timeout", required_argument, NULL, 'h' },
		{ "handshake_timeout", required_argument, NULL, 's' },
		{ "idle_timeout", required_argument, NULL, 'i' },
		{ "no_ktls", no_argument, NULL, 'n' },
		{ "bind", required_argument, NULL, 'b' },
		{ "plain", required_argument, NULL, 'p' },
		{ "proxied", required_argument, NULL, 'P' },
		{ "to_https", no_argument, NULL, 't' },
		{ "restart", no_argument, NULL, 'R' },
		{ "compression", no_argument, NULL, 'z' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 'c':
			settings->tls.cert = optarg;
			break;
		case 'k':
			settings->tls.key = optarg;
			break;
		case 'm':
			if (settings->more_count == 4)
				exit(2);
			settings->more[settings->more_count++] = optarg;
			break;
		case 'a':
			settings->tls.client_ca = optarg;
			if (settings->tls.client_certs == EDDY_TLS_CLIENT_CERTS_NONE)
				settings->tls.client_certs = EDDY_TLS_CLIENT_CERTS_OPTIONAL;
			break;
		case 'r':
			settings->tls.client_certs = EDDY_TLS_CLIENT_CERTS_REQUIRED;
			break;
		case '3':
			settings->tls.min_version = EDDY_TLS_1_3;
			break;
		case 'C':
			settings->config = optarg;
			break;
		case 'd':
			settings->dir = open(optarg, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			break;
		case 'w':
			settings->server.workers = (unsigned)atoi(optarg);
			break;
		case 'h':
			settings->server.head_timeout_ns = (uint64_t)atoi(optarg) * EDDY_MS;
			break;
		case 's':
			settings->tls.handshake_timeout_ns = (uint64_t)atoi(optarg) * EDDY_MS;
			break;
		case 'i':
			settings->server.idle_timeout_ns = (uint64_t)atoi(optarg) * EDDY_MS;
			break;
		case 'n':
			settings->tls.no_ktls = true;
			break;
		case 'b':
			eddy_app_bind(app, optarg);
			break;
		case 'p':
			eddy_app_add_bind_with(app, optarg,
					       &(struct eddy_bind_options){ .plain = true });
			break;
		case 'P':
			settings->server.trusted_proxies = this_machine;
			eddy_app_add_bind_with(app, optarg,
					       &(struct eddy_bind_options){
						       .proxy_protocol = true,
					       });
			break;
		case 't':
			settings->to_https = true;
			break;
		case 'R':
			settings->server.restart = true;
			break;
		case 'z':
			eddy_app_use_compression(app);
			break;
		default:
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	struct settings settings = { .dir = -1 };
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_bind(app, "127.0.0.1:0");
	parse(argc, argv, app, &settings);
	eddy_app_with_server(app, &settings.server);
	eddy_app_use_tls(app, &settings.tls);
#ifndef EDDY_NO_CONFIG
	if (settings.config)
		eddy_app_with_config(app, settings.config);
#endif
	for (size_t i = 0; i < settings.more_count; i++)
		eddy_app_add_tls_cert(app, settings.more[i], NULL);
	if (settings.to_https)
		eddy_app_add_filter_with(app, to_https, app);
	eddy_app_set_context(app, &settings.dir);
	eddy_app_map_get(app, "/", session);
	eddy_app_map_get(app, "/files/{name}", download);
	eddy_app_map_put(app, "/files/{name}", upload);
	eddy_app_map_post(app, "/pump", pump);
	eddy_app_map_post(app, "/refuse", refuse);
	eddy_app_map_get(app, "/broken", broken);
	eddy_app_map_get(app, "/slow/{ms}", slow);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
