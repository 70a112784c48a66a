/* Fuzzes auth/src/issuer/issuer_metadata.h: a document of the issuer "https://i". One that is taken is an object of that issuer,
 * and what it names may be asked; one that is not has a fault, which is short and one string. */
#include "issuer/issuer_metadata.h"

#include <eddy/json.h>
#include <errno.h>
#include <stdlib.h>

#define ISSUER "https://i"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has(const json_t *json, const char *name, const char *text)
{
	const char *value = json_string_value(json_object_get(json, name));

	return value && strcmp(value, text) == 0;
}

static void look_at_good(const struct eddyi_issuer_metadata *metadata)
{
	json_t *json = NULL;

	if (metadata->fault || !metadata->jwks_uri ||
	    eddyi_issuer_url_fault(metadata->jwks_uri, metadata->allow_http) ||
	    strncasecmp(metadata->jwks_uri, "http", 4) != 0 ||
	    (!metadata->allow_http && strncasecmp(metadata->jwks_uri, "https://", 8) != 0) ||
	    memchr(metadata->text.ptr, 0, metadata->text.len))
		abort();
	json = json_loadb(metadata->text.ptr, metadata->text.len, 0, NULL);
	if (!has(json, "issuer", ISSUER) || !has(json, "jwks_uri", metadata->jwks_uri))
		abort();
	json_decref(json);
}

static int look_at(struct eddy_str text, bool allow_http)
{
	struct eddyi_issuer_metadata metadata = {
		.issuer = ISSUER,
		.allow_http = allow_http,
		.text = text,
	};
	int r = eddyi_issuer_metadata_read(&metadata);

	if (r == 0)
		look_at_good(&metadata);
	else if (r != -EBADMSG || !metadata.fault || metadata.jwks_uri ||
		 strnlen(metadata.shown, sizeof(metadata.shown)) > EDDYI_ISSUER_SHOWN_MAX)
		abort();
	free(metadata.jwks_uri);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* No more memory than that: who reads beyond it is seen. */
	char *copy = malloc(size ? size : 1);
	struct eddy_str text = eddy_str(memcpy(copy, data, size), size);

	/* Who may use https alone takes less, and nothing else. */
	if (look_at(text, false) == 0 && look_at(text, true) < 0)
		abort();
	look_at(text, true);
	free(copy);
	return 0;
}
