#include <eddy/json.h>

#include "json.h"

#include <eddy/internal/json.h>
#include <eddy/internal/member.h>
#include <eddy/internal/text.h>
#include <eddy/loop.h>
#include <errno.h>
#include <stdio.h>

#define NAME_SHOWN 64

struct parse {
	struct eddy_str text;
	json_t *json;
	json_error_t error;
};

static void parse(void *arg)
{
	struct parse *parse = arg;

	parse->json = json_loadb(parse->text.ptr, parse->text.len,
				 JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &parse->error);
}

/* jansson reports an empty text; for a string that it can't allocate, "invalid token". */
static bool is_out_of_memory(const json_error_t *error)
{
	return !error->text[0];
}

/* Replace messages of jansson that say too little, or name its own options. */
static const char *reason_of(const json_error_t *error)
{
	switch (json_error_code(error)) {
	case json_error_duplicate_key:
		return "the member name is repeated";
	case json_error_null_character:
	case json_error_null_byte_in_key:
		return "\\u0000 is not allowed";
	default:
		return error->text;
	}
}

/* jansson quotes the text near the error, which comes from the peer: cut that off, and keep only
 * ASCII. */
static void explain_error(const json_error_t *error, char *ret_why)
{
	const char *reason = reason_of(error), *near = strstr(reason, " near '");
	int len = near ? (int)(near - reason) : (int)strlen(reason);

	snprintf(ret_why, EDDYI_JSON_WHY_SIZE, "line %d, column %d: %.*s", error->line,
		 error->column, len, reason);
	for (char *at = ret_why; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

/* Report the NUL that ends `text`. Columns are counted in characters, like jansson's. */
static void explain_nul(struct eddy_str text, char *ret_why)
{
	json_error_t error = { .line = 1, .text = "a NUL byte" };

	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] == '\n') {
			error.line++;
			error.column = 0;
		} else if ((text.ptr[i] & 0xc0) != 0x80) {
			error.column++;
		}
	}
	explain_error(&error, ret_why);
}

/* Make the checks that need no parser. Return: 0, -EBADMSG, -EMSGSIZE. */
static int check(struct eddy_str text, unsigned depth_max, size_t values_max, char *ret_why)
{
	const char *nul = text.len ? memchr(text.ptr, 0, text.len) : NULL;
	size_t values;

	if (!text.len)
		strcpy(ret_why, "it is empty");
	else if (nul)
		/* jansson skips a NUL between two tokens. */
		explain_nul(eddy_str(text.ptr, (size_t)(nul - text.ptr) + 1), ret_why);
	else if (eddyi_json_depth(text, &values) > depth_max)
		snprintf(ret_why, EDDYI_JSON_WHY_SIZE,
			 "arrays and objects are nested more than %u deep", depth_max);
	else
		return values > values_max ? -EMSGSIZE : 0;
	return -EBADMSG;
}

int eddyi_json_parse(struct eddy_str text, unsigned depth_max, size_t values_max, json_t **ret_json,
		     char ret_why[EDDYI_JSON_WHY_SIZE])
{
	struct parse job = { .text = text };
	int r = check(text, depth_max, values_max, ret_why);

	if (r < 0)
		return r;
	/* jansson recurses, so don't run it on a task's stack. */
	eddy_on_loop_stack(parse, &job);
	if (!job.json) {
		explain_error(&job.error, ret_why);
		return is_out_of_memory(&job.error) ? -ENOMEM : -EBADMSG;
	}
	*ret_json = job.json;
	return 0;
}

int eddy_json_parse(struct eddy_str text, unsigned depth_max, size_t values_max, json_t **ret_json)
{
	char why[EDDYI_JSON_WHY_SIZE];

	return eddyi_json_parse(text, depth_max, values_max, ret_json, why);
}

static int read_member(const void *from, const char *name, const struct eddy_member *member,
		       struct eddy_to to)
{
	const json_t *value = json_object_get(from, name);

	if (!value ||
	    (json_is_null(value) && (member->optional || member->present || member->otherwise)))
		return -ENOENT;
	if (member->names || to.type == EDDY_TYPE_STR || to.type == EDDY_TYPE_TIME)
		return json_is_string(value) ?
			       eddyi_member_parse(member,
						  eddy_str(json_string_value(value),
							   json_string_length(value)),
						  to) :
			       -EINVAL;
	if (to.type == EDDY_TYPE_BOOL) {
		if (!json_is_boolean(value))
			return -EINVAL;
		*(bool *)to.ptr = json_is_true(value);
		return 0;
	}
	if (to.type == EDDY_TYPE_DOUBLE) {
		if (!json_is_number(value))
			return -EINVAL;
		*(double *)to.ptr = json_number_value(value);
		return 0;
	}
	if (!json_is_integer(value))
		return -EINVAL;
	return eddyi_to_i64(to, json_integer_value(value));
}

/* Find the first member of an object that a strict table does not name; NULL if there is none. */
static const char *find_unknown(const json_t *json, const struct eddy_member *members, size_t count)
{
	bool strict = false;
	const char *name;
	json_t *value;

	for (size_t i = 0; i < count; i++)
		strict |= members[i].strict;
	if (!strict)
		return NULL;
	json_object_foreach((json_t *)json, name, value)
	{
		size_t i = 0;

		while (i < count && strcmp(eddyi_member_name(&members[i]), name) != 0)
			i++;
		if (i == count)
			return name;
	}
	return NULL;
}

/* The name comes from the peer: truncate it between two characters. */
static void explain_unknown(const char *name, char *ret_why)
{
	size_t len = strnlen(name, NAME_SHOWN + 1);

	if (len > NAME_SHOWN)
		while (len-- && (name[len] & 0xc0) == 0x80)
			;
	if (ret_why)
		snprintf(ret_why, EDDY_WHY_SIZE, "\"%.*s\" is unknown", (int)len, name);
}

int eddyi_json_read(const json_t *json, const struct eddy_member *members, size_t count,
		    void *ret_target, char *ret_why)
{
	const char *unknown;

	if (!json_is_object(json)) {
		if (ret_why)
			snprintf(ret_why, EDDY_WHY_SIZE, "it must be an object");
		return -EINVAL;
	}
	unknown = find_unknown(json, members, count);
	if (unknown) {
		explain_unknown(unknown, ret_why);
		return -EINVAL;
	}
	return eddyi_members_read(&(struct eddyi_source){ read_member, json }, members, count,
				  ret_target, ret_why);
}

/* ---- shorter real numbers ---- */

/* A shorter text does not have seventeen digits with a point or an exponent. */
#define LONG_MIN_LEN 18
#define LONG_MAX_LEN 31

/* Convert eddyi_f64_format()'s output to JSON: 1e+05 to 1e5, and 5 to 5.0, which marks a real. */
static void as_json(char *number)
{
	char *exponent = strchr(number, 'e'), *to, *from;

	if (!exponent) {
		if (!strchr(number, '.'))
			strcat(number, ".0");
		return;
	}
	from = to = exponent + 1;
	if (*from == '-')
		to++;
	if (*from == '-' || *from == '+')
		from++;
	while (*from == '0' && from[1])
		from++;
	memmove(to, from, strlen(from) + 1);
}

static size_t shorten(char *number, size_t len)
{
	char copy[LONG_MAX_LEN + 1], shorter[EDDYI_F64_SIZE];

	if (len < LONG_MIN_LEN || len > LONG_MAX_LEN ||
	    (!memchr(number, '.', len) && !memchr(number, 'e', len)))
		return len;
	memcpy(copy, number, len);
	copy[len] = 0;
	eddyi_f64_format(eddyi_f64_parse(copy, NULL), shorter);
	as_json(shorter);
	if (strlen(shorter) < len) {
		len = strlen(shorter);
		memcpy(number, shorter, len);
	}
	return len;
}

static bool is_of_number(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static size_t number_length(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && is_of_number(text[i]))
		i++;
	return i;
}

/* Including its quotes. */
static size_t string_length(const char *text, size_t len)
{
	size_t i = 1;

	while (i < len && text[i] != '"')
		i += text[i] == '\\' ? 2 : 1;
	return i < len ? i + 1 : len;
}

size_t eddyi_reals_shorten(char *text, size_t len)
{
	size_t to = 0, step, kept;

	for (size_t from = 0; from < len; from += step) {
		step = kept = 1;
		if (text[from] == '"') {
			step = kept = string_length(text + from, len - from);
		} else if (text[from] == '-' || (text[from] >= '0' && text[from] <= '9')) {
			step = number_length(text + from, len - from);
			kept = shorten(text + from, step);
		}
		if (to != from)
			memmove(text + to, text + from, kept);
		to += kept;
	}
	return to;
}
