#include "issuer_metadata.h"

#include "jwt/json.h"

#include <eddy/internal/http.h>
#include <eddy/client.h>
#include <errno.h>

const char *eddyi_issuer_url_fault(const char *url, bool allow_http)
{
	int r = eddyi_client_check_url(url);
	bool is_https = strncasecmp(url, "https:", 6) == 0;

	if (r == -EPROTONOSUPPORT && is_https)
		return "eddy is built without TLS";
	if (r < 0)
		return "it is not an absolute http or https URL without userinfo";
	return is_https || allow_http ?
		       NULL :
		       "only https is allowed; allow_http or require_https = false allows http for "
		       "development";
}

static int blame(struct eddyi_issuer_metadata *metadata, struct eddy_str shown, const char *fault)
{
	size_t len = shown.len < EDDYI_ISSUER_SHOWN_MAX ? shown.len : EDDYI_ISSUER_SHOWN_MAX;

	metadata->fault = fault;
	if (shown.ptr)
		memcpy(metadata->shown, shown.ptr, len);
	metadata->shown[len] = '\0';
	return -EBADMSG;
}

/* Return: .ptr NULL if it is no string. Parsed strings have no NUL inside. */
static struct eddy_str text_of(const json_t *json, const char *name)
{
	return eddy_str_from(json_string_value(json_object_get(json, name)));
}

static int take(struct eddyi_issuer_metadata *metadata, const json_t *json)
{
	struct eddy_str name = text_of(json, "issuer");
	struct eddy_str uri = text_of(json, "jwks_uri");

	if (!eddy_str_eq_z(name, metadata->issuer))
		return blame(
			metadata, name,
			"is the metadata of another issuer; configure the one that tokens have in "
			"iss:");
	if (!uri.ptr)
		return blame(metadata, uri, "has no jwks_uri");
	metadata->reason = eddyi_issuer_url_fault(uri.ptr, metadata->allow_http);
	if (metadata->reason)
		return blame(metadata, uri, "has a jwks_uri that can't be used:");
	metadata->jwks_uri = strdup(uri.ptr);
	return metadata->jwks_uri ? 0 : -ENOMEM;
}

int eddyi_issuer_metadata_read(struct eddyi_issuer_metadata *metadata)
{
	json_t *json = NULL;
	int r = eddyi_auth_json_parse(metadata->text, &json);

	if (r == -ENOMEM)
		return r;
	if (r == 0)
		r = take(metadata, json);
	else
		r = blame(metadata, EDDY_STR(""), "is not a JSON metadata document");
	json_decref(json);
	return r;
}
