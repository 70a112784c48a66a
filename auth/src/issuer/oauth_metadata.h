/* oauth_metadata.h: the metadata documents, for the rest of the layer. */
#ifndef EDDYI_OAUTH_METADATA_H
#define EDDYI_OAUTH_METADATA_H

#include <eddy/req.h>

/* Get the URL of the resource's document for challenges (RFC 9728 section 5.1), served or not.
 * Known once the app has started. Any thread may call it. Return: NULL if none is described. */
const char *eddyi_oauth_metadata_resource_url(const struct eddy_app *app);

/* Whether a request is for a metadata document, which needs no token. */
bool eddyi_oauth_metadata_is_asked(const struct eddy_app *app, const struct eddy_req *req);

/* Register [oauth.resource] and [oauth.server]. */
void eddyi_oauth_metadata_config(struct eddy_app *app);

#endif
