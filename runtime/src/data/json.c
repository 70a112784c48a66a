#include <eddy/internal/json.h>

#include <math.h>

/* ---- writing ---- */

static void put_escape(struct eddyi_text *json, unsigned char byte)
{
	char escape[] = "\\u00xx";

	if (byte == '"' || byte == '\\')
		eddyi_text_put(json, (char[]){ '\\', (char)byte }, 2);
	else if (byte == '\n')
		eddyi_text(json, "\\n");
	else
		eddyi_text_put(json, escape,
			       (size_t)(eddyi_hex_format(&byte, 1, escape + 4) - escape));
}

static void put_character(struct eddyi_text *json, struct eddy_str character)
{
	if (!character.len)
		eddyi_text(json, "\\ufffd");
	else if (character.len == 1)
		put_escape(json, (unsigned char)*character.ptr);
	else
		eddyi_text_put(json, character.ptr, character.len);
}

#define END "\","
#define CUT "…" END

/* Write a string that needs escapes, or does not fit. */
static void put_str(struct eddyi_text *json, struct eddy_str str)
{
	char *end = json->end;

	if ((size_t)(end - json->at) < strlen("\"" CUT))
		json->full = true;
	if (json->full)
		return;
	eddyi_text(json, "\"");
	json->end -= strlen(CUT);
	eddyi_text_escaped(json, str, put_character);
	json->end = end;
	if (json->full) {
		json->full = false;
		eddyi_text(json, CUT);
		json->full = true;
	} else {
		eddyi_text(json, END);
	}
}

void eddyi_json_str(struct eddyi_text *json, struct eddy_str str)
{
	char *at = json->at;

	if (json->full || !str.len || strlen("\"" CUT) + str.len > (size_t)(json->end - at) ||
	    eddyi_str_plain_len(str) < str.len) {
		put_str(json, str);
		return;
	}
	*at = '"';
	json->at = mempcpy(mempcpy(at + 1, str.ptr, str.len), END, strlen(END));
}

/* In each of these, what follows the number is in place of its NUL. */

void eddyi_json_u64(struct eddyi_text *json, uint64_t value)
{
	char text[EDDY_U64_SIZE];
	size_t len = eddy_u64_format(value, text);

	text[len] = ',';
	eddyi_text_put(json, text, len + 1);
}

void eddyi_json_i64(struct eddyi_text *json, int64_t value)
{
	char text[EDDYI_I64_SIZE];
	size_t len = eddyi_i64_format(value, text);

	text[len] = ',';
	eddyi_text_put(json, text, len + 1);
}

void eddyi_json_u64_str(struct eddyi_text *json, uint64_t value)
{
	char text[1 + EDDY_U64_SIZE + 1] = "\"";
	size_t len = eddy_u64_format(value, text + 1);

	memcpy(text + 1 + len, "\",", 2);
	eddyi_text_put(json, text, len + 3);
}

void eddyi_json_i64_str(struct eddyi_text *json, int64_t value)
{
	char text[1 + EDDYI_I64_SIZE + 1] = "\"";
	size_t len = eddyi_i64_format(value, text + 1);

	memcpy(text + 1 + len, "\",", 2);
	eddyi_text_put(json, text, len + 3);
}

void eddyi_json_f64(struct eddyi_text *json, double value)
{
	char text[EDDYI_F64_SIZE];
	size_t len;

	if (!isfinite(value)) {
		eddyi_text(json, "null,");
		return;
	}
	len = eddyi_f64_format(value, text);
	text[len] = ',';
	eddyi_text_put(json, text, len + 1);
}

void eddyi_json_hex(struct eddyi_text *json, const void *bytes, size_t len)
{
	char text[1 + 64 + 2] = "\"", *end = eddyi_hex_format(bytes, len, text + 1);

	memcpy(end, "\",", 2);
	eddyi_text_put(json, text, 2 * len + 3);
}

void eddyi_json_last(struct eddyi_text *json, char bracket)
{
	if (!json->full && json->at[-1] == ',')
		json->at--;
	eddyi_text_put(json, &bracket, 1);
}

void eddyi_json_end(struct eddyi_text *json, char bracket)
{
	eddyi_json_last(json, bracket);
	eddyi_text(json, ",");
}

/* ---- before parsing ---- */

/* A text is one value. Each comma precedes a further one, and so does the opening bracket of an
 * array or object that is not empty. */
unsigned eddyi_json_depth(struct eddy_str text, size_t *ret_values)
{
	unsigned depth = 0, deepest = 0;
	size_t values = 1;
	bool in_string = false, is_empty = false; /* the innermost array or object, so far */

	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
			continue;
		}
		if (c == ' ' || c == '\n' || c == '\r' || c == '\t')
			continue;
		if (c == ']' || c == '}') {
			depth -= depth > 0;
			is_empty = false;
			continue;
		}
		values += is_empty || c == ',';
		is_empty = false;
		if (c == '"') {
			in_string = true;
		} else if (c == '[' || c == '{') {
			is_empty = true;
			if (++depth > deepest)
				deepest = depth;
		}
	}
	if (ret_values)
		*ret_values = values;
	return deepest;
}
