#include "identifier.h"

#include <eddy/internal/http.h>
#include <eddy/client.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_https(const char *text)
{
	return eddy_str_eq_nocase(eddy_str(text, strnlen(text, 8)), EDDY_STR("https://"));
}

bool eddyi_identifier_is_resource(const char *text)
{
	int r = eddyi_client_check_url(text);

	/* Clients can use the URL even if eddy is built without TLS. */
	if (r == -EPROTONOSUPPORT && is_https(text))
		r = 0;
	return r == 0 && !strchr(text, '#');
}

bool eddyi_identifier_is_issuer(const char *text)
{
	return eddyi_identifier_is_resource(text) && !strchr(text, '?');
}

const char *eddyi_identifier_path(const char *url)
{
	const char *host = strstr(url, "://") + 3;

	return host + strcspn(host, "/?");
}

const char *eddyi_document_path(enum eddyi_document document)
{
	static const char *const paths[] = {
		[EDDYI_DOCUMENT_RESOURCE] = "/.well-known/oauth-protected-resource",
		[EDDYI_DOCUMENT_SERVER] = "/.well-known/oauth-authorization-server",
		[EDDYI_DOCUMENT_OPENID] = "/.well-known/openid-configuration",
	};

	return paths[document];
}

char *eddyi_document_url(enum eddyi_document document, const char *identifier)
{
	const char *well_known = eddyi_document_path(document);
	const char *path = eddyi_identifier_path(identifier), *rest;
	int origin_len = (int)(path - identifier), path_len = (int)strcspn(path, "?");
	size_t size = strlen(identifier) + strlen(well_known) + 1;
	char *url = malloc(size);

	if (!url)
		return NULL;
	rest = path + path_len;
	/* RFC 9728 section 3.1 drops a slash only if it is the path, the others also at its end. */
	if (path_len && path[path_len - 1] == '/' &&
	    (path_len == 1 || document != EDDYI_DOCUMENT_RESOURCE))
		path_len--;
	if (document == EDDYI_DOCUMENT_OPENID)
		snprintf(url, size, "%.*s%.*s%s", origin_len, identifier, path_len, path,
			 well_known);
	else
		snprintf(url, size, "%.*s%s%.*s%s", origin_len, identifier, well_known, path_len,
			 path, rest);
	return url;
}
