/* files: command-line options. */
#include "files_settings.h"
#include "switches.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

/* The least .turn_max of eddy/technique.h. */
#define TURN_MIN ((uint64_t)(4 * EDDY_KIB))

static void usage(FILE *out)
{
	fprintf(out, "usage: %s [DIR] [OPTION]…\n", program_invocation_short_name);
	fputs("  DIR                 the folder to serve (default: the current one)\n"
	      "  --bind ADDR         where to listen: host:port, [v6]:port or unix:path (default:\n"
	      "                      localhost:7878)\n"
	      "  --workers N         threads, each with its own loop (default: 1)\n"
	      "  --max-size BYTES    largest upload (default: limited by the disk only)\n"
	      "  --append-max BYTES  largest request of an upload in pieces, for proxies that limit\n"
	      "                      bodies (default: no limit)\n"
	      "  --upload-age SECS   how long incomplete uploads are kept (default: 86400)\n"
	      "  --no-upload         read only: reject all changes\n"
	      "  --login FILE        ask for a name and password; FILE has lines NAME:PASSWORD, and\n"
	      "                      only its owner may read it\n"
	      "  --insecure-login    allow passwords to cross a network without HTTPS\n"
	      "  --cert FILE         serve HTTPS with this certificate (PEM)\n"
	      "  --key FILE          its private key, unless it is in the same file\n"
	      "  --technique NAME    how files are sent: auto, splice, ring-splice, sendfile,\n"
	      "                      read-send, mmap, send-zc or dontcache (default: auto);\n"
	      "                      TLS goes through memory unless the kernel encrypts\n"
	      "  --upload-technique NAME\n"
	      "                      how files are received: auto, splice, ring-splice or recv-write\n"
	      "  --turn BYTES        how much one transfer moves before others run, and its\n"
	      "                      largest write: 4096 to 1048576 (default: 1048576)\n"
	      "  --no-http2          speak HTTP/1 only\n"
	      "  --no-open-files     do not keep files open for later requests\n"
	      "  --no-sandbox        do not enter the sandbox, which allows the process to use\n"
	      "                      the folder only; required for a restart by SIGUSR2\n",
	      out);
}

/* Apply one option that getopt(3) has found. */
static void take(struct files_settings *settings, int option)
{
	switch (option) {
	case 'b':
		settings->files.bind = optarg;
		break;
	case 'w':
		settings->server.workers = (unsigned)switch_number("workers", optarg, 1, 1024);
		break;
	case 'm':
		settings->files.max_size = switch_number("max-size", optarg, 1, EDDY_NEVER - 1);
		break;
	case 'a':
		settings->files.append_max =
			switch_number("append-max", optarg, FILES_APPEND_MIN, EDDY_NEVER - 1);
		break;
	case 'A':
		settings->files.upload_age = switch_number("upload-age", optarg, 1, UINT32_MAX);
		break;
	case 'n':
		settings->files.no_upload = true;
		break;
	case 'l':
		files_login_free(settings->files.login);
		settings->files.login = files_login_load(optarg);
		break;
	case 'i':
		settings->files.insecure_login = true;
		break;
	case 'C':
		settings->tls.cert = optarg;
		settings->files.secure = true;
		break;
	case 'K':
		settings->tls.key = optarg;
		break;
	case 't':
		switch_technique("technique", optarg, &settings->transfer,
				 &settings->transfer.technique);
		break;
	case 'u':
		switch_technique("upload-technique", optarg, &settings->transfer,
				 &settings->transfer.technique_in);
		break;
	case 'T':
		settings->transfer.turn_max =
			(size_t)switch_number("turn", optarg, TURN_MIN, EDDY_MIB);
		break;
	case '1':
		settings->server.no_http2 = true;
		break;
	case 'O':
		settings->server.no_open_files = true;
		break;
	case 'S':
		settings->no_sandbox = true;
		break;
	case 'h':
		usage(stdout);
		exit(0);
	default:
		usage(stderr);
		exit(2);
	}
}

void files_settings_parse(struct files_settings *settings, int argc, char **argv)
{
	static const struct option options[] = {
		{ "bind", required_argument, NULL, 'b' },
		{ "workers", required_argument, NULL, 'w' },
		{ "max-size", required_argument, NULL, 'm' },
		{ "append-max", required_argument, NULL, 'a' },
		{ "upload-age", required_argument, NULL, 'A' },
		{ "no-upload", no_argument, NULL, 'n' },
		{ "login", required_argument, NULL, 'l' },
		{ "insecure-login", no_argument, NULL, 'i' },
		{ "cert", required_argument, NULL, 'C' },
		{ "key", required_argument, NULL, 'K' },
		{ "technique", required_argument, NULL, 't' },
		{ "upload-technique", required_argument, NULL, 'u' },
		{ "turn", required_argument, NULL, 'T' },
		{ "no-http2", no_argument, NULL, '1' },
		{ "no-open-files", no_argument, NULL, 'O' },
		{ "no-sandbox", no_argument, NULL, 'S' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) >= 0)
		take(settings, option);
	if (optind < argc)
		settings->files.path = argv[optind++];
	if (optind < argc) {
		fprintf(stderr, "files: only one folder can be served, not also \"%s\"\n",
			argv[optind]);
		exit(2);
	}
}
