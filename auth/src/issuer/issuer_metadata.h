/* issuer_metadata.h: parsing of an issuer's metadata (RFC 8414, OpenID Connect Discovery). */
#ifndef EDDYI_ISSUER_METADATA_H
#define EDDYI_ISSUER_METADATA_H

#include <eddy/str.h>

/* The most bytes of a document that a message shows. */
#define EDDYI_ISSUER_SHOWN_MAX 100

struct eddyi_issuer_metadata {
	const char *issuer; /* the required issuer, byte for byte */
	bool allow_http;
	struct eddy_str text; /* the document */

	/* If it is valid: */
	char *jwks_uri; /* a valid URL; allocated */
	/* If it is not: its fault, the faulty value ("": none), and the reason (NULL: none) */
	const char *fault;
	char shown[EDDYI_ISSUER_SHOWN_MAX + 1];
	const char *reason;
};

/* Parse `text`; results are zero before. Never suspends. Return: 0; -EBADMSG and a fault;
 * -ENOMEM. */
int eddyi_issuer_metadata_read(struct eddyi_issuer_metadata *metadata);

/* Check that a URL may be fetched: absolute, https (or http if allowed), without userinfo. Return:
 * NULL; else what is wrong with it, never freed. */
const char *eddyi_issuer_url_fault(const char *url, bool allow_http);

#endif
