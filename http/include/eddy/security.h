/* eddy/security.h: a filter (middleware) that sets security headers for browsers, such as CSP and
 * HSTS.
 *
 *     eddy_app_use_security(app, NULL);
 */
#ifndef EDDY_SECURITY_H
#define EDDY_SECURITY_H

#include <eddy/app.h>

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

/* The fields' values: NULL takes the default, "" omits the field. Borrowed for the app's life. */
struct eddy_security_options {
	/* content-security-policy; default "default-src 'self'; base-uri 'self'; form-action
	 * 'self'; frame-ancestors 'self'; object-src 'none'" */
	const char *content_policy;
	const char *content_type; /* x-content-type-options; default "nosniff" */
	const char *frame;        /* x-frame-options; default "SAMEORIGIN" */
	const char *referrer;     /* referrer-policy; default "strict-origin-when-cross-origin" */
	const char *opener;       /* cross-origin-opener-policy; default "same-origin" */
	const char *resource;     /* cross-origin-resource-policy; default "same-origin" */
	const char *permissions;  /* permissions-policy; default: none */
	/* strict-transport-security, only over TLS (HSTS, RFC 6797); default "max-age=31536000" */
	const char *transport;
};

/* Set the fields on every response. A field that a handler sets itself stays. */
EDDY_API void eddy_app_use_security(union eddy_target target,
				    const struct eddy_security_options *options);

EDDY_END_DECLS

#endif
