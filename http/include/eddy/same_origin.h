/* eddy/same_origin.h: a filter (middleware) against cross-site requests (CSRF) and DNS rebinding.
 *
 *     eddy_app_use_same_origin(app, &(struct eddy_same_origin_options){ .local_only = true });
 *
 * Browsers send Origin and Sec-Fetch-Site. Requests with neither, from programs, are accepted. To
 * allow pages of other origins, see eddy/cors.h.
 */
#ifndef EDDY_SAME_ORIGIN_H
#define EDDY_SAME_ORIGIN_H

#include <eddy/app.h>

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

/* Which requests are rejected. A zero field takes its default. */
struct eddy_same_origin_options {
	/* Also reject hosts other than localhost, an IP address, the machine's name and NAME.local:
	 * another name that someone's DNS points at this machine makes their page same-origin (DNS
	 * rebinding). For a server without a domain; default: any host is accepted. */
	bool local_only;
};

/* Reject by 403 each request, except GET, HEAD, OPTIONS and TRACE, from a page of another host or
 * another site. */
EDDY_API void eddy_app_use_same_origin(union eddy_target target,
				       const struct eddy_same_origin_options *options);

EDDY_END_DECLS

#endif
