/* probe: a target for HTTP conformance suites such as h1spec and Http11Probe.
 *
 *     probe [--bind ADDR] [--workers N] [--cert FILE [--key FILE]] [--no-http2]
 *
 *     $ probe &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl localhost:7878/
 *     OK
 *     $ curl -d hello localhost:7878/
 *     hello
 *     $ curl -b a=1 localhost:7878/cookie
 *     a=1
 */
#include "switches.h"

#include <eddy/http.h>
#include <eddy/runtime.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT "text/plain; charset=utf-8"
#define BODY_MAX (16 * EDDY_MIB) /* of an echoed body */

/* GET / */
static int ok(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_bytes(res, TEXT, EDDY_STR("OK"));
}

/* Read and discard the body: a malformed one is an error all the same. */
static int discard(struct eddy_req *req)
{
	char buf[4096];
	ssize_t n;

	while ((n = eddy_req_read(req, buf, sizeof(buf))) > 0)
		;
	return (int)n;
}

/* POST, PUT and PATCH of / */
static int send_back(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	int r = eddy_req_body(req, &body);

	if (r == -EMSGSIZE && (r = discard(req)) == 0)
		return 413;
	return r < 0 ? r : eddy_res_bytes(res, "application/octet-stream", body);
}

/* Return: the end of the line. */
static char *write_line(char *at, struct eddy_str name, const char *between, struct eddy_str value)
{
	at = mempcpy(at, name.ptr, name.len);
	at = stpcpy(at, between);
	at = mempcpy(at, value.ptr, value.len);
	*at++ = '\n';
	return at;
}

/* Send the request's header fields back, one a line. */
static int echo(struct eddy_req *req, struct eddy_res *res)
{
	size_t count = eddy_req_header_count(req), size = 1;
	struct eddy_str name, value;
	char *text, *at;
	int r = discard(req);

	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		eddy_req_header_at(req, i, &name, &value);
		size += name.len + value.len + sizeof(": ");
	}
	text = at = eddy_req_alloc(req, size);
	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		eddy_req_header_at(req, i, &name, &value);
		at = write_line(at, name, ": ", value);
	}
	return eddy_res_bytes(res, TEXT, eddy_str(text, (size_t)(at - text)));
}

/* GET /cookie */
static int cookies(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_pairs pairs;
	size_t size = 1;
	char *text, *at;
	int r = eddy_req_cookie_pairs(req, &pairs);

	if (r < 0)
		return r;
	for (size_t i = 0; i < pairs.count; i++)
		size += pairs.list[i].name.len + pairs.list[i].value.len + sizeof("=");
	text = at = eddy_req_alloc(req, size);
	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < pairs.count; i++)
		at = write_line(at, pairs.list[i].name, "=", pairs.list[i].value);
	return eddy_res_bytes(res, TEXT, eddy_str(text, (size_t)(at - text)));
}

/* /echo with any method, also those that no route can have, such as PROPFIND. */
static int fallback(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_str_eq_z(eddy_req_target_path(req), "/echo") ? echo(req, res) : 404;
}

static void map(struct eddy_app *app)
{
	eddy_app_map_get(app, "/", ok);
	eddy_app_map_post(app, "/", send_back);
	eddy_app_map_put(app, "/", send_back);
	eddy_app_map_patch(app, "/", send_back);
	eddy_app_map_get(app, "/cookie", cookies);
	eddy_app_map_fallback(app, fallback);
}

static void usage(FILE *out, int status)
{
	fputs("usage: probe [--bind ADDR] [--workers N] [--cert FILE [--key FILE]] [--no-http2]\n"
	      "  --bind     where to listen: host:port, [v6]:port or unix:path (default: "
	      "localhost:7878)\n"
	      "  --workers  threads, each with its own loop (default: 1)\n"
	      "  --cert     serve HTTPS with this certificate (PEM)\n"
	      "  --key      its private key, unless it is in the same file\n"
	      "  --no-http2  speak HTTP/1 only\n",
	      out);
	exit(status);
}

static void parse(int argc, char **argv, struct eddy_app *app)
{
	static const struct option options[] = {
		{ "bind", required_argument, NULL, 'b' },
		{ "workers", required_argument, NULL, 'w' },
		{ "cert", required_argument, NULL, 'C' },
		{ "key", required_argument, NULL, 'K' },
		{ "no-http2", no_argument, NULL, '1' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct eddy_server_options server = { .body_max = BODY_MAX };
	struct eddy_tls_options tls = { 0 };
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		switch (option) {
		case 'b':
			eddy_app_bind(app, optarg);
			break;
		case 'w':
			server.workers = (unsigned)switch_number("workers", optarg, 1, 1024);
			break;
		case 'C':
			tls.cert = optarg;
			break;
		case 'K':
			tls.key = optarg;
			break;
		case '1':
			server.no_http2 = true;
			break;
		case 'h':
			usage(stdout, 0);
			break;
		default:
			usage(stderr, 2);
		}
	}
	if (optind < argc)
		usage(stderr, 2);
	eddy_app_with_server(app, &server);
	switch_tls(app, &tls);
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	parse(argc, argv, app);
	map(app);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
