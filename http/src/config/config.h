/* config.h: the configuration file of an app. */
#ifndef EDDYI_CONFIG_H
#define EDDYI_CONFIG_H

#include "app/app.h"

#include <eddy/config.h>

#define EDDYI_CONFIG_FILE_MAX EDDY_MIB

/* Apply the text of the app's configuration file. Never suspends.
 * Return: 0; -EINVAL if it is invalid, after log records; -ENOMEM. */
int eddyi_config_read_text(struct eddy_app *app, struct eddy_str text);

/* [server], whose target is the app. */
extern const struct eddy_config_section eddyi_config_server;

/* [runtime] and [transfer], whose target is the app. */
extern const struct eddy_config_section eddyi_config_runtime, eddyi_config_transfer;

#endif
