/* eddy/cors.h: CORS, which lets web pages of other origins read responses (Fetch standard, section
 * 3.2).
 *
 *     eddy_app_use_cors(app, &(struct eddy_cors_options){
 *                                    .origins = EDDY_LIST("https://app.example") });
 *
 * A request from an unlisted origin is still served: only the browser withholds the response from
 * the page. To reject such requests, use eddy/same_origin.h.
 */
#ifndef EDDY_CORS_H
#define EDDY_CORS_H

#include <eddy/app.h>

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

/* Which pages may read responses. A zero field other than `origins` takes its default. Copied. */
struct eddy_cors_options {
	/* Lower-case "https://host", with a port unless it is the scheme's; "null" for pages
	 * without an origin; "*" for any. NULL ends the list. */
	const char *const *origins;
	const char *methods; /* default "GET, HEAD, POST, PUT, PATCH, DELETE" */
	const char *headers; /* request fields that pages may send; default: any */
	const char *exposed; /* response fields that pages may read; default: the safelisted */
	uint32_t max_age_s;  /* time to cache a preflight, seconds; default: the browser's */
	bool credentials;    /* allow cookies and logins; not with "*" */
};

/* Answer preflight requests, and add the CORS fields to every response, for a group beneath its
 * prefix. eddy_app_run() reports contradictory options. */
EDDY_API void eddy_app_use_cors(union eddy_router router, const struct eddy_cors_options *options);

EDDY_END_DECLS

#endif
