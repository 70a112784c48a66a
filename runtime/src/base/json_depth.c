#include <eddy/internal/json_depth.h>

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
