/* schema.h: JSON Schemas (2020-12, in OpenAPI's dialect) of tables of members. */
#ifndef EDDYI_SCHEMA_H
#define EDDYI_SCHEMA_H

#include <eddy/layer.h>
#include <eddy/member.h>
#include <jansson.h>

/* Sides of a table that differ in the members that are always there. */
enum eddyi_side {
	EDDYI_INPUT,  /* those without a default and not optional */
	EDDYI_OUTPUT, /* those that are always written */
};

/* The named schemas of a document. */
struct eddyi_schemas {
	struct eddy_app *app;
	json_t *named; /* the document's components/schemas */
	struct schema *all;
	bool has_failed; /* out of memory, or a text is not UTF-8 */
};

/* Set a member of a JSON object, or append to an array. Takes ownership of `value`; NULL is a
 * failure, which is noted. */
void eddyi_schemas_set(struct eddyi_schemas *schemas, json_t *object, const char *name,
		       json_t *value);
void eddyi_schemas_append(struct eddyi_schemas *schemas, json_t *array, json_t *value);

/* Set a string. NULL is left out. */
void eddyi_schemas_text(struct eddyi_schemas *schemas, json_t *object, const char *name,
			const char *text);

/* Make the schema of a struct: a reference to a named one, which is added. */
json_t *eddyi_schema_of(struct eddyi_schemas *schemas, const struct eddy_shape *shape,
			enum eddyi_side side);

/* Make the schema of an array of structs. */
json_t *eddyi_schema_array_of(struct eddyi_schemas *schemas, const struct eddy_shape *shape,
			      enum eddyi_side side);

/* Make the schema of a member's value. */
json_t *eddyi_schema_of_member(struct eddyi_schemas *schemas, const struct eddy_member *member,
			       enum eddyi_side side);

/* Tell whether a member is always there. */
bool eddyi_schema_requires(const struct eddy_member *member, enum eddyi_side side);

#endif
