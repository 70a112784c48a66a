/* oauth.h: the issuer of an app. */
#ifndef EDDYI_OAUTH_H
#define EDDYI_OAUTH_H

#include <eddy/oauth.h>

struct eddyi_issuer;

struct eddyi_oauth {
	struct eddy_oauth_options options; /* final once the app starts */
	/* The file's names of two options, which replace .allow_http and .redirects_max. */
	bool require_https;
	unsigned max_redirects;
	struct eddyi_issuer *issuer; /* NULL: not used */
};

/* Get the app's issuer options. The first call creates them and registers [oauth.client]. */
struct eddyi_oauth *eddyi_oauth_of(struct eddy_app *app);

#endif
