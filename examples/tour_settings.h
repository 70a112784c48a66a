/* tour_settings.h: what the program `tour` is told by its switches. */
#ifndef TOUR_SETTINGS_H
#define TOUR_SETTINGS_H

#include <eddy/auth.h>
#include <eddy/http.h>
#include <eddy/trace.h>

struct tour_settings {
	struct eddy_server_options server;
	const char *bind;
	const char *dir;
	const char *config;
	bool compression;
	bool tracing;
	struct eddy_tracing_options traced;
	struct eddy_oauth_options oauth; /* no issuer: it is not used */
	const char *secret_file;
	const char *audience;
	const char *resource;
	const char *authorization_server;
};

/* Read the switches; ends the process where they make no sense. */
void tour_settings_parse(struct tour_settings *settings, int argc, char **argv);

#endif
