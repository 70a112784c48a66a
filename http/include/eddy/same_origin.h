/* eddy/same_origin.h: no page of another site reaches in through its visitor's browser.
 *
 *     eddy_app_use_same_origin(app, &(struct eddy_same_origin_options){ .local_only = true });
 *
 * Browsers say where a request comes from, by Origin and Sec-Fetch-Site; programs that say neither are
 * let through. For pages that may ask all the same, see eddy/cors.h.
 */
#ifndef EDDY_SAME_ORIGIN_H
#define EDDY_SAME_ORIGIN_H

#include <eddy/app.h>

EDDY_BEGIN_DECLS

/* Every field: 0 means its default. */
struct eddy_same_origin_options {
	/* Refuse also what asks for a host other than localhost, an IP address, the machine's name and
	 * NAME.local: a name that somebody else's DNS points at this machine would make their page ours
	 * (DNS rebinding). For a server without a domain; default: any host. */
	bool local_only;
};

/* Refuse by 403 what changes something (all but GET, HEAD, OPTIONS and TRACE) and comes from a page of
 * another host, or of another site. */
EDDY_API void eddy_app_use_same_origin(struct eddy_app *app,
				       const struct eddy_same_origin_options *options);
EDDY_API void eddy_group_use_same_origin(struct eddy_group *group,
					 const struct eddy_same_origin_options *options);
EDDY_API void eddy_route_use_same_origin(struct eddy_route *route,
					 const struct eddy_same_origin_options *options);

EDDY_END_DECLS

#endif
