/* tour_settings.h: command-line options of the program `tour`. */
#ifndef TOUR_SETTINGS_H
#define TOUR_SETTINGS_H

#include <eddy/auth.h>
#include <eddy/http.h>
#include <eddy/trace.h>

struct tour_settings {
	struct eddy_server_options server;
	struct eddy_tls_options tls;
	const char *bind;
	const char *dir;
	const char *config;
	bool compression;
	bool tracing;
	struct eddy_tracing_options traced;
	struct eddy_oauth_options oauth; /* not used without an issuer */
	const char *secret_file;
	const char *audience;
	const char *resource;
	const char *authorization_server;
};

/* Parse the command line. Exits with 2 on a mistake. */
void tour_settings_parse(struct tour_settings *settings, int argc, char **argv);

#endif
