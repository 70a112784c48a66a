/* Fuzzes auth/src/issuer/identifier.h, and which URLs of an issuer may be asked. Where documents are said to be is the
 * identifier's own host, and may be asked. */
#include "issuer/identifier.h"

#include "issuer/issuer_metadata.h"

#include <eddy/internal/http.h>
#include <eddy/client.h>
#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_url(const char *text)
{
	int r = eddyi_client_check_url(text);

	return r == 0 || r == -EPROTONOSUPPORT;
}

static void look_at_documents(const char *identifier)
{
	size_t origin = (size_t)(eddyi_identifier_path(identifier) - identifier);

	if (origin < strlen("http://x") || strpbrk(identifier, "#\r\n "))
		abort();
	for (int i = EDDYI_DOCUMENT_RESOURCE; i <= EDDYI_DOCUMENT_OPENID; i++) {
		char *url = eddyi_document_url((enum eddyi_document)i, identifier);

		if (!url || strncmp(url, identifier, origin) != 0 || url[origin] != '/' ||
		    !is_url(url) || !strstr(url, eddyi_document_path((enum eddyi_document)i)))
			abort();
		free(url);
	}
}

static void look_at_url(const char *uri)
{
	const char *fault = eddyi_issuer_url_fault(uri, false);

	if (!fault && strncasecmp(uri, "https://", 8) != 0)
		abort();
	if (!fault && (!is_url(uri) || eddyi_issuer_url_fault(uri, true)))
		abort();
	if (!eddyi_issuer_url_fault(uri, true) && strncasecmp(uri, "http", 4) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *identifier;

	if (memchr(data, 0, size))
		return 0;
	identifier = calloc(1, size + 1);
	memcpy(identifier, data, size);
	if (eddyi_identifier_is_resource(identifier))
		look_at_documents(identifier);
	else if (eddyi_identifier_is_issuer(identifier))
		abort();
	look_at_url(identifier);
	free(identifier);
	return 0;
}
