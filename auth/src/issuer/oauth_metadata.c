/* The metadata documents of an app: descriptions from the program and the file, their text, and routes. */
#include "oauth_metadata.h"

#include "identifier.h"

#include <eddy/config.h>
#include <eddy/internal/text.h>
#include <eddy/json.h>
#include <eddy/layer.h>
#include <eddy/oauth_metadata.h>
#include <eddy/req.h>
#include <eddy/res.h>
#include <errno.h>
#include <stdlib.h>

/* Nesting limit of members that the program adds; the same as the configuration file's. */
#define DEPTH_MAX 16

/* The most bytes of a value in a message. */
#define SHOWN_MAX 200

struct description_kind {
	const char *name; /* for messages */
	const char *call; /* the call that sets it */
	/* Keys are the document's members; the first is the identifier. */
	struct eddy_config_section section;
};

/* Invariant: the configuration file sets fields at the beginning of the structure. */
struct description {
	union {
		struct eddy_oauth_resource resource;
		struct eddy_oauth_server server;
	};
	const struct description_kind *kind;
	json_t *extra;  /* members of the file without a key; NULL: none */
	bool is_wanted; /* the program or the file has described it */
	char *text;     /* the document; NULL before the app starts, and if it is invalid */
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
	struct description *description = target;

	if (!description->extra)
		description->extra = json_object();
	if (!description->extra || json_object_set(description->extra, name, value) < 0)
		return -ENOMEM;
	return 0;
}

static void forget_extra(void *target)
{
	struct description *description = target;

	json_decref(description->extra);
	description->extra = NULL;
}

static const char *note_section(void *target)
{
	struct description *description = target;

	description->is_wanted = true;
	return NULL;
}

static const struct description_kind resource_kind = {
	.name = "OAuth resource metadata",
	.call = "eddy_app_with_oauth_resource_metadata()",
	.section = { "oauth.resource", resource_keys, take_extra, note_section, forget_extra },
};

static const struct description_kind server_kind = {
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

/* Copies the options; NULL is none. */
static void set_resource(struct description *description, struct eddy_app *app,
			 const struct eddy_oauth_resource *resource)
{
	description->resource = resource ? *resource : (struct eddy_oauth_resource){ 0 };
	eddy_app_keep_strings(app, description->kind->section.keys, description);
	description->resource.more = copy_fields(app, description->resource.more);
}

static void set_server(struct description *description, struct eddy_app *app,
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

/* Initialize an empty description, and register its section with the app. */
static void description_init(struct description *description, struct eddy_app *app,
			     const struct description_kind *kind)
{
	*description = (struct description){ .kind = kind };
	if (kind == &server_kind)
		set_server(description, app, NULL);
	eddy_app_config_section(app, &kind->section, description);
}

static void description_deinit(struct description *description)
{
	json_decref(description->extra);
	free(description->text);
}

/* Return: NULL if there is none. */
static const char *identifier_of(const struct description *description)
{
	return description->kind == &server_kind ? description->server.issuer :
						   description->resource.resource;
}

static const struct eddy_oauth_field *more_of(const struct description *description)
{
	return description->kind == &server_kind ? description->server.more :
						   description->resource.more;
}

/* ---- writing ---- */

struct writing {
	const struct description *description;
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
	const struct description_kind *kind = writing->description->kind;
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
	const struct description *description = writing->description;
	const struct description_kind *kind = description->kind;
	const struct eddy_oauth_field *field = more_of(description);
	int r = 0;

	if (!identifier_of(description)) {
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

/* Make the document; invalid members are mistakes of the app. Return: 0, -ENOMEM. */
static int description_write(struct description *description, struct eddy_app *app)
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

/* ---- routes ---- */

#define DOCUMENTS (EDDYI_DOCUMENT_OPENID + 1)

/* The route of a document. Routes stay: one for the path of an earlier identifier answers 404. */
struct place {
	struct place *next;
	const struct description *description;
	enum eddyi_document document;
	const char *path;
	bool is_current;
};

struct metadata {
	struct description resource;
	struct description server;
	bool uses[DOCUMENTS];
	struct place *places;
	char *resource_url; /* URL of the resource's document; NULL: no resource is described */
};

static struct description *description_of(struct metadata *metadata, enum eddyi_document document)
{
	return document == EDDYI_DOCUMENT_RESOURCE ? &metadata->resource : &metadata->server;
}

static int serve(struct eddy_req *req, struct eddy_res *res)
{
	const struct place *place = eddy_req_route_data(req);
	int r;

	if (!place->is_current)
		return -ENOENT;
	r = eddy_res_set_z(res, "cache-control", "public, max-age=3600");
	/* Pages of other origins may read it. */
	if (r == 0)
		r = eddy_res_set_z(res, "access-control-allow-origin", "*");
	return r < 0 ? r :
		       eddy_res_bytes(res, "application/json",
				      eddy_str_from(place->description->text));
}

/* Compare as the router does: without a slash at the end. */
static bool is_same_path(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);

	a_len -= a[a_len - 1] == '/';
	b_len -= b[b_len - 1] == '/';
	return a_len == b_len && memcmp(a, b, a_len) == 0;
}

static void serve_at(struct eddy_app *app, struct metadata *metadata, enum eddyi_document document,
		     const char *path)
{
	struct place *place = metadata->places;

	while (place && (place->document != document || !is_same_path(place->path, path)))
		place = place->next;
	if (!place) {
		place = eddy_app_alloc(app, sizeof(*place));
		*place = (struct place){
			.next = metadata->places,
			.description = description_of(metadata, document),
			.document = document,
			.path = eddy_app_keep_string(app, path),
		};
		metadata->places = place;
		eddy_route_with(eddy_app_map_get(app, path, serve),
				&(struct eddy_route_options){ .data = place });
	}
	place->is_current = true;
}

/* Serve a document at the path of its identifier. Return: 0, -ENOMEM. */
static int serve_at_own(struct eddy_app *app, struct metadata *metadata,
			enum eddyi_document document)
{
	struct description *description = description_of(metadata, document);
	char *url = eddyi_document_url(document, identifier_of(description));
	char *path;

	if (!url)
		return -ENOMEM;
	path = (char *)eddyi_identifier_path(url);
	path[strcspn(path, "?")] = '\0';
	if (!is_same_path(path, eddyi_document_path(document)))
		serve_at(app, metadata, document, path);
	free(url);
	return 0;
}

static int make_all(struct eddy_app *app, struct metadata *metadata)
{
	int r = 0;

	if (metadata->resource.is_wanted)
		r = description_write(&metadata->resource, app);
	if (r == 0 && metadata->server.is_wanted)
		r = description_write(&metadata->server, app);
	if (r < 0 || !metadata->resource.text)
		return r;
	free(metadata->resource_url);
	metadata->resource_url =
		eddyi_document_url(EDDYI_DOCUMENT_RESOURCE, metadata->resource.resource.resource);
	return metadata->resource_url ? 0 : -ENOMEM;
}

/* Disable the routes for paths of identifiers. */
static void leave_own(struct metadata *metadata)
{
	for (struct place *place = metadata->places; place; place = place->next)
		place->is_current = strcmp(place->path, eddyi_document_path(place->document)) == 0;
}

static int start(struct eddy_app *app, void *data)
{
	struct metadata *metadata = data;
	int r = make_all(app, metadata);

	leave_own(metadata);
	for (enum eddyi_document i = 0; i < DOCUMENTS && r == 0; i++)
		if (metadata->uses[i] && description_of(metadata, i)->text)
			r = serve_at_own(app, metadata, i);
	return r;
}

/* ---- state of the app ---- */

static void deinit(void *kept)
{
	struct metadata *metadata = kept;

	description_deinit(&metadata->resource);
	description_deinit(&metadata->server);
	free(metadata->resource_url);
}

static const struct eddy_layer layer = { "metadata", sizeof(struct metadata), NULL, deinit };

/* Get the app's metadata to change it; changes apply from the next start on. */
static struct metadata *touch(struct eddy_app *app, const struct description_kind *kind)
{
	struct metadata *metadata = eddy_app_layer(app, &layer);
	struct description *description = kind == &server_kind ? &metadata->server :
								 &metadata->resource;

	if (!description->kind)
		description_init(description, app, kind);
	eddy_app_at_start(app, start, metadata);
	return metadata;
}

const char *eddyi_oauth_metadata_resource_url(const struct eddy_app *app)
{
	const struct metadata *metadata = eddy_app_find_layer(app, &layer);

	return metadata ? metadata->resource_url : NULL;
}

bool eddyi_oauth_metadata_is_asked(const struct eddy_app *app, const struct eddy_req *req)
{
	const struct metadata *metadata = eddy_app_find_layer(app, &layer);
	const struct place *place = metadata ? metadata->places : NULL;

	while (place && place != eddy_req_route_data(req))
		place = place->next;
	return place;
}

/* ---- public functions ---- */

void eddy_app_with_oauth_resource_metadata(struct eddy_app *app,
					   const struct eddy_oauth_resource *resource)
{
	struct metadata *metadata = touch(app, &resource_kind);

	set_resource(&metadata->resource, app, resource);
	metadata->resource.is_wanted = true;
}

void eddy_app_set_oauth_resource_metadata(struct eddy_app *app, const char *resource)
{
	eddy_app_with_oauth_resource_metadata(
		app, &(struct eddy_oauth_resource){ .resource = resource });
}

void eddy_app_with_oauth_server_metadata(struct eddy_app *app,
					 const struct eddy_oauth_server *server)
{
	struct metadata *metadata = touch(app, &server_kind);

	set_server(&metadata->server, app, server);
	metadata->server.is_wanted = true;
}

void eddy_app_set_oauth_server_metadata(struct eddy_app *app, const char *issuer)
{
	eddy_app_with_oauth_server_metadata(app, &(struct eddy_oauth_server){ .issuer = issuer });
}

static void use(struct eddy_app *app, enum eddyi_document document)
{
	struct metadata *metadata =
		touch(app, document == EDDYI_DOCUMENT_RESOURCE ? &resource_kind : &server_kind);
	struct description *description = description_of(metadata, document);

	metadata->uses[document] = true;
	description->is_wanted = true;
	serve_at(app, metadata, document, eddyi_document_path(document));
}

void eddy_app_use_oauth_resource_metadata(struct eddy_app *app)
{
	use(app, EDDYI_DOCUMENT_RESOURCE);
}

void eddy_app_use_oauth_server_metadata(struct eddy_app *app)
{
	use(app, EDDYI_DOCUMENT_SERVER);
}

void eddy_app_use_oidc_metadata(struct eddy_app *app)
{
	use(app, EDDYI_DOCUMENT_OPENID);
}

void eddyi_oauth_metadata_config(struct eddy_app *app)
{
	touch(app, &resource_kind);
	touch(app, &server_kind);
}
