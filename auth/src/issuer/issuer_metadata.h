/* issuer_metadata.h: what an issuer says of itself (RFC 8414, OpenID Connect Discovery), and what of that is taken. */
#ifndef EDDYI_ISSUER_METADATA_H
#define EDDYI_ISSUER_METADATA_H

#include <eddy/str.h>

/* What a document says is shown so far. */
#define EDDYI_ISSUER_SHOWN_MAX 100

struct eddyi_issuer_metadata {
	const char *issuer; /* that it has to be of, to the byte */
	bool allow_http;
	struct eddy_str text; /* the document */

	/* Of one that is good: */
	char *jwks_uri; /* may be asked; allocated */
	/* Of one that is not: its fault, what that is the fault of ("": nothing), and why (NULL: that is all) */
	const char *fault;
	char shown[EDDYI_ISSUER_SHOWN_MAX + 1];
	const char *reason;
};

/* Read the document; everything but `text` and what it has to be is zero before. Never suspends. Return: 0, -EBADMSG and
 * a fault, -ENOMEM. */
int eddyi_issuer_metadata_read(struct eddyi_issuer_metadata *metadata);

/* Whether a URL may be asked: it is an absolute one of https, or of http where that is allowed, without a user's
 * name. Return: NULL; else what is wrong with it, a string that is never freed. */
const char *eddyi_issuer_url_fault(const char *url, bool allow_http);

#endif
