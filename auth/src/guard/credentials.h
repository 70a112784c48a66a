/* credentials.h: the bearer token of a request (RFC 6750 section 2.1). */
#ifndef EDDYI_CREDENTIALS_H
#define EDDYI_CREDENTIALS_H

#include <eddy/req.h>

enum eddyi_credentials {
	EDDYI_CREDENTIALS_NONE,    /* no Authorization field, or another scheme */
	EDDYI_CREDENTIALS_BEARER,  /* one token */
	EDDYI_CREDENTIALS_INVALID, /* the scheme without a token, or several fields */
};

/* Read the Authorization field. The token is borrowed from the request. */
enum eddyi_credentials eddyi_credentials_read(const struct eddy_req *req,
					      struct eddy_str *ret_token);

#endif
