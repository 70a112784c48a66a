/* The fast pass reads common tokens: strings without escapes, integers of up to 18 digits, and at
 * most EDDYI_VALUES_MAX values. All other text, valid or not, is left to jansson. */
#include "object.h"

#include "json.h"

#include <errno.h>
#include <stdlib.h>
#include <eddy/internal/text.h>

#define DIGITS_MAX 18

struct reader {
	struct eddyi_object *object;
	const char *at, *end;
};

/* ---- parsing in one pass ---- */

/* Return: 0 at the end, and for a NUL, which ends the pass as an invalid character. */
static char peek(const struct reader *reader)
{
	return reader->at < reader->end ? *reader->at : 0;
}

static char skip_blanks(struct reader *reader)
{
	while (peek(reader) == ' ' || peek(reader) == '\n' || peek(reader) == '\r' ||
	       peek(reader) == '\t')
		reader->at++;
	return peek(reader);
}

static bool take(struct reader *reader, char c)
{
	if (peek(reader) != c)
		return false;
	reader->at++;
	return true;
}

static uint16_t place_of(const struct reader *reader, const char *at)
{
	return (uint16_t)(at - reader->object->text.ptr);
}

static bool read_string(struct reader *reader, uint16_t *ret_at, uint16_t *ret_len)
{
	const char *from = reader->at + 1;

	if (!take(reader, '"'))
		return false;
	while (peek(reader) != '"') {
		unsigned char c = (unsigned char)peek(reader);
		size_t len = c < 0x80 ? c >= ' ' && c != '\\' :
					eddyi_str_utf8_len(eddy_str(
						reader->at, (size_t)(reader->end - reader->at)));

		if (!len)
			return false;
		reader->at += len;
	}
	*ret_at = place_of(reader, from);
	*ret_len = (uint16_t)(reader->at - from);
	reader->at++;
	return true;
}

/* The caller, which expects a comma or a bracket, rejects an invalid next character, such as a
 * digit after a leading 0. */
static bool read_number(struct reader *reader, struct eddyi_place_of_value *value)
{
	const char *from = reader->at, *digits;

	take(reader, '-');
	digits = reader->at;
	if (!take(reader, '0'))
		while (peek(reader) >= '0' && peek(reader) <= '9')
			reader->at++;
	value->at = place_of(reader, from);
	value->len = (uint16_t)(reader->at - from);
	return reader->at > digits && reader->at - digits <= DIGITS_MAX;
}

static bool read_word(struct reader *reader, const char *word)
{
	while (*word && take(reader, *word))
		word++;
	return !*word;
}

static bool read_value(struct reader *reader, struct eddyi_place_of_value name, unsigned depth);

/* Read a name, which must be new in its object, and its colon. */
static bool read_name(struct reader *reader, unsigned first, struct eddyi_place_of_value *name)
{
	const struct eddyi_object *object = reader->object;
	const struct eddyi_place_of_value *known;

	if (!read_string(reader, &name->name, &name->name_len))
		return false;
	for (unsigned i = first; i < object->count; i = known->next) {
		known = &object->values[i];
		if (known->name_len == name->name_len &&
		    memcmp(object->text.ptr + known->name, object->text.ptr + name->name,
			   name->name_len) == 0)
			return false;
	}
	skip_blanks(reader);
	return take(reader, ':');
}

static bool read_values(struct reader *reader, char close, unsigned depth)
{
	unsigned first = reader->object->count;

	reader->at++;
	if (depth > EDDYI_JSON_DEPTH_MAX)
		return false;
	if (skip_blanks(reader) == close)
		return take(reader, close);
	do {
		struct eddyi_place_of_value value = { 0 };

		skip_blanks(reader);
		if ((close == '}' && !read_name(reader, first, &value)) ||
		    !read_value(reader, value, depth))
			return false;
		skip_blanks(reader);
	} while (take(reader, ','));
	return take(reader, close);
}

static bool read_value(struct reader *reader, struct eddyi_place_of_value value, unsigned depth)
{
	struct eddyi_object *object = reader->object;
	struct eddyi_place_of_value *to = &object->values[object->count];
	bool is_read;

	if (object->count == EDDYI_VALUES_MAX)
		return false;
	object->count++;
	switch (skip_blanks(reader)) {
	case '"':
		value.type = EDDYI_STRING;
		is_read = read_string(reader, &value.at, &value.len);
		break;
	case '{':
		value.type = EDDYI_OTHER;
		is_read = read_values(reader, '}', depth + 1);
		break;
	case '[':
		value.type = EDDYI_ARRAY;
		is_read = read_values(reader, ']', depth + 1);
		break;
	case 't':
		value.type = EDDYI_TRUE;
		is_read = read_word(reader, "true");
		break;
	case 'f':
		value.type = EDDYI_OTHER;
		is_read = read_word(reader, "false");
		break;
	case 'n':
		value.type = EDDYI_OTHER;
		is_read = read_word(reader, "null");
		break;
	default:
		value.type = EDDYI_NUMBER;
		is_read = read_number(reader, &value);
		break;
	}
	value.next = (uint16_t)object->count;
	*to = value;
	return is_read;
}

static bool read_object(struct eddyi_object *object)
{
	struct reader reader = { object, object->text.ptr, object->text.ptr + object->text.len };

	return object->text.len <= UINT16_MAX && skip_blanks(&reader) == '{' &&
	       read_value(&reader, (struct eddyi_place_of_value){ 0 }, 0) &&
	       (skip_blanks(&reader), reader.at == reader.end);
}

int eddyi_object_init(struct eddyi_object *object, struct eddy_str text)
{
	json_t *tree;
	int r;

	atomic_init(&object->tree, NULL);
	object->text = text;
	object->count = 0;
	if (read_object(object))
		return 0;
	object->count = 0;
	r = eddyi_auth_json_parse(text, &tree);
	if (r == 0)
		atomic_init(&object->tree, tree);
	return r;
}

void eddyi_object_deinit(struct eddyi_object *object)
{
	json_decref(object->tree);
}

/* ---- values ---- */

static double number_of(struct eddy_str digits)
{
	bool is_negative = digits.ptr[0] == '-';
	int64_t number = 0;

	for (size_t i = is_negative; i < digits.len; i++)
		number = number * 10 + (digits.ptr[i] - '0');
	return (double)(is_negative ? -number : number);
}

static struct eddyi_value at_place(const struct eddyi_object *object, unsigned i)
{
	const struct eddyi_place_of_value *place = &object->values[i];
	struct eddyi_value value = { .type = place->type, .first = i + 1, .end = place->next };
	struct eddy_str text = eddy_str(object->text.ptr + place->at, place->len);

	if (value.type == EDDYI_STRING)
		value.text = text;
	if (value.type == EDDYI_NUMBER)
		value.number = number_of(text);
	return value;
}

static struct eddyi_value of_tree(const json_t *json)
{
	struct eddyi_value value = { .json = json, .number = json_number_value(json) };

	if (!json)
		return value;
	switch (json_typeof(json)) {
	case JSON_STRING:
		value.type = EDDYI_STRING;
		value.text = eddy_str(json_string_value(json), json_string_length(json));
		break;
	case JSON_INTEGER:
	case JSON_REAL:
		value.type = EDDYI_NUMBER;
		break;
	case JSON_ARRAY:
		value.type = EDDYI_ARRAY;
		break;
	case JSON_TRUE:
		value.type = EDDYI_TRUE;
		break;
	default:
		value.type = EDDYI_OTHER;
		break;
	}
	return value;
}

struct eddyi_value eddyi_object_get(const struct eddyi_object *object, const char *name)
{
	size_t len = strlen(name);

	if (!object->count)
		return of_tree(json_object_get(object->tree, name));
	for (unsigned i = 1; i < object->count; i = object->values[i].next)
		if (object->values[i].name_len == len &&
		    memcmp(object->text.ptr + object->values[i].name, name, len) == 0)
			return at_place(object, i);
	return (struct eddyi_value){ 0 };
}

bool eddyi_object_next(const struct eddyi_object *object, struct eddyi_value *array,
		       struct eddyi_value *ret_value)
{
	if (array->type != EDDYI_ARRAY)
		return false;
	if (array->json) {
		*ret_value = of_tree(json_array_get(array->json, array->first++));
		return ret_value->type;
	}
	if (array->first == array->end)
		return false;
	*ret_value = at_place(object, array->first);
	array->first = ret_value->end;
	return true;
}

const json_t *eddyi_object_tree(struct eddyi_object *object)
{
	json_t *tree = object->tree, *made;

	if (tree || eddyi_auth_json_parse(object->text, &made) < 0)
		return tree;
	if (atomic_compare_exchange_strong(&object->tree, &tree, made))
		return made;
	json_decref(made);
	return tree;
}
