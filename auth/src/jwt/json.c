#include "json.h"

#include <eddy/internal/json.h>
#include <eddy/loop.h>
#include <errno.h>

/* Each value takes some 250 bytes once parsed, however short its text. */
#define VALUES_MAX ((size_t)16384)

struct parse {
	struct eddy_str text;
	json_t *json;
	json_error_t error;
};

static void parse(void *arg)
{
	struct parse *parse = arg;

	parse->json =
		json_loadb(parse->text.ptr, parse->text.len, JSON_REJECT_DUPLICATES, &parse->error);
}

/* jansson leaves its error text empty on allocation failure, but reports "invalid token" if it has
 * no memory for a string, which is -EBADMSG here. */
static bool is_out_of_memory(const json_error_t *error)
{
	return !error->text[0];
}

/* Count the characters before values, those in strings included: no valid text has so many. */
static bool has_too_many_values(struct eddy_str text)
{
	size_t count = 1;

	if (text.len < VALUES_MAX)
		return false;
	for (size_t i = 0; i < text.len; i++)
		count += text.ptr[i] == ',' || text.ptr[i] == '[' || text.ptr[i] == '{';
	return count > VALUES_MAX;
}

int eddyi_auth_json_parse(struct eddy_str text, json_t **ret_object)
{
	struct parse job = { .text = text };

	/* jansson skips a NUL between two tokens. */
	if (!text.len || memchr(text.ptr, 0, text.len) ||
	    eddyi_json_depth(text, NULL) > EDDYI_JSON_DEPTH_MAX || has_too_many_values(text))
		return -EBADMSG;
	eddy_on_loop_stack(parse, &job);
	if (!job.json)
		return is_out_of_memory(&job.error) ? -ENOMEM : -EBADMSG;
	if (!json_is_object(job.json)) {
		json_decref(job.json);
		return -EBADMSG;
	}
	*ret_object = job.json;
	return 0;
}

struct eddy_str eddyi_auth_json_str(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_string(value) ?
		       eddy_str(json_string_value(value), json_string_length(value)) :
		       eddy_str(NULL, 0);
}
