/* credentials.h: the bearer token of a request (RFC 6750 section 2.1), or of its cookie. */
#ifndef EDDYI_CREDENTIALS_H
#define EDDYI_CREDENTIALS_H

#include <eddy/req.h>

enum eddyi_credentials {
	EDDYI_CREDENTIALS_NONE,    /* no Authorization field, or another scheme; no cookie */
	EDDYI_CREDENTIALS_BEARER,  /* one token */
	EDDYI_CREDENTIALS_INVALID, /* the scheme without a token, or several fields */
	EDDYI_CREDENTIALS_TWICE,   /* a field and a cookie, or several cookies */
	EDDYI_CREDENTIALS_UNSAFE,  /* a cookie alone, with a method that does not accept it */
};

/* Read the Authorization field and the cookie of this name; NULL: the field alone. The token is
 * borrowed from the request, and written for EDDYI_CREDENTIALS_BEARER. Return: enum
 * eddyi_credentials; as eddy_req_cookie_pairs(). */
int eddyi_credentials_read(struct eddy_req *req, const char *cookie, struct eddy_str *ret_token);

#endif
