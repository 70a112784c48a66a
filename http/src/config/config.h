/* config.h: the configuration file of an app. */
#ifndef EDDYI_CONFIG_H
#define EDDYI_CONFIG_H

#include "app/app.h"

#include <eddy/config.h>

#define EDDYI_CONFIG_FILE_MAX EDDY_MIB

/* Set what the text of the app's file says. Does not suspend. Return: 0; -EINVAL when it is wrong: the records
 * have been emitted; -ENOMEM. */
int eddyi_config_read_text(struct eddy_app *app, struct eddy_str text);

/* [server]; its target is the app. */
extern const struct eddy_config_section eddyi_config_server;

/* [transfer], as well. */
extern const struct eddy_config_section eddyi_config_transfer;

#endif
