#include "description.h"

#include "identifier.h"

#include <eddy/internal/text.h>
#include <eddy/json.h>
#include <eddy/layer.h>
#include <errno.h>
#include <stdlib.h>

/* Nesting limit of members that the program adds; the same as the configuration file's. */
#define DEPTH_MAX 16

/* The most bytes of a value in a message. */
#define SHOWN_MAX 200

struct eddyi_description_kind {
	const char *name; /* for messages */
	const char *call; /* the call that sets it */
	/* Keys are the document's members; the first is the identifier. */
	struct eddy_config_section section;
};

/* ---- validation of members ---- */

static bool is_text(const char *text)
{
	return *text && eddyi_str_is_utf8(eddy_str_from(text));
}

/* RFC 6749 section 3.3. */
static bool is_scope(const char *text)
{
	for (const char *at = text; *at; at++)
		if (*at < '!' || *at > '~' || *at == '"' || *at == '\\')
			return false;
	return *text != '\0';
}

/* RFC 9728 section 2. */
static bool is_bearer_method(const char *text)
{
	return strcmp(text, "header") == 0 || strcmp(text, "body") == 0 ||
	       strcmp(text, "query") == 0;
}

/* Unlike other URLs, that of a page may have a fragment. */
static bool is_page(const char *text)
{
	size_t len = strcspn(text, "#");
	char *page = strndup(text, len);
	bool is = page && eddyi_identifier_is_resource(page);

	free(page);
	return is;
}

#define RESOURCE(member) EDDY_CONFIG_AT(struct eddy_oauth_resource, member)
#define SERVER(member) EDDY_CONFIG_AT(struct eddy_oauth_server, member)
#define URL .accepts = eddyi_identifier_is_resource, .expected = EDDYI_RESOURCE_EXPECTED
#define ISSUER .accepts = eddyi_identifier_is_issuer, .expected = EDDYI_ISSUER_EXPECTED
#define LIST_OF(what, fn) .accepts = fn, .expected = "an array of " what

/* clang-format off */
static const struct eddy_config_key resource_keys[] = {
	{ "resource", EDDY_CONFIG_STRING, RESOURCE(resource), URL },
	{ "authorization_servers", EDDY_CONFIG_STRINGS, RESOURCE(authorization_servers),
	  LIST_OF("absolute http or https URLs without userinfo, query and fragment",
		  eddyi_identifier_is_issuer) },
	{ "scopes_supported", EDDY_CONFIG_STRINGS, RESOURCE(scopes), LIST_OF("scopes, without blanks", is_scope) },
	{ "bearer_methods_supported", EDDY_CONFIG_STRINGS, RESOURCE(bearer_methods),
	  LIST_OF("\"header\", \"body\", \"query\"", is_bearer_method) },
	{ "resource_name", EDDY_CONFIG_STRING, RESOURCE(name), .accepts = is_text,
	  .expected = "a string that is not empty" },
	{ "resource_documentation", EDDY_CONFIG_STRING, RESOURCE(documentation), .accepts = is_page,
	  .expected = "an absolute http or https URL without userinfo" },
	{ 0 },
};

static const struct eddy_config_key server_keys[] = {
	{ "issuer", EDDY_CONFIG_STRING, SERVER(issuer), ISSUER },
	{ "authorization_endpoint", EDDY_CONFIG_STRING, SERVER(authorization_endpoint), URL },
	{ "token_endpoint", EDDY_CONFIG_STRING, SERVER(token_endpoint), URL },
	{ "jwks_uri", EDDY_CONFIG_STRING, SERVER(jwks_uri), URL },
	{ "scopes_supported", EDDY_CONFIG_STRINGS, SERVER(scopes), LIST_OF("scopes, without blanks", is_scope) },
	{ "response_types_supported", EDDY_CONFIG_STRINGS, SERVER(response_types),
	  LIST_OF("strings that are not empty", is_text) },
	{ "grant_types_supported", EDDY_CONFIG_STRINGS, SERVER(grant_types),
	  LIST_OF("strings that are not empty", is_text) },
	{ 0 },
};
/* clang-format on */

/* ---- from the configuration file ---- */

static int take_extra(void *target, const char *name, json_t *value)
{
	struct eddyi_description *description = target;

	if (!description->extra)
		description->extra = json_object();
	if (!description->extra || json_object_set(description->extra, name, value) < 0)
		return -ENOMEM;
	return 0;
}

static void forget_extra(void *target)
{
	struct eddyi_description *description = target;

	json_decref(description->extra);
	description->extra = NULL;
}

static const char *note_section(void *target)
{
	struct eddyi_description *description = target;

	description->is_wanted = true;
	return NULL;
}

const struct eddyi_description_kind eddyi_description_resource = {
	.name = "OAuth resource metadata",
	.call = "eddy_app_with_oauth_resource_metadata()",
	.section = { "oauth.resource", resource_keys, take_extra, note_section, forget_extra },
};

const struct eddyi_description_kind eddyi_description_server = {
	.name = "OAuth server metadata",
	.call = "eddy_app_with_oauth_server_metadata()",
	.section = { "oauth.server", server_keys, take_extra, note_section, forget_extra },
};

/* ---- from the program ---- */

static const struct eddy_oauth_field *copy_fields(struct eddy_app *app,
						  const struct eddy_oauth_field *fields)
{
	struct eddy_oauth_field *copy;
	size_t count = 0;

	while (fields && fields[count].name)
		count++;
	copy = eddy_app_alloc(app, (count + 1) * sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		copy[i] = (struct eddy_oauth_field){ eddy_app_keep_string(app, fields[i].name),
						     eddy_app_keep_string(app, fields[i].json) };
	return copy;
}

void eddyi_description_set_resource(struct eddyi_description *description, struct eddy_app *app,
				    const struct eddy_oauth_resource *resource)
{
	description->resource = resource ? *resource : (struct eddy_oauth_resource){ 0 };
	eddy_app_keep_strings(app, description->kind->section.keys, description);
	description->resource.more = copy_fields(app, description->resource.more);
}

void eddyi_description_set_server(struct eddyi_description *description, struct eddy_app *app,
				  const struct eddy_oauth_server *server)
{
	static const char *const code[] = { "code", NULL };
	static const char *const authorization_code[] = { "authorization_code", NULL };

	description->server = server ? *server : (struct eddy_oauth_server){ 0 };
	if (!description->server.response_types)
		description->server.response_types = code;
	if (!description->server.grant_types)
		description->server.grant_types = authorization_code;
	eddy_app_keep_strings(app, description->kind->section.keys, description);
	description->server.more = copy_fields(app, description->server.more);
}

void eddyi_description_init(struct eddyi_description *description, struct eddy_app *app,
			    const struct eddyi_description_kind *kind)
{
	*description = (struct eddyi_description){ .kind = kind };
	if (kind == &eddyi_description_server)
		eddyi_description_set_server(description, app, NULL);
	eddy_app_config_section(app, &kind->section, description);
}

void eddyi_description_deinit(struct eddyi_description *description)
{
	json_decref(description->extra);
	free(description->text);
}

const char *eddyi_description_identifier(const struct eddyi_description *description)
{
	return description->kind == &eddyi_description_server ? description->server.issuer :
								description->resource.resource;
}

static const struct eddy_oauth_field *more_of(const struct eddyi_description *description)
{
	return description->kind == &eddyi_description_server ? description->server.more :
								description->resource.more;
}

/* ---- writing ---- */

struct writing {
	const struct eddyi_description *description;
	struct eddy_app *app;
	json_t *json;
	bool is_wrong;
};

static void mistake(struct writing *writing, const char *member, const char *expected,
		    const char *value)
{
	eddy_app_mistake(writing->app, "%s: %s: expected %s, not \"%.*s\"",
			 writing->description->kind->name, member, expected, SHOWN_MAX, value);
	writing->is_wrong = true;
}

/* Set a member. Takes ownership of `value`; NULL means allocation failure. */
static int put(struct writing *writing, const char *name, json_t *value)
{
	return json_object_set_new(writing->json, name, value) < 0 ? -ENOMEM : 0;
}

static int write_string(struct writing *writing, const struct eddy_config_key *key,
			const char *value)
{
	if (key->accepts(value))
		return put(writing, key->name, json_string(value));
	mistake(writing, key->name, key->expected, value);
	return 0;
}

/* Empty lists are left out (RFC 8414 section 3.2, RFC 9728 section 3.2), except an empty
 * bearer_methods_supported, which means that no method is supported (section 2). */
static bool is_said(const struct eddy_config_key *key, const char *const *list)
{
	return *list || key->accepts == is_bearer_method;
}

static int write_list(struct writing *writing, const struct eddy_config_key *key,
		      const char *const *list)
{
	json_t *array = json_array();

	for (const char *const *value = list; *value; value++) {
		if (!key->accepts(*value))
			mistake(writing, key->name, key->expected, *value);
		else if (json_array_append_new(array, json_string(*value)) < 0) {
			json_decref(array);
			return -ENOMEM;
		}
	}
	if (is_said(key, list))
		return put(writing, key->name, array);
	json_decref(array);
	return 0;
}

static int write_member(struct writing *writing, const struct eddy_config_key *key)
{
	const void *member = (const char *)writing->description + key->offset;
	const char *const *list;
	const char *string;

	if (key->type == EDDY_CONFIG_STRING) {
		memcpy(&string, member, sizeof(string));
		return string ? write_string(writing, key, string) : 0;
	}
	memcpy(&list, member, sizeof(list));
	return list ? write_list(writing, key, list) : 0;
}

static bool has_key(const struct eddy_config_key *key, const char *name)
{
	while (key->name && strcmp(key->name, name) != 0)
		key++;
	return key->name;
}

static int write_field(struct writing *writing, const struct eddy_oauth_field *field)
{
	const struct eddyi_description_kind *kind = writing->description->kind;
	json_t *value;
	int r;

	if (!is_text(field->name) || has_key(kind->section.keys, field->name) ||
	    json_object_get(writing->json, field->name)) {
		mistake(writing, "more", "a name that is not used by another member", field->name);
		return 0;
	}
	r = field->json ? eddy_json_parse(eddy_str_from(field->json), DEPTH_MAX, SIZE_MAX, &value) :
			  -EBADMSG;
	if (r == -EBADMSG) {
		mistake(writing, field->name, "JSON", field->json ? field->json : "");
		return 0;
	}
	return r < 0 ? r : put(writing, field->name, value);
}

static int write_all(struct writing *writing)
{
	const struct eddyi_description *description = writing->description;
	const struct eddyi_description_kind *kind = description->kind;
	const struct eddy_oauth_field *field = more_of(description);
	int r = 0;

	if (!eddyi_description_identifier(description)) {
		eddy_app_mistake(
			writing->app,
			"%s: %s is missing: call %s, or add [%s] to the configuration file",
			kind->name, kind->section.keys->name, kind->call, kind->section.name);
		writing->is_wrong = true;
	}
	for (const struct eddy_config_key *key = kind->section.keys; key->name && r == 0; key++)
		r = write_member(writing, key);
	for (; field && field->name && r == 0; field++)
		r = write_field(writing, field);
	if (r == 0 && description->extra && json_object_update(writing->json, description->extra))
		r = -ENOMEM;
	return r;
}

/* json_dumps() of jansson 2.14 would omit names on allocation failure. Return: NULL then. */
static char *dump(const json_t *json)
{
	size_t len = json_dumpb(json, NULL, 0, JSON_COMPACT);
	char *text = len ? malloc(len + 1) : NULL;

	if (!text)
		return NULL;
	text[len] = '\0';
	if (json_dumpb(json, text, len, JSON_COMPACT) == len)
		return text;
	free(text);
	return NULL;
}

int eddyi_description_write(struct eddyi_description *description, struct eddy_app *app)
{
	struct writing writing = { description, app, json_object(), false };
	int r = writing.json ? write_all(&writing) : -ENOMEM;

	free(description->text);
	description->text = NULL;
	if (r == 0 && !writing.is_wrong) {
		description->text = dump(writing.json);
		r = description->text ? 0 : -ENOMEM;
	}
	json_decref(writing.json);
	return r;
}
