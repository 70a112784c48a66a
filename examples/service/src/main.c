#include "dropbox.h"

int main(int argc, char **argv)
{
	struct eddy_app *app = dropbox_app();

	eddy_log_writer_subscribe(NULL);
	eddy_app_with_config(app, argc > 1 ? argv[1] : "dropbox.toml");
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
