/* oauth.h: the issuer that an app is told of. */
#ifndef EDDYI_OAUTH_H
#define EDDYI_OAUTH_H

#include <eddy/oauth.h>

struct eddyi_issuer;

struct eddyi_oauth {
	struct eddy_oauth_options
		options;        /* the configuration file has had its say once the app starts */
	bool require_https;     /* the file's words for two of them, */
	unsigned max_redirects; /* which replace those */
	struct eddyi_issuer *issuer; /* NULL: it is not used */
};

/* What the app has; made, and [oauth.client] known, when it is asked for the first time. */
struct eddyi_oauth *eddyi_oauth_of(struct eddy_app *app);

#endif
