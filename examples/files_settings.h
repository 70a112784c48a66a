/* files_settings.h: what the program `files` is told by its switches. */
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

/* Read the switches; ends the process where they make no sense. */
void files_settings_parse(struct files_settings *settings, int argc, char **argv);

#endif
