/* issuer: command-line options. */
#include "issuer.h"
#include "switches.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIFETIME_MAX (24 * 3600)
#define URL_MAX 1000

static void usage(FILE *out)
{
	fputs("usage: issuer --keys DIR --clients FILE [--bind ADDR] [--issuer URL] [--audience AUD]\n"
	      "              [--lifetime SECS] [--kid-by-name]\n"
	      "  --keys         a folder with private keys, named *.pem (PEM); the last by name signs\n"
	      "  --clients      a file; each line: client id, secret, scopes, roles (a,b or - for none)\n"
	      "  --bind         where to listen: host:port, [v6]:port or unix:path (default: "
	      "localhost:7879)\n"
	      "  --issuer       its URL (default: http:// and that address)\n"
	      "  --audience     the audience of the tokens (default: none)\n"
	      "  --lifetime     lifetime of a token in seconds (default: 600)\n"
	      "  --kid-by-name  use the file name as key id (default: the thumbprint)\n"
	      "SIGHUP reloads keys and clients.\n",
	      out);
}

static void fail(const char *why, const char *what)
{
	fprintf(stderr, "issuer: %s%s\n", why, what);
	usage(stderr);
	exit(2);
}

static bool is_origin(const char *url)
{
	const char *host = strstr(url, "://");

	return host && strlen(url) <= URL_MAX && host[3] && !strpbrk(host + 3, "/?#@");
}

/* The issuer from the address; exits with 2 if that has no port. */
static const char *url_of(const char *bind)
{
	static char url[URL_MAX + 8];
	const char *port = strrchr(bind, ':');

	if (!port || !port[strspn(port, ":0")] || strncmp(bind, "unix:", 5) == 0 ||
	    strncmp(bind, "systemd", 7) == 0 || strlen(bind) > URL_MAX)
		fail("--issuer is required, as this address is not usable in a URL: ", bind);
	snprintf(url, sizeof(url), "http://%s", bind);
	return url;
}

static void check(struct issuer_settings *settings)
{
	if (!settings->keys || !settings->clients)
		fail("needs --keys and --clients", "");
	if (!settings->url)
		settings->url = url_of(settings->bind);
	if (!is_origin(settings->url))
		fail("--issuer takes a URL without a path, like http://localhost:7879, not ",
		     settings->url);
}

void issuer_settings_parse(struct issuer_settings *settings, int argc, char **argv)
{
	static const struct option options[] = {
		{ "keys", required_argument, NULL, 'k' },
		{ "clients", required_argument, NULL, 'c' },
		{ "bind", required_argument, NULL, 'b' },
		{ "issuer", required_argument, NULL, 'i' },
		{ "audience", required_argument, NULL, 'u' },
		{ "lifetime", required_argument, NULL, 'l' },
		{ "kid-by-name", no_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		switch (option) {
		case 'k':
			settings->keys = optarg;
			break;
		case 'c':
			settings->clients = optarg;
			break;
		case 'b':
			settings->bind = optarg;
			break;
		case 'i':
			settings->url = optarg;
			break;
		case 'u':
			settings->audience = optarg;
			break;
		case 'l':
			settings->lifetime =
				(unsigned)switch_number("lifetime", optarg, 1, LIFETIME_MAX);
			break;
		case 'n':
			settings->kid_by_name = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind < argc)
		fail("takes options only, not ", argv[optind]);
	check(settings);
}
