/* Tests of eddy/openapi.h. */
#include "said.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/openapi.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <errno.h>
#include <jansson.h>

struct note {
	int64_t id;
	struct eddy_str title;
	bool done;
};

static const struct eddy_member note_members[] = {
	EDDY_MEMBER(struct note, id),
	EDDY_MEMBER(struct note, title, .range = { 1, 100 }),
	EDDY_MEMBER(struct note, done),
};

static const struct eddy_member new_note_members[] = {
	EDDY_MEMBER(struct note, title, .range = { 1, 100 }),
	EDDY_MEMBER(struct note, done, .otherwise = "false", .strict = true),
};

static const struct eddy_member key_members[] = {
	EDDY_MEMBER(struct note, id, .range = { 1, 999 }),
};

struct search {
	struct eddy_str text;
	unsigned page;
};

static const struct eddy_member search_members[] = {
	EDDY_MEMBER(struct search, text, .as = "q", .optional = true),
	EDDY_MEMBER(struct search, page, .range = { 1, 9 }, .otherwise = "1"),
};

static int handle(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "ok");
}

static int pass(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	return eddy_next(next, req, res);
}

/* Get the app's document. */
static json_t *document(struct eddy_app *app, const char *line)
{
	struct eddy_response *response;
	struct eddy_str body;
	json_t *json;

	cr_assert(eq(int, eddy_app_test(app, line, NULL, &response), 0));
	cr_expect(eq(int, eddy_response_status(response), 200));
	cr_assert(eq(int, eddy_response_body(response, &body), 0));
	json = json_loadb(body.ptr, body.len, 0, NULL);
	cr_assert(ne(ptr, json, NULL));
	eddy_response_free(response);
	return json;
}

/* Compare the part at `keys`, separated by blanks, with a JSON text, which may have ' for ". */
static void expect(const json_t *doc, const char *keys, const char *text)
{
	struct eddy_str rest = eddy_str_from(keys), piece;
	char want[1024], key[128];
	json_t *wanted;
	size_t i = 0;

	while (eddy_str_split(&rest, ' ', &piece)) {
		snprintf(key, sizeof(key), "%.*s", EDDY_FMT(piece));
		doc = json_object_get(doc, key);
	}
	for (; text[i]; i++)
		want[i] = text[i] == '\'' ? '"' : text[i];
	want[i] = '\0';
	wanted = json_loads(want, JSON_DECODE_ANY, NULL);
	cr_assert(ne(ptr, wanted, NULL), "%s", text);
	if (!json_equal(doc, wanted)) {
		char *got = json_dumps(doc, JSON_DECODE_ANY | JSON_ENCODE_ANY);

		cr_expect(false, "%s is %s, not %s", keys, got ? got : "missing", want);
		free(got);
	}
	json_decref(wanted);
}

/* Get the errors that an app does not start with. */
static const char *mistakes_of(struct eddy_app *app)
{
	struct eddy_response *response;

	said_begin();
	cr_expect(eq(int, eddy_app_test(app, "GET /openapi.json", NULL, &response), -EINVAL));
	eddy_app_free(app);
	return said_end();
}

#define PROBLEM "{'application/problem+json': {'schema': {'$ref': '#/components/schemas/problem'}}}"

static const struct eddy_operation add = {
	.summary = "Add a note",
	.description = "Nothing *else*.",
	.tag = "notes",
	.query = EDDY_SHAPE(struct search, search_members),
	.body = EDDY_SHAPE(struct note, new_note_members),
	.body_example = "{\"title\":\"milk\"}",
	.responses = {
		{ 201, "the note", .shape = EDDY_SHAPE(struct note, note_members) },
		{ 409, .description = "taken" },
	},
};

static const struct eddy_operation change = {
	.id = "change",
	.path = EDDY_SHAPE(struct note, key_members),
	.body_type = "text/plain",
	.responses = { { 200, "all", .shape = EDDY_SHAPE(struct note, note_members),
			 .is_array = true },
		       { 204, .description = "none" } },
	.deprecated = true,
};

Test(openapi, operations)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *api = eddy_app_group(app, "/api");
	json_t *doc;

	eddy_app_use_openapi(app, &(struct eddy_openapi_options){
					  .title = "Notes",
					  .version = "2",
					  .servers = EDDY_LIST("https://a.example"),
				  });
	eddy_route_describe(eddy_app_map_post(api, "/notes/", handle), &add);
	eddy_route_describe(eddy_app_map_put(api, "/notes/{id}", handle), &change);
	eddy_app_map_get(api, "/notes/{id}", handle);
	eddy_app_map_get(api, "/notes/{id}/files/{path...}", handle);
	eddy_app_map_connect(api, "/notes", handle);
	doc = document(app, "GET /openapi.json");
	expect(doc, "openapi", "'3.1.0'");
	expect(doc, "info", "{'title': 'Notes', 'version': '2'}");
	expect(doc, "servers", "[{'url': 'https://a.example'}]");
	cr_expect(eq(sz, json_object_size(json_object_get(doc, "paths")), 2));
	expect(doc, "paths /api/notes post operationId", "'post_api_notes'");
	expect(doc, "paths /api/notes post summary", "'Add a note'");
	expect(doc, "paths /api/notes post description", "'Nothing *else*.'");
	expect(doc, "paths /api/notes post tags", "['notes']");
	expect(doc, "paths /api/notes post parameters",
	       "[{'name': 'q', 'in': 'query', 'required': false, 'schema': {'type': 'string'}},"
	       " {'name': 'page', 'in': 'query', 'required': false, 'schema': {'type': 'integer',"
	       "  'minimum': 1, 'maximum': 9, 'default': 1}}]");
	expect(doc, "paths /api/notes post requestBody",
	       "{'required': true, 'content': {'application/json': {"
	       " 'schema': {'$ref': '#/components/schemas/new_note'},"
	       " 'example': {'title': 'milk'}}}}");
	expect(doc, "paths /api/notes post responses",
	       "{'201': {'description': 'the note', 'content': {'application/json': {"
	       "  'schema': {'$ref': '#/components/schemas/note'}}}},"
	       " '409': {'description': 'taken', 'content': " PROBLEM "},"
	       " '400': {'description': 'the request is invalid', 'content': " PROBLEM "},"
	       " 'default': {'description': 'an error', 'content': " PROBLEM "}}");
	expect(doc, "paths /api/notes/{id} put operationId", "'change'");
	expect(doc, "paths /api/notes/{id} put deprecated", "true");
	expect(doc, "paths /api/notes/{id} put parameters",
	       "[{'name': 'id', 'in': 'path', 'required': true, 'schema': {'type': 'integer',"
	       "  'format': 'int64', 'minimum': 1, 'maximum': 999}}]");
	expect(doc, "paths /api/notes/{id} put requestBody",
	       "{'required': true, 'content': {'text/plain': {}}}");
	expect(doc, "paths /api/notes/{id} put responses 200 content application/json schema",
	       "{'type': 'array', 'items': {'$ref': '#/components/schemas/note'}}");
	expect(doc, "paths /api/notes/{id} put responses 204", "{'description': 'none'}");
	expect(doc, "paths /api/notes/{id} get",
	       "{'operationId': 'get_api_notes_id',"
	       " 'parameters': [{'name': 'id', 'in': 'path', 'required': true,"
	       "  'schema': {'type': 'string'}}],"
	       " 'responses': {'200': {'description': 'success'},"
	       "  'default': {'description': 'an error', 'content': " PROBLEM "}}}");
	expect(doc, "components schemas new_note",
	       "{'type': 'object', 'properties': {"
	       "  'title': {'type': 'string', 'minLength': 1, 'maxLength': 100},"
	       "  'done': {'type': 'boolean', 'default': false}},"
	       " 'required': ['title'], 'additionalProperties': false}");
	json_decref(doc);
	eddy_app_free(app);
}

Test(openapi, guards)
{
	static const struct eddy_guard key = {
		.scheme = "key",
		.definition = "{\"type\":\"apiKey\",\"in\":\"header\",\"name\":\"x-key\"}",
	};
	static const struct eddy_guard read = { "token",
						"{\"type\":\"http\",\"scheme\":\"bearer\"}",
						"notes:read  all" };
	static const struct eddy_guard write = { "token", "{}", "notes:write" };
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *api = eddy_app_group(app, "/api");
	struct eddy_route *put = eddy_app_map_put(api, "/x", handle);
	json_t *doc;

	eddy_app_use_openapi(app, &(struct eddy_openapi_options){ .pattern = "/api.json",
								  .other_errors = true });
	eddy_app_map_get(app, "/open", handle);
	eddy_app_map_get(api, "/x", handle);
	eddy_app_add_filter(put, pass, NULL);
	eddy_app_add_guard(api, pass, NULL, &key);
	eddy_app_add_guard(put, pass, NULL, &read);
	eddy_app_add_guard(put, pass, NULL, &write);
	doc = document(app, "GET /api.json");
	expect(doc, "paths /open get responses",
	       "{'200': {'description': 'success'}, 'default': {'description': 'an error'}}");
	expect(doc, "paths /api/x get security", "[{'key': []}]");
	expect(doc, "paths /api/x put security",
	       "[{'key': [], 'token': ['notes:read', 'all', 'notes:write']}]");
	expect(doc, "paths /api/x get responses 401",
	       "{'description': 'authentication is required'}");
	expect(doc, "paths /api/x get responses 403", "{'description': 'this is not allowed'}");
	expect(doc, "components securitySchemes",
	       "{'key': {'type': 'apiKey', 'in': 'header', 'name': 'x-key'},"
	       " 'token': {'type': 'http', 'scheme': 'bearer'}}");
	json_decref(doc);
	eddy_app_free(app);
}

static int map_more(struct eddy_app *app, void *data)
{
	(void)data;
	eddy_app_map_get(app, "/more", handle);
	return 0;
}

/* The description of a function that has returned. */
static void describe(struct eddy_route *route)
{
	const struct eddy_shape shape = { key_members, 1, sizeof(struct note), "key" };

	eddy_route_describe(route, &(struct eddy_operation){ .path = &shape, .query = &shape });
}

Test(openapi, routes_of_the_start)
{
	struct eddy_app *app = eddy_app_new();
	json_t *doc;

	eddy_app_use_openapi(app, NULL);
	eddy_app_at_start(app, map_more, NULL);
	describe(eddy_app_map_get(app, "/a/{id...}", handle));
	eddy_app_map_get(app, "/a_id", handle);
	doc = document(app, "GET /openapi.json");
	expect(doc, "paths /more get operationId", "'get_more'");
	expect(doc, "paths /a/{id} get operationId", "'get_a_id'");
	expect(doc, "paths /a_id get operationId", "'get_a_id_2'");
	expect(doc, "info version", "'1'");
	json_decref(doc);
	eddy_app_free(app);
}

Test(openapi, mistakes)
{
	struct eddy_app *app = eddy_app_new();
	const char *why;

	eddy_app_use_openapi(app, NULL);
	eddy_app_map_get(app, "/a/{id}/b", handle);
	eddy_app_map_put(app, "/a/{name}/b", handle);
	eddy_app_add_guard(app, pass, NULL, &(struct eddy_guard){ "key", "{", NULL });
	why = mistakes_of(app);
	cr_expect(ne(ptr, strstr(why, "the definition of the guard \"key\" is not a JSON object"),
		     NULL),
		  "%s", why);
	cr_expect(ne(ptr,
		     strstr(why, "PUT /a/{name}/b: OpenAPI needs the same names of parameters "
				 "as in \"/a/{id}/b\""),
		     NULL),
		  "%s", why);

	app = eddy_app_new();
	eddy_app_use_openapi(app, NULL);
	eddy_route_describe(eddy_app_map_post(app, "/x", handle),
			    &(struct eddy_operation){
				    .id = "x",
				    .body = EDDY_SHAPE(struct note, new_note_members),
				    .body_example = "{\"title\":\"\"}",
				    .summary = "\xff",
			    });
	eddy_route_describe(eddy_app_map_put(app, "/x", handle),
			    &(struct eddy_operation){
				    .id = "x",
				    .responses = { { 200, "", .example = "{" } },
			    });
	why = mistakes_of(app);
	cr_expect(ne(ptr, strstr(why, "the example of the body of POST /x is wrong: "), NULL), "%s",
		  why);
	cr_expect(ne(ptr, strstr(why, "an example of PUT /x is not JSON"), NULL), "%s", why);
	cr_expect(ne(ptr, strstr(why, "two operations have the id \"x\""), NULL), "%s", why);
	cr_expect(ne(ptr, strstr(why, "of an operation is not UTF-8"), NULL), "%s", why);
}
