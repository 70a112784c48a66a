/* files_settings.h: command-line options of the program `files`. */
#ifndef FILES_SETTINGS_H
#define FILES_SETTINGS_H

#include "files.h"

#include <eddy/technique.h>

struct files_settings {
	struct files files;
	struct eddy_server_options server;
	struct eddy_transfer_options transfer;
	struct eddy_tls_options tls;
	bool no_sandbox;
};

/* Parse the command line. Exits with 2 on a mistake. */
void files_settings_parse(struct files_settings *settings, int argc, char **argv);

#endif
