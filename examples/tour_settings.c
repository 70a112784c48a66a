/* tour: command-line options. */
#include "switches.h"
#include "tour_settings.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static void usage(FILE *out)
{
	fputs("usage: tour [--bind ADDR] [--dir DIR] [--workers N] [--config FILE] [--compression]\n"
	      "            [--tracing[=HEADER]] [--access-log] [--max-size BYTES]\n"
	      "            [--issuer URL] [--audience AUD] [--http-issuer] [--refresh-cooldown SECS]\n"
	      "            [--max-key-age SECS] [--secret-file FILE] [--ca FILE]\n"
	      "            [--resource URL] [--authorization-server URL]\n"
	      "            [--cert FILE [--key FILE]] [--no-http2]\n"
	      "  --bind         where to listen: host:port, [v6]:port or unix:path (default: "
	      "localhost:7878)\n"
	      "  --dir          where files are saved and sent from (default: the current folder)\n"
	      "  --workers      threads, each with its own loop (default: 1)\n"
	      "  --config       configuration file (TOML), which overrides these options\n"
	      "  --compression  compress responses for clients that accept it\n"
	      "  --tracing      send a request id in a field (default: request-id), also in records\n"
	      "  --access-log   emit a log record for every request\n"
	      "  --max-size     largest upload in bytes (default: 1 GiB)\n"
	      "  --issuer       protected routes accept tokens of this issuer\n"
	      "  --audience     the audience that tokens must have\n"
	      "  --http-issuer  allow plain HTTP to fetch the issuer's keys\n"
	      "  --refresh-cooldown  seconds between fetches for unknown keys (default: 60)\n"
	      "  --max-key-age  seconds after which the keys are fetched again (default: 900)\n"
	      "  --ca           a file of CA certificates to trust besides the system's\n"
	      "  --secret-file  protected routes accept tokens signed with this secret instead\n"
	      "  --resource     publish resource metadata for the resource with this URL\n"
	      "  --authorization-server  publish server metadata for the issuer with this URL\n"
	      "  --cert         serve HTTPS with this certificate (PEM)\n"
	      "  --key          its private key, unless it is in the same file\n"
	      "  --no-http2     speak HTTP/1 only\n",
	      out);
}

static uint64_t seconds(const char *name, const char *text)
{
	return switch_number(name, text, 1, 365 * 24 * 3600) * EDDY_SECOND;
}

/* Apply one option that getopt(3) has found. */
static void take(struct tour_settings *settings, int option)
{
	switch (option) {
	case 'b':
		settings->bind = optarg;
		break;
	case 'd':
		settings->dir = optarg;
		break;
	case 'w':
		settings->server.workers = (unsigned)switch_number("workers", optarg, 1, 1024);
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
		settings->server.file_max = switch_number("max-size", optarg, 1, EDDY_NEVER - 1);
		break;
	case 'i':
		settings->oauth.issuer = optarg;
		break;
	case 'u':
		settings->audience = optarg;
		break;
	case 'p':
		settings->oauth.allow_http = true;
		break;
	case 'k':
		settings->oauth.refresh_cooldown_ns = seconds("refresh-cooldown", optarg);
		break;
	case 'g':
		settings->oauth.max_key_age_ns = seconds("max-key-age", optarg);
		break;
	case 'l':
		settings->oauth.ca_file = optarg;
		break;
	case 'f':
		settings->secret_file = optarg;
		break;
	case 'r':
		settings->resource = optarg;
		break;
	case 's':
		settings->authorization_server = optarg;
		break;
	case 'C':
		settings->tls.cert = optarg;
		break;
	case 'K':
		settings->tls.key = optarg;
		break;
	case '1':
		settings->server.no_http2 = true;
		break;
	case 'h':
		usage(stdout);
		exit(0);
	default:
		usage(stderr);
		exit(2);
	}
}

void tour_settings_parse(struct tour_settings *settings, int argc, char **argv)
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
		{ "issuer", required_argument, NULL, 'i' },
		{ "audience", required_argument, NULL, 'u' },
		{ "http-issuer", no_argument, NULL, 'p' },
		{ "refresh-cooldown", required_argument, NULL, 'k' },
		{ "max-key-age", required_argument, NULL, 'g' },
		{ "ca", required_argument, NULL, 'l' },
		{ "secret-file", required_argument, NULL, 'f' },
		{ "resource", required_argument, NULL, 'r' },
		{ "authorization-server", required_argument, NULL, 's' },
		{ "cert", required_argument, NULL, 'C' },
		{ "key", required_argument, NULL, 'K' },
		{ "no-http2", no_argument, NULL, '1' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) >= 0)
		take(settings, option);
	if (optind < argc) {
		fprintf(stderr, "tour: takes options only, not \"%s\"\n", argv[optind]);
		usage(stderr);
		exit(2);
	}
}
