/* eddy/decompression.h: requests whose bodies come compressed.
 *
 *     eddy_route_use_decompression(route, NULL);
 *
 * A filter has the body read decoded, whoever reads or saves it: the limits of the app and the route count
 * what comes out. Without it such a request is answered 415.
 */
#ifndef EDDY_DECOMPRESSION_H
#define EDDY_DECOMPRESSION_H

#include <eddy/app.h>

EDDY_BEGIN_DECLS

/* Every field: 0 means its default. */
struct eddy_decompression_options {
	uint64_t size_max; /* bytes that may come out; default: no limit but those of who reads it; past it 413 */
	unsigned ratio_max; /* bytes that may come out for each that comes in, once 64 KiB are; default 100; past
			       it 413: EDDY_RATIO_ANY is no limit */
};

#define EDDY_RATIO_ANY (~0U)

/* Decode the bodies of requests, of one coding each; of another, or of several, 415 with an accept-encoding
 * that names what there is (RFC 9110 section 15.5.16). Of several filters the outermost counts. Options of
 * NULL are the defaults. */
EDDY_API void eddy_app_use_decompression(struct eddy_app *app,
					 const struct eddy_decompression_options *options);
EDDY_API void eddy_group_use_decompression(struct eddy_group *group,
					   const struct eddy_decompression_options *options);
EDDY_API void eddy_route_use_decompression(struct eddy_route *route,
					   const struct eddy_decompression_options *options);

EDDY_END_DECLS

#endif
