#include <eddy/openapi.h>

#include "message/status.h"
#include "schema.h"

#include <eddy/config.h>
#include <eddy/internal/member.h>
#include <eddy/json_text.h>
#include <eddy/req.h>
#include <eddy/res.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct described {
	struct described *next;
	const struct eddy_route *route;
	struct eddy_operation operation;
};

struct openapi {
	struct eddy_app *app;
	struct described *described;
	struct eddy_openapi_options options;
	struct eddy_str text; /* the document */
};

static void init(struct eddy_app *app, void *kept)
{
	((struct openapi *)kept)->app = app;
}

static const struct eddy_layer layer = { "openapi", sizeof(struct openapi), init, NULL };

struct doc {
	const struct openapi *openapi;
	struct eddyi_schemas schemas;
	json_t *paths;
	json_t *security; /* components/securitySchemes */
	json_t *ids;      /* the operations' ids, as an object's members */
};

static void set(struct doc *doc, json_t *object, const char *name, json_t *value)
{
	eddyi_schemas_set(&doc->schemas, object, name, value);
}

static void text(struct doc *doc, json_t *object, const char *name, const char *value)
{
	eddyi_schemas_text(&doc->schemas, object, name, value);
}

/* ---- bodies ---- */

/* Parse an example. Return: NULL after a mistake. */
static json_t *example_of(struct doc *doc, const struct eddy_route *route, const char *example,
			  const char *type)
{
	json_error_t error;
	json_t *json = type ? json_string(example) : json_loads(example, JSON_DECODE_ANY, &error);

	if (!json)
		eddy_app_mistake(doc->openapi->app, "an example of %s is not %s",
				 eddy_route_label(route), type ? "UTF-8" : "JSON");
	return json;
}

/* Make the content of a body: its media type, schema and example. */
static json_t *content(struct doc *doc, const struct eddy_route *route, const char *type,
		       json_t *schema, const char *example, const char *example_type)
{
	json_t *media = json_object(), *all = json_object();

	if (schema)
		set(doc, media, "schema", schema);
	if (example)
		set(doc, media, "example", example_of(doc, route, example, example_type));
	set(doc, all, type, media);
	return all;
}

static json_t *problem_content(void)
{
	return json_pack("{s:{s:{s:s}}}", "application/problem+json", "schema", "$ref",
			 "#/components/schemas/problem");
}

static void *alloc(void *arg, size_t size)
{
	return eddy_app_alloc(arg, size);
}

/* A body's example is read as a handler would read it. */
static void check_example(struct doc *doc, const struct eddy_route *route,
			  const struct eddy_operation *operation)
{
	struct eddy_json_reader reader = { .alloc = alloc, .arg = doc->openapi->app };
	void *target = eddy_app_alloc(doc->openapi->app, operation->body->size);

	if (eddyi_json_text_read(&reader, eddy_str_from(operation->body_example), operation->body,
				 target, NULL) < 0)
		eddy_app_mistake(doc->openapi->app, "the example of the body of %s is wrong: %s",
				 eddy_route_label(route), reader.why);
}

static void set_body(struct doc *doc, json_t *object, const struct eddy_route *route,
		     const struct eddy_operation *operation)
{
	const char *type = operation->body_type;
	json_t *schema = NULL, *body;

	if (operation->form) {
		type = "application/x-www-form-urlencoded";
		schema = eddyi_schema_of(&doc->schemas, operation->form, EDDYI_INPUT);
	} else if (operation->body) {
		type = "application/json";
		schema = eddyi_schema_of(&doc->schemas, operation->body, EDDYI_INPUT);
		if (operation->body_example)
			check_example(doc, route, operation);
	}
	if (!type)
		return;
	body = json_pack("{s:b}", "required", true);
	set(doc, body, "content",
	    content(doc, route, type, schema, operation->body_example, operation->body_type));
	set(doc, object, "requestBody", body);
}

/* ---- responses ---- */

static void set_response(struct doc *doc, json_t *responses, const char *status,
			 const char *description, json_t *its_content)
{
	json_t *response = json_object();

	text(doc, response, "description", description);
	if (its_content)
		set(doc, response, "content", its_content);
	set(doc, responses, status, response);
}

static void set_error(struct doc *doc, json_t *responses, const char *status,
		      const char *description)
{
	if (!json_object_get(responses, status))
		set_response(doc, responses, status, description,
			     doc->openapi->options.other_errors ? NULL : problem_content());
}

static void set_described(struct doc *doc, json_t *responses, const struct eddy_route *route,
			  const struct eddy_operation_response *response)
{
	const char *description = response->description ? response->description : "";
	const char *type = response->type ? response->type : "application/json";
	json_t *schema = NULL;
	char status[16];

	snprintf(status, sizeof(status), "%d", response->status);
	if (response->status >= 400 && !response->shape && !response->type) {
		set_error(doc, responses, status, description);
		return;
	}
	if (response->shape)
		schema = response->is_array ?
				 eddyi_schema_array_of(&doc->schemas, response->shape,
						       EDDYI_OUTPUT) :
				 eddyi_schema_of(&doc->schemas, response->shape, EDDYI_OUTPUT);
	set_response(doc, responses, status, description,
		     response->shape || response->type || response->example ?
			     content(doc, route, type, schema, response->example, response->type) :
			     NULL);
}

static void set_responses(struct doc *doc, json_t *object, const struct eddy_route *route,
			  const struct eddy_operation *operation)
{
	json_t *responses = json_object();
	bool has_success = false;

	for (size_t i = 0; i < EDDY_OPERATION_RESPONSES_MAX && operation->responses[i].status;
	     i++) {
		set_described(doc, responses, route, &operation->responses[i]);
		has_success |= operation->responses[i].status < 400;
	}
	if (!has_success)
		set_response(doc, responses, "200", "success", NULL);
	if (operation->path || operation->query || operation->form || operation->body)
		set_error(doc, responses, "400", eddyi_status_detail(400));
	if (eddy_route_guard(route, 0)) {
		set_error(doc, responses, "401", eddyi_status_detail(401));
		set_error(doc, responses, "403", eddyi_status_detail(403));
	}
	set_error(doc, responses, "default", "an error");
	set(doc, object, "responses", responses);
}

/* ---- parameters ---- */

static const struct eddy_member *find_member(const struct eddy_shape *shape, struct eddy_str name)
{
	for (size_t i = 0; shape && i < shape->count; i++)
		if (eddy_str_eq_z(name, eddyi_member_name(&shape->members[i])))
			return &shape->members[i];
	return NULL;
}

static void add_parameter(struct doc *doc, json_t *parameters, struct eddy_str name, const char *in,
			  const struct eddy_member *member)
{
	bool is_path = strcmp(in, "path") == 0;
	json_t *parameter = json_pack("{s:s%, s:s, s:b}", "name", name.ptr, name.len, "in", in,
				      "required",
				      is_path || eddyi_schema_requires(member, EDDYI_INPUT));

	set(doc, parameter, "schema",
	    member ? eddyi_schema_of_member(&doc->schemas, member, EDDYI_INPUT) :
		     json_pack("{s:s}", "type", "string"));
	eddyi_schemas_append(&doc->schemas, parameters, parameter);
}

static void set_parameters(struct doc *doc, json_t *object, const char *path,
			   const struct eddy_operation *operation)
{
	struct eddy_str rest = eddy_str_from(path), name;
	json_t *parameters = json_array();

	for (;;) {
		eddy_str_split(&rest, '{', &name);
		if (!eddy_str_split(&rest, '}', &name))
			break;
		add_parameter(doc, parameters, name, "path", find_member(operation->path, name));
	}
	for (size_t i = 0; operation->query && i < operation->query->count; i++) {
		const struct eddy_member *member = &operation->query->members[i];

		add_parameter(doc, parameters, eddy_str_from(eddyi_member_name(member)), "query",
			      member);
	}
	if (json_array_size(parameters))
		set(doc, object, "parameters", parameters);
	else
		json_decref(parameters);
}

/* ---- guards ---- */

static void add_scopes(struct doc *doc, json_t *scopes, const char *words)
{
	struct eddy_str rest = eddy_str_from(words), word;

	while (rest.len) {
		eddy_str_split(&rest, ' ', &word);
		if (word.len)
			eddyi_schemas_append(&doc->schemas, scopes,
					     json_stringn(word.ptr, word.len));
	}
}

static void set_scheme(struct doc *doc, const struct eddy_guard *guard)
{
	json_t *definition = json_loads(guard->definition, 0, NULL);

	if (definition)
		set(doc, doc->security, guard->scheme, definition);
	else
		eddy_app_mistake(doc->openapi->app,
				 "the definition of the guard \"%s\" is not a JSON object",
				 guard->scheme);
}

/* All guards of a route must be satisfied. */
static void set_security(struct doc *doc, json_t *object, const struct eddy_route *route)
{
	const struct eddy_guard *guard;
	json_t *all = json_object(), *scopes;

	for (size_t i = 0; (guard = eddy_route_guard(route, i)); i++) {
		if (!json_object_get(doc->security, guard->scheme))
			set_scheme(doc, guard);
		scopes = json_object_get(all, guard->scheme);
		if (!scopes) {
			scopes = json_array();
			set(doc, all, guard->scheme, scopes);
		}
		if (guard->scopes)
			add_scopes(doc, scopes, guard->scopes);
	}
	if (json_object_size(all))
		set(doc, object, "security", json_pack("[o]", all));
	else
		json_decref(all);
}

/* ---- operations ---- */

/* Make an id of the method and the words of the path: "get_notes_id". */
static void make_id(struct doc *doc, const char *method, const char *path, char *id, size_t size)
{
	size_t len = (size_t)snprintf(id, size, "%s", method), end;

	for (; *path && len < size - 16; path++) {
		if (isalnum((unsigned char)*path))
			id[len++] = *path;
		else if (id[len - 1] != '_')
			id[len++] = '_';
	}
	end = id[len - 1] == '_' ? len - 1 : len;
	id[end] = '\0';
	for (unsigned i = 2; json_object_get(doc->ids, id); i++)
		snprintf(id + end, size - end, "_%u", i);
}

static void set_id(struct doc *doc, json_t *object, const char *method, const char *path,
		   const struct eddy_operation *operation)
{
	char made[256];
	const char *id = operation->id ? operation->id : made;

	if (!operation->id)
		make_id(doc, method, path, made, sizeof(made));
	if (json_object_get(doc->ids, id))
		eddy_app_mistake(doc->openapi->app, "two operations have the id \"%s\"", id);
	set(doc, doc->ids, id, json_null());
	text(doc, object, "operationId", id);
}

static json_t *make_operation(struct doc *doc, const struct eddy_route *route, const char *method,
			      const char *path, const struct eddy_operation *operation)
{
	json_t *object = json_object();

	set_id(doc, object, method, path, operation);
	text(doc, object, "summary", operation->summary);
	text(doc, object, "description", operation->description);
	if (operation->tag)
		set(doc, object, "tags", json_pack("[s]", operation->tag));
	if (operation->deprecated)
		set(doc, object, "deprecated", json_true());
	set_parameters(doc, object, path, operation);
	set_body(doc, object, route, operation);
	set_responses(doc, object, route, operation);
	set_security(doc, object, route);
	return object;
}

/* Compare paths regardless of the names of parameters. */
static bool is_same_path(const char *a, const char *b)
{
	while (*a && *a == *b) {
		if (*a == '{') {
			a = strchr(a, '}');
			b = strchr(b, '}');
		}
		a++;
		b++;
	}
	return *a == *b;
}

/* Get the object of a path, which is made for its first route. Return: NULL after a mistake. */
static json_t *path_item(struct doc *doc, const struct eddy_route *route, const char *path)
{
	json_t *item = json_object_get(doc->paths, path), *unused;
	const char *other;

	if (item)
		return item;
	json_object_foreach(doc->paths, other, unused) if (is_same_path(path, other))
	{
		eddy_app_mistake(doc->openapi->app,
				 "%s: OpenAPI needs the same names of parameters as in "
				 "\"%s\", which is mapped as well",
				 eddy_route_label(route), other);
		return NULL;
	}
	set(doc, doc->paths, path, json_object());
	return json_object_get(doc->paths, path);
}

static const struct described *find_described(const struct openapi *openapi,
					      const struct eddy_route *route)
{
	const struct described *described = openapi->described;

	while (described && described->route != route)
		described = described->next;
	return described;
}

/* Get the name of a method in a path's object. Return: NULL if OpenAPI has none. */
static const char *method_name(struct eddy_str method)
{
	static const char *const names[] = { "get",    "head",  "post",    "put", "patch",
					     "delete", "trace", "options", NULL };
	const char *const *name = names;

	while (*name && !eddy_str_eq_nocase(method, eddy_str_from(*name)))
		name++;
	return *name;
}

/* Turn `{name...}` into `{name}`, and drop a trailing slash. */
static const char *path_of(struct doc *doc, struct eddy_str pattern)
{
	char *path = eddy_app_alloc(doc->openapi->app, pattern.len + 2), *rest;

	memcpy(path, pattern.ptr, pattern.len);
	rest = strstr(path, "...}");
	if (rest)
		memcpy(rest, "}", 2);
	else if (pattern.len > 1 && path[pattern.len - 1] == '/')
		path[pattern.len - 1] = '\0';
	return path;
}

static void add_route(struct doc *doc, const struct eddy_route *route)
{
	static const struct eddy_operation plain;
	const struct described *described = find_described(doc->openapi, route);
	struct eddy_str pattern = eddy_str_from(eddy_route_label(route)), method;
	const char *name, *path;
	json_t *item;

	eddy_str_split(&pattern, ' ', &method);
	name = method_name(method);
	path = path_of(doc, pattern);
	if (!name ||
	    (described ? described->operation.hidden : strstr(pattern.ptr, "...}") != NULL))
		return;
	item = path_item(doc, route, path);
	if (item)
		set(doc, item, name,
		    make_operation(doc, route, name, path,
				   described ? &described->operation : &plain));
}

/* ---- the document ---- */

static json_t *info(struct doc *doc)
{
	const struct eddy_openapi_options *options = &doc->openapi->options;
	json_t *object = json_object();

	text(doc, object, "title", options->title ? options->title : program_invocation_short_name);
	text(doc, object, "version", options->version ? options->version : "1");
	text(doc, object, "description", options->description);
	return object;
}

/* The schema of eddy_res_problem() (RFC 9457). */
static json_t *problem_schema(void)
{
	return json_pack("{s:s, s:{s:{s:s}, s:{s:s}, s:{s:s}, s:{s:s}, s:{s:s, s:{s:s, s:{s:{s:s}, "
			 "s:{s:s}}}}}, s:[sss]}",
			 "type", "object", "properties", "type", "type", "string", "title", "type",
			 "string", "status", "type", "integer", "detail", "type", "string",
			 "errors", "type", "array", "items", "type", "object", "properties",
			 "pointer", "type", "string", "detail", "type", "string", "required",
			 "type", "title", "status");
}

static void fill(struct doc *doc, json_t *root, json_t *schemas)
{
	const struct eddy_openapi_options *options = &doc->openapi->options;
	json_t *components = json_object(), *servers = json_array();

	text(doc, root, "openapi", "3.1.0");
	set(doc, root, "info", info(doc));
	for (const char *const *url = options->servers; url && *url; url++)
		eddyi_schemas_append(&doc->schemas, servers, json_pack("{s:s}", "url", *url));
	if (json_array_size(servers))
		set(doc, root, "servers", json_incref(servers));
	json_decref(servers);
	if (!options->other_errors)
		set(doc, schemas, "problem", problem_schema());
	for (struct eddy_route *route = NULL; (route = eddy_route_next(doc->openapi->app, route));)
		add_route(doc, route);
	set(doc, root, "paths", json_incref(doc->paths));
	set(doc, components, "schemas", json_incref(schemas));
	set(doc, components, "securitySchemes", json_incref(doc->security));
	set(doc, root, "components", components);
}

static int generate(struct eddy_app *app, void *data)
{
	struct openapi *openapi = data;
	struct doc doc = {
		.openapi = openapi,
		.schemas = { .app = app, .named = json_object() },
		.paths = json_object(),
		.security = json_object(),
		.ids = json_object(),
	};
	json_t *root = json_object();
	char *made = NULL;

	fill(&doc, root, doc.schemas.named);
	if (!doc.schemas.has_failed)
		made = json_dumps(root, JSON_INDENT(2));
	json_decref(root);
	json_decref(doc.schemas.named);
	json_decref(doc.paths);
	json_decref(doc.security);
	json_decref(doc.ids);
	if (!made)
		return -ENOMEM;
	openapi->text = eddy_str_from(eddy_app_keep_string(app, made));
	free(made);
	return 0;
}

/* Routes may be mapped by functions that were added later: come after them. */
static int generate_last(struct eddy_app *app, void *data)
{
	eddy_app_at_start(app, generate, data);
	return 0;
}

static int send_document(struct eddy_req *req, struct eddy_res *res)
{
	const struct openapi *openapi = eddy_req_route_data(req);

	return eddy_res_bytes(res, "application/json", openapi->text);
}

static const struct eddy_config_key strings[] = {
	{ "title", EDDY_CONFIG_STRING, EDDY_CONFIG_AT(struct eddy_openapi_options, title) },
	{ "version", EDDY_CONFIG_STRING, EDDY_CONFIG_AT(struct eddy_openapi_options, version) },
	{ "description", EDDY_CONFIG_STRING,
	  EDDY_CONFIG_AT(struct eddy_openapi_options, description) },
	{ "servers", EDDY_CONFIG_STRINGS, EDDY_CONFIG_AT(struct eddy_openapi_options, servers) },
	{ "pattern", EDDY_CONFIG_STRING, EDDY_CONFIG_AT(struct eddy_openapi_options, pattern) },
	{ 0 },
};

void eddy_app_use_openapi(struct eddy_app *app, const struct eddy_openapi_options *options)
{
	struct openapi *openapi = eddy_app_layer(app, &layer);
	struct eddy_route *route;

	if (options)
		openapi->options = *options;
	eddy_app_keep_strings(app, strings, &openapi->options);
	route = eddy_app_map_get(
		app, openapi->options.pattern ? openapi->options.pattern : "/openapi.json",
		send_document);
	eddy_route_with(route, &(struct eddy_route_options){ .data = openapi });
	eddy_route_describe(route, &(struct eddy_operation){ .hidden = true });
	eddy_app_at_start(app, generate_last, openapi);
}

/* ---- descriptions ---- */

static const struct eddy_shape *keep_shape(struct eddy_app *app, const struct eddy_shape *shape)
{
	struct eddy_shape *copy;

	if (!shape)
		return NULL;
	copy = eddy_app_alloc(app, sizeof(*copy));
	*copy = *shape;
	return copy;
}

void eddy_route_describe(struct eddy_route *route, const struct eddy_operation *operation)
{
	struct eddy_app *app = eddy_app_of(route);
	struct openapi *openapi = eddy_app_layer(app, &layer);
	struct described *described = eddy_app_alloc(app, sizeof(*described));
	struct eddy_operation *copy = &described->operation;

	*described = (struct described){ openapi->described, route, *operation };
	copy->path = keep_shape(app, copy->path);
	copy->query = keep_shape(app, copy->query);
	copy->form = keep_shape(app, copy->form);
	copy->body = keep_shape(app, copy->body);
	for (size_t i = 0; i < EDDY_OPERATION_RESPONSES_MAX; i++)
		copy->responses[i].shape = keep_shape(app, copy->responses[i].shape);
	openapi->described = described;
}
