#include "schema.h"

#include <eddy/internal/member.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Invariant: no two schemas have the same name. */
struct schema {
	struct schema *next;
	const struct eddy_member *members;
	enum eddyi_side side;
	char name[128];
};

void eddyi_schemas_set(struct eddyi_schemas *schemas, json_t *object, const char *name,
		       json_t *value)
{
	if (json_object_set_new(object, name, value) < 0)
		schemas->has_failed = true;
}

void eddyi_schemas_append(struct eddyi_schemas *schemas, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		schemas->has_failed = true;
}

void eddyi_schemas_text(struct eddyi_schemas *schemas, json_t *object, const char *name,
			const char *text)
{
	json_t *value = text ? json_string(text) : NULL;

	if (text && !value)
		eddy_app_mistake(schemas->app, "the %s \"%s\" of an operation is not UTF-8", name,
				 text);
	if (value)
		eddyi_schemas_set(schemas, object, name, value);
}

/* ---- values ---- */

static json_t *number(long double value)
{
	if (value == truncl(value) && fabsl(value) < 0x1p63L)
		return json_integer((json_int_t)value);
	return json_real((double)value);
}

static void set_bounds(struct eddyi_schemas *schemas, json_t *schema, const char *min_name,
		       const char *max_name, struct eddy_bounds bounds)
{
	if (isfinite((double)bounds.min))
		eddyi_schemas_set(schemas, schema, min_name, number(bounds.min));
	if (isfinite((double)bounds.max))
		eddyi_schemas_set(schemas, schema, max_name, number(bounds.max));
}

static bool has_bounds(const struct eddy_member *member)
{
	return member->range.min != 0 || member->range.max != 0;
}

static void set_integer(struct eddyi_schemas *schemas, json_t *schema,
			const struct eddy_member *member, enum eddy_type type)
{
	static const struct {
		const char *format;
		struct eddy_bounds bounds;
	} kinds[] = {
		[EDDY_TYPE_I8] = { NULL, { INT8_MIN, INT8_MAX } },
		[EDDY_TYPE_I16] = { NULL, { INT16_MIN, INT16_MAX } },
		[EDDY_TYPE_I32] = { "int32", { -INFINITY, INFINITY } },
		[EDDY_TYPE_I64] = { "int64", { -INFINITY, INFINITY } },
		[EDDY_TYPE_U8] = { NULL, { 0, UINT8_MAX } },
		[EDDY_TYPE_U16] = { NULL, { 0, UINT16_MAX } },
		[EDDY_TYPE_U32] = { NULL, { 0, UINT32_MAX } },
		[EDDY_TYPE_U64] = { NULL, { 0, INFINITY } },
	};

	eddyi_schemas_text(schemas, schema, "type", "integer");
	eddyi_schemas_text(schemas, schema, "format", kinds[type].format);
	set_bounds(schemas, schema, "minimum", "maximum",
		   has_bounds(member) ? member->range : kinds[type].bounds);
}

/* A regular expression of POSIX that ECMA-262 reads differently, or not at all. */
static bool is_posix_only(const char *pattern)
{
	return strstr(pattern, "[:") || strstr(pattern, "[.") || strstr(pattern, "[=") ||
	       strstr(pattern, "[]") || strstr(pattern, "[^]") || strstr(pattern, "\\<") ||
	       strstr(pattern, "\\>");
}

static void set_string(struct eddyi_schemas *schemas, json_t *schema,
		       const struct eddy_member *member, bool is_element)
{
	static const char *const formats[] = {
		[EDDY_FORMAT_DATE] = "date", [EDDY_FORMAT_EMAIL] = "email",
		[EDDY_FORMAT_URI] = "uri",   [EDDY_FORMAT_UUID] = "uuid",
		[EDDY_FORMAT_IPV4] = "ipv4", [EDDY_FORMAT_IPV6] = "ipv6",
	};
	struct eddy_bounds bounds = member->range;

	eddyi_schemas_text(schemas, schema, "type", "string");
	eddyi_schemas_text(schemas, schema, "format", formats[member->format]);
	if (member->pattern && !is_posix_only(member->pattern->text))
		eddyi_schemas_text(schemas, schema, "pattern", member->pattern->text);
	if (is_element || !has_bounds(member))
		return;
	/* A character has four bytes at most. */
	bounds.min = ceill(bounds.min / 4);
	set_bounds(schemas, schema, "minLength", "maxLength", bounds);
}

static void set_enum(struct eddyi_schemas *schemas, json_t *schema,
		     const struct eddy_member *member, bool is_nullable)
{
	json_t *names = json_array();

	for (size_t i = 0; member->names[i]; i++)
		eddyi_schemas_append(schemas, names, json_string(member->names[i]));
	if (is_nullable)
		eddyi_schemas_append(schemas, names, json_null());
	eddyi_schemas_set(schemas, schema, "enum", names);
}

static json_t *scalar(struct eddyi_schemas *schemas, const struct eddy_member *member,
		      enum eddy_type type, bool is_element)
{
	json_t *schema = json_object();

	if (member->names) {
		eddyi_schemas_text(schemas, schema, "type", "string");
		set_enum(schemas, schema, member, member->null && !is_element);
	} else if (type == EDDY_TYPE_STR) {
		set_string(schemas, schema, member, is_element);
	} else if (type == EDDY_TYPE_TIME) {
		eddyi_schemas_text(schemas, schema, "type", "string");
		eddyi_schemas_text(schemas, schema, "format", "date-time");
	} else if (type == EDDY_TYPE_BOOL) {
		eddyi_schemas_text(schemas, schema, "type", "boolean");
	} else if (type == EDDY_TYPE_DOUBLE) {
		eddyi_schemas_text(schemas, schema, "type", "number");
		if (has_bounds(member) && !is_element)
			set_bounds(schemas, schema, "minimum", "maximum", member->range);
	} else {
		set_integer(schemas, schema, is_element ? &(const struct eddy_member){ 0 } : member,
			    type);
	}
	return schema;
}

static json_t *array(struct eddyi_schemas *schemas, const struct eddy_member *member,
		     enum eddyi_side side)
{
	json_t *schema = json_object();

	if (!member->of && member->element < 0) {
		eddy_app_mistake(schemas->app,
				 "the array \"%s\" of a table has elements of no known type: "
				 "give .of for structs",
				 member->member);
		return schema;
	}
	eddyi_schemas_text(schemas, schema, "type", "array");
	eddyi_schemas_set(schemas, schema, "items",
			  member->of ?
				  eddyi_schema_of(schemas, member->of, side) :
				  scalar(schemas, member, (enum eddy_type)member->element, true));
	if (has_bounds(member))
		set_bounds(schemas, schema, "minItems", "maxItems", member->range);
	return schema;
}

static void set_default(struct eddyi_schemas *schemas, json_t *schema,
			const struct eddy_member *member)
{
	bool is_text = member->names || member->type == EDDY_TYPE_STR ||
		       member->type == EDDY_TYPE_TIME;
	json_t *value;

	if (is_text || !member->otherwise) {
		eddyi_schemas_text(schemas, schema, "default", member->otherwise);
		return;
	}
	/* Not every number that eddy reads is JSON: "007". */
	value = json_loads(member->otherwise, JSON_DECODE_ANY, NULL);
	if (value)
		eddyi_schemas_set(schemas, schema, "default", value);
}

/* Allow null as well. */
static json_t *nullable(struct eddyi_schemas *schemas, json_t *schema)
{
	json_t *type = json_object_get(schema, "type"), *either = json_array(), *whole = schema;

	if (type) {
		eddyi_schemas_append(schemas, either, json_incref(type));
		eddyi_schemas_append(schemas, either, json_string("null"));
		eddyi_schemas_set(schemas, schema, "type", either);
		return schema;
	}
	whole = json_object();
	eddyi_schemas_append(schemas, either, schema);
	eddyi_schemas_append(schemas, either, json_pack("{s:s}", "type", "null"));
	eddyi_schemas_set(schemas, whole, "anyOf", either);
	return whole;
}

json_t *eddyi_schema_of_member(struct eddyi_schemas *schemas, const struct eddy_member *member,
			       enum eddyi_side side)
{
	json_t *schema;

	if (member->type == EDDY_TYPE_OBJECT)
		schema = eddyi_schema_of(schemas, member->of, side);
	else if (member->type == EDDY_TYPE_ARRAY)
		schema = array(schemas, member, side);
	else
		schema = scalar(schemas, member, member->type, false);
	if (member->null)
		schema = nullable(schemas, schema);
	set_default(schemas, schema, member);
	return schema;
}

/* ---- structs ---- */

bool eddyi_schema_requires(const struct eddy_member *member, enum eddyi_side side)
{
	if (side == EDDYI_INPUT)
		return !member->otherwise && !member->optional && !member->present;
	return member->null ||
	       (!member->present && !(member->optional && member->type == EDDY_TYPE_STR));
}

#define DEPTH_MAX 32

static bool has_sides(const struct eddy_shape *shape, unsigned depth)
{
	for (size_t i = 0; i < shape->count && depth < DEPTH_MAX; i++) {
		const struct eddy_member *member = &shape->members[i];

		if (eddyi_schema_requires(member, EDDYI_INPUT) !=
			    eddyi_schema_requires(member, EDDYI_OUTPUT) ||
		    (member->of && has_sides(member->of, depth + 1)))
			return true;
	}
	return false;
}

static struct schema *find(struct eddyi_schemas *schemas, const struct eddy_shape *shape,
			   enum eddyi_side side)
{
	struct schema *schema = schemas->all;

	while (schema && (schema->members != shape->members || schema->side != side))
		schema = schema->next;
	return schema;
}

/* Name a schema after its table, without "_members"; a second one of this name gets a suffix. */
static void set_name(struct eddyi_schemas *schemas, struct schema *schema,
		     const struct eddy_shape *shape)
{
	const char *name = shape->name ? shape->name : "";
	size_t len =
		strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
	const char *suffix = schema->side == EDDYI_OUTPUT && has_sides(shape, 0) ? "_output" : "";

	if (len > 8 && len < 64 && memcmp(name + len - 8, "_members", 8) == 0)
		len -= 8;
	else if (len == 0 || len >= 64)
		name = "object", len = 6;
	snprintf(schema->name, sizeof(schema->name), "%.*s%s", (int)len, name, suffix);
	for (unsigned i = 2; json_object_get(schemas->named, schema->name); i++)
		snprintf(schema->name, sizeof(schema->name), "%.*s%s_%u", (int)len, name, suffix,
			 i);
}

static void fill(struct eddyi_schemas *schemas, json_t *object, const struct eddy_shape *shape,
		 enum eddyi_side side)
{
	json_t *properties = json_object(), *required = json_array();
	bool is_strict = false;

	eddyi_schemas_text(schemas, object, "type", "object");
	for (size_t i = 0; i < shape->count; i++) {
		const struct eddy_member *member = &shape->members[i];
		const char *name = eddyi_member_name(member);

		eddyi_schemas_set(schemas, properties, name,
				  eddyi_schema_of_member(schemas, member, side));
		if (eddyi_schema_requires(member, side))
			eddyi_schemas_append(schemas, required, json_string(name));
		is_strict |= member->strict;
	}
	eddyi_schemas_set(schemas, object, "properties", properties);
	eddyi_schemas_set(schemas, object, "required", required);
	if (is_strict)
		eddyi_schemas_set(schemas, object, "additionalProperties", json_false());
}

json_t *eddyi_schema_of(struct eddyi_schemas *schemas, const struct eddy_shape *shape,
			enum eddyi_side side)
{
	struct schema *schema;
	json_t *object;

	if (!has_sides(shape, 0))
		side = EDDYI_INPUT;
	schema = find(schemas, shape, side);
	if (!schema) {
		schema = eddy_app_alloc(schemas->app, sizeof(*schema));
		*schema = (struct schema){ schemas->all, shape->members, side, "" };
		set_name(schemas, schema, shape);
		schemas->all = schema;
		/* A table may contain itself. */
		object = json_object();
		eddyi_schemas_set(schemas, schemas->named, schema->name, object);
		fill(schemas, object, shape, side);
	}
	return json_pack("{s:s+}", "$ref", "#/components/schemas/", schema->name);
}

json_t *eddyi_schema_array_of(struct eddyi_schemas *schemas, const struct eddy_shape *shape,
			      enum eddyi_side side)
{
	return json_pack("{s:s, s:o}", "type", "array", "items",
			 eddyi_schema_of(schemas, shape, side));
}
