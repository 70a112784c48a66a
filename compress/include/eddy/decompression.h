/* eddy/decompression.h: decompression of request bodies.
 *
 *     eddy_app_use_decompression(route, NULL);
 *
 * With this filter (middleware) the body is read or saved decoded. The limits of the app and the
 * route apply to the decoded size. Without it an encoded body is answered 415.
 */
#ifndef EDDY_DECOMPRESSION_H
#define EDDY_DECOMPRESSION_H

#include <eddy/app.h>

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

/* Limits of decoded bodies; exceeding one gives 413. A zero field takes its default. */
struct eddy_decompression_options {
	uint64_t size_max; /* decoded bytes; default: only the limits of the app and the route */
	/* Decoded bytes for each encoded byte, after the first 64 KiB; default 100; EDDY_RATIO_ANY
	 * is no limit. */
	unsigned ratio_max;
};

#define EDDY_RATIO_ANY (~0U)

/* Decode request bodies that have one coding. For other or several codings the response is 415,
 * with an accept-encoding that lists the available ones (RFC 9110 section 15.5.16). Of several such
 * filters the outermost decides. `options` may be NULL. */
EDDY_API void eddy_app_use_decompression(union eddy_target target,
					 const struct eddy_decompression_options *options);

EDDY_END_DECLS

#endif
