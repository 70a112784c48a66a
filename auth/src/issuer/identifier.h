/* identifier.h: URLs of issuers and resources, and of the metadata documents about them. */
#ifndef EDDYI_IDENTIFIER_H
#define EDDYI_IDENTIFIER_H

#include <stdbool.h>

/* Whether a text is an absolute http or https URL without userinfo and fragment, as identifiers of
 * resources (RFC 9728 section 1.2) and endpoints are. */
#define EDDYI_RESOURCE_EXPECTED "an absolute http or https URL without userinfo and fragment"
bool eddyi_identifier_is_resource(const char *text);

/* Whether it also has no query, as identifiers of issuers (RFC 8414 section 2). */
#define EDDYI_ISSUER_EXPECTED "an absolute http or https URL without userinfo, query and fragment"
bool eddyi_identifier_is_issuer(const char *text);

enum eddyi_document {
	EDDYI_DOCUMENT_RESOURCE, /* RFC 9728 */
	EDDYI_DOCUMENT_SERVER,   /* RFC 8414 */
	EDDYI_DOCUMENT_OPENID,   /* OpenID Connect Discovery 1.0 */
};

/* The path of a document whose identifier has no path. */
const char *eddyi_document_path(enum eddyi_document document);

/* Make the URL of the document about a valid identifier: the path above is inserted between its
 * host and its path and query; for OpenID Connect it is appended. A path of "/" is dropped, for
 * issuers also a slash at the end. Return: a string to be freed; NULL on allocation failure. */
char *eddyi_document_url(enum eddyi_document document, const char *identifier);

/* Get the path of a valid URL; it may be empty, and a query may follow. */
const char *eddyi_identifier_path(const char *url);

#endif
