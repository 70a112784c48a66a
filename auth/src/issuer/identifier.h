/* identifier.h: the URLs that name issuers and resources, and where the documents about them are. */
#ifndef EDDYI_IDENTIFIER_H
#define EDDYI_IDENTIFIER_H

#include <stdbool.h>

/* Whether it is an absolute http or https URL without userinfo and fragment: what a resource is called (RFC
 * 9728 section 1.2), and where an endpoint is. */
#define EDDYI_RESOURCE_EXPECTED "an absolute http or https URL without userinfo and fragment"
bool eddyi_identifier_is_resource(const char *text);

/* Whether it is one without a query as well: what an issuer is called (RFC 8414 section 2). */
#define EDDYI_ISSUER_EXPECTED "an absolute http or https URL without userinfo, query and fragment"
bool eddyi_identifier_is_issuer(const char *text);

enum eddyi_document {
	EDDYI_DOCUMENT_RESOURCE, /* RFC 9728 */
	EDDYI_DOCUMENT_SERVER,   /* RFC 8414 */
	EDDYI_DOCUMENT_OPENID,   /* OpenID Connect Discovery 1.0 */
};

/* Its path where the identifier has none. */
const char *eddyi_document_path(enum eddyi_document document);

/* The URL of the document about a resource or an issuer that is one: the path above stands between the host and
 * the identifier's own path and query, that of OpenID Connect behind them. A slash is no path of its own, and
 * is dropped; of an issuer also the one that ends its path.
 * Return: a string to be freed; NULL when memory is out. */
char *eddyi_document_url(enum eddyi_document document, const char *identifier);

/* The path of a URL that is a resource's; it ends where the string or a query begins. */
const char *eddyi_identifier_path(const char *url);

#endif
