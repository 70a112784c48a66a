/* resource.h: what guards ask of the resource that they guard. */
#ifndef EDDYI_RESOURCE_H
#define EDDYI_RESOURCE_H

#include <eddy/req.h>

/* The URL of its metadata, for challenges (RFC 9728 section 5.1), whether the app serves that or not. Known once
 * the app has started. Any thread. Return: NULL where no resource is described. */
const char *eddyi_resource_metadata_url(const struct eddy_app *app);

/* Whether a request is for one of the app's metadata documents: who has no token yet reads there where to get
 * one. */
bool eddyi_resource_is_metadata(const struct eddy_app *app, const struct eddy_req *req);

#endif
