/* Fuzzes auth/src/identifier.h and what a metadata document may name: the first line is an issuer's URL, the rest is its
 * document. Where documents are said to be is the identifier's own host, and may be asked; so may a jwks_uri. */
#include "identifier.h"
#include "issuer_fetch.h"

#include <eddy/client.h>
#include <eddy/json.h>
#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_url(const char *text)
{
	int r = eddy_client_check_url(text);

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

static void look_at_keys(const char *uri)
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
	struct eddy_str rest = eddy_str((const char *)data, size), line;
	json_t *json = NULL;
	char *identifier;

	if (!eddy_str_split(&rest, '\n', &line) || memchr(line.ptr, 0, line.len))
		return 0;
	identifier = calloc(1, line.len + 1);
	memcpy(identifier, line.ptr, line.len);
	if (eddyi_identifier_is_resource(identifier))
		look_at_documents(identifier);
	else if (eddyi_identifier_is_issuer(identifier))
		abort();
	look_at_keys(identifier);
	free(identifier);
	if (rest.ptr && eddy_json_parse(rest, 16, &json) == 0) {
		const char *uri = json_string_value(json_object_get(json, "jwks_uri"));

		if (uri)
			look_at_keys(uri);
		json_decref(json);
	}
	return 0;
}
