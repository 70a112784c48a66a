/* eddy/cors.h: pages of other origins may ask (CORS: section 3.2 of the Fetch standard).
 *
 *     static const char *const ours[] = { "https://app.example", NULL };
 *
 *     eddy_app_use_cors(app, &(struct eddy_cors_options){ .origins = ours });
 *
 * What is answered to an origin that is not on the list has none of these fields, and its browser keeps
 * it from the page: the request itself has been served. To refuse it, see eddy/same_origin.h.
 */
#ifndef EDDY_CORS_H
#define EDDY_CORS_H

#include <eddy/app.h>

EDDY_BEGIN_DECLS

/* Every field but the first: 0 or NULL means its default. The strings are borrowed for as long as the
 * app lives. */
struct eddy_cors_options {
	/* "https://host", with a port where it is not the scheme's own, in lower case; "null" is what
	 * pages without an origin send; "*" stands for any. NULL behind the last. */
	const char *const *origins;
	const char *methods; /* default "GET, HEAD, POST, PUT, PATCH, DELETE" */
	const char *headers; /* that a request may have; default: those that a preflight asks for */
	const char *exposed; /* of a response, that the page may read; default: the safelisted ones */
	uint32_t max_age_s; /* for which a browser keeps the answer to a preflight; default: its own */
	bool credentials; /* with cookies and logins; not with "*" */
};

/* Answer preflights, and say on every response who may read it. On a group both go for what is beneath
 * its prefix. Options that contradict one another are a mistake that run reports. */
EDDY_API void eddy_app_use_cors(struct eddy_app *app, const struct eddy_cors_options *options);
EDDY_API void eddy_group_use_cors(struct eddy_group *group,
				  const struct eddy_cors_options *options);

EDDY_END_DECLS

#endif
