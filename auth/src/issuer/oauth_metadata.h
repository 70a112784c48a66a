/* oauth_metadata.h: what the rest of the layer asks of the metadata documents. */
#ifndef EDDYI_OAUTH_METADATA_H
#define EDDYI_OAUTH_METADATA_H

#include <eddy/req.h>

/* The URL of the document about the app as a resource, for challenges (RFC 9728 section 5.1), whether the app serves
 * it or not. Known once the app has started. Any thread. Return: NULL where no resource is described. */
const char *eddyi_oauth_metadata_resource_url(const struct eddy_app *app);

/* Whether a request is for one of the app's metadata documents: who has no token yet reads there where to get
 * one. */
bool eddyi_oauth_metadata_is_asked(const struct eddy_app *app, const struct eddy_req *req);

/* Make [oauth.resource] and [oauth.server] known. */
void eddyi_oauth_metadata_config(struct eddy_app *app);

#endif
