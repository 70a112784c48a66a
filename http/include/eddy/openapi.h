/* eddy/openapi.h: an OpenAPI 3.1 document of an app, made of its routes, tables of members
 * (eddy/member.h) and guards (eddy/filter.h).
 *
 *     static const struct eddy_operation add = {
 *             .summary = "Add a note",
 *             .body = EDDY_SHAPE(struct note, note_members),
 *             .body_example = "{\"title\": \"milk\"}",
 *             .responses = {
 *                     { 201, "the note", .shape = EDDY_SHAPE(struct note, note_members) },
 *                     { 409, .description = "there is a note of this title" },
 *             },
 *     };
 *
 *     eddy_route_describe(eddy_app_map_post(app, "/notes", add_note), &add);
 *     eddy_app_use_openapi(app, &(struct eddy_openapi_options){ .title = "Notes" });
 *
 * The document is made when the app starts, after other functions of eddy_app_at_start(). The app
 * does not start if two routes with the same path name a parameter differently, which OpenAPI can't
 * express, or if an example is not JSON or not a value of its table.
 *
 * Tables count the bytes of strings, OpenAPI counts characters: a .range of strings becomes limits
 * that no valid string exceeds. Parameters `{name...}` become `{name}`.
 */
#ifndef EDDY_OPENAPI_H
#define EDDY_OPENAPI_H

#include <eddy/app.h>
#include <eddy/member.h>

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

#define EDDY_OPERATION_RESPONSES_MAX 8

/* A response of a route. A status of 400 and more without .shape and .type is problem+json. */
struct eddy_operation_response {
	int status;
	const char *description;
	const struct eddy_shape *shape; /* EDDY_SHAPE() of its JSON */
	bool is_array;                  /* the JSON is an array of these */
	const char *type;               /* its media type; default: application/json with .shape */
	const char *example;            /* JSON; with .type, text */
};

/* An OpenAPI operation: what clients need to know about a route besides its method and pattern.
 * A zero field is left out. */
struct eddy_operation {
	const char *summary;
	const char *description; /* Markdown (CommonMark) */
	const char *id;          /* operationId, for generated clients; default: "get_notes_id" */
	const char *tag;

	/* EDDY_SHAPE() of the tables that the handler reads. */
	const struct eddy_shape *path; /* default: each parameter is a string */
	const struct eddy_shape *query;
	const struct eddy_shape *form; /* urlencoded */
	const struct eddy_shape *body; /* JSON */
	const char *body_type;         /* media type of another body */
	const char *body_example;      /* JSON; with .body_type, text */

	/* Ended by a zero status. Added if they are missing: 200 without statuses below 400, 400
	 * with a table, 401 and 403 with a guard, and all other errors. */
	struct eddy_operation_response responses[EDDY_OPERATION_RESPONSES_MAX];

	bool deprecated;
	bool hidden; /* leave the route out */
};

/* Describe a route. Copied, except for strings and tables of members, which are borrowed for the
 * app's life. A route without a description is documented by its pattern and guards; a pattern with
 * `{name...}` is then left out, as are CONNECT and methods that OpenAPI lacks. */
EDDY_API void eddy_route_describe(struct eddy_route *route, const struct eddy_operation *operation);

/* The document's own fields. Copied. A zero field takes its default. */
struct eddy_openapi_options {
	const char *title;          /* default: the program's name */
	const char *version;        /* of the API; default "1" */
	const char *description;    /* Markdown; default: none */
	const char *const *servers; /* URLs, ended by NULL; default: where the document is */
	const char *pattern;        /* of its own route; default "/openapi.json" */
	bool other_errors;          /* errors are not problem+json: eddy_app_map_err() */
};

/* Serve the document. `options` may be NULL. */
EDDY_API void eddy_app_use_openapi(struct eddy_app *app,
				   const struct eddy_openapi_options *options);

EDDY_END_DECLS

#endif
