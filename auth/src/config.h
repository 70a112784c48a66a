/* config.h: the sections of the layer, each of which belongs to one of its files. */
#ifndef EDDYI_AUTH_CONFIG_H
#define EDDYI_AUTH_CONFIG_H

#include <eddy/app.h>

/* Make [oauth.resource] and [oauth.server] known. */
void eddyi_metadata_config(struct eddy_app *app);

#endif
