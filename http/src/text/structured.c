#include "structured.h"

#include "base64.h"
#include "syntax.h"

#include <eddy/internal/text.h>
#include <errno.h>

#define INTEGER_DIGITS 15
#define DECIMAL_DIGITS 12
#define FRACTION_DIGITS 3

/* The functions take a part off the front of `*rest`. Return: false if it is malformed. */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool begins_with(struct eddy_str rest, char c)
{
	return rest.len && rest.ptr[0] == c;
}

static void skip_spaces(struct eddy_str *rest)
{
	while (eddyi_syntax_take(rest, ' '))
		;
}

static bool take_key(struct eddy_str *rest, struct eddy_str *ret_key)
{
	size_t len = 0;

	if (!rest->len || (!is_lower(rest->ptr[0]) && rest->ptr[0] != '*'))
		return false;
	while (len < rest->len && (is_lower(rest->ptr[len]) || is_digit(rest->ptr[len]) ||
				   memchr("_-.*", rest->ptr[len], 4)))
		len++;
	*ret_key = eddy_str(rest->ptr, len);
	*rest = eddy_str_skip(*rest, len);
	return true;
}

/* ---- bare items (RFC 9651 section 4.2.3.1) ---- */

/* Take at most `max` digits. Return: their number. */
static size_t take_digits(struct eddy_str *rest, size_t max, int64_t *ret_value)
{
	size_t count = 0;

	*ret_value = 0;
	for (; count < max && count < rest->len && is_digit(rest->ptr[count]); count++)
		*ret_value = *ret_value * 10 + (rest->ptr[count] - '0');
	*rest = eddy_str_skip(*rest, count);
	return count;
}

static bool take_number(struct eddy_str *rest, struct eddyi_structured *ret_item)
{
	bool negative = eddyi_syntax_take(rest, '-');
	size_t count = take_digits(rest, INTEGER_DIGITS, &ret_item->integer);
	int64_t fraction;

	ret_item->type = EDDYI_STRUCTURED_INTEGER;
	if (negative)
		ret_item->integer = -ret_item->integer;
	if (!count || (rest->len && is_digit(rest->ptr[0])))
		return false;
	if (!eddyi_syntax_take(rest, '.'))
		return true;
	ret_item->type = EDDYI_STRUCTURED_DECIMAL;
	return count <= DECIMAL_DIGITS && take_digits(rest, FRACTION_DIGITS, &fraction) &&
	       !(rest->len && is_digit(rest->ptr[0]));
}

static bool take_date(struct eddy_str *rest, struct eddyi_structured *ret_item)
{
	eddyi_syntax_take(rest, '@');
	if (!take_number(rest, ret_item) || ret_item->type != EDDYI_STRUCTURED_INTEGER)
		return false;
	ret_item->type = EDDYI_STRUCTURED_DATE;
	return true;
}

static bool take_boolean(struct eddy_str *rest, struct eddyi_structured *ret_item)
{
	ret_item->type = EDDYI_STRUCTURED_BOOLEAN;
	eddyi_syntax_take(rest, '?');
	ret_item->integer = begins_with(*rest, '1');
	return eddyi_syntax_take(rest, '0') || eddyi_syntax_take(rest, '1');
}

static bool take_token(struct eddy_str *rest, struct eddyi_structured *ret_item)
{
	size_t len = 1;

	while (len < rest->len && (eddyi_syntax_is_tchar(rest->ptr[len]) || rest->ptr[len] == ':' ||
				   rest->ptr[len] == '/'))
		len++;
	ret_item->type = EDDYI_STRUCTURED_TOKEN;
	ret_item->text = eddy_str(rest->ptr, len);
	*rest = eddy_str_skip(*rest, len);
	return true;
}

/* Take `open`, text, and the first `close` after it. Return: false if there is none. */
static bool take_enclosed(struct eddy_str *rest, size_t open, char close, struct eddy_str *ret_text)
{
	struct eddy_str text = eddy_str_skip(*rest, open);
	const char *end = text.len ? memchr(text.ptr, close, text.len) : NULL;

	if (!end)
		return false;
	text.len = (size_t)(end - text.ptr);
	*ret_text = text;
	*rest = eddy_str_skip(*rest, open + text.len + 1);
	return true;
}

static bool take_bytes(struct eddy_str *rest, struct eddyi_structured *ret_item)
{
	ret_item->type = EDDYI_STRUCTURED_BYTES;
	return take_enclosed(rest, 1, ':', &ret_item->text) &&
	       eddyi_base64_decode(ret_item->text, NULL) >= 0;
}

static bool is_visible(char c)
{
	return c >= 0x20 && c < 0x7f;
}

static bool take_string(struct eddy_str *rest, struct eddyi_structured *ret_item)
{
	ret_item->type = EDDYI_STRUCTURED_STRING;
	for (size_t i = 1; i < rest->len && is_visible(rest->ptr[i]); i++) {
		if (rest->ptr[i] == '"') {
			ret_item->text = eddy_str(rest->ptr + 1, i - 1);
			*rest = eddy_str_skip(*rest, i + 1);
			return true;
		}
		if (rest->ptr[i] == '\\' &&
		    (++i == rest->len || (rest->ptr[i] != '"' && rest->ptr[i] != '\\')))
			return false;
	}
	return false;
}

/* Take a byte of a display string, an escape or a visible character. Return: -1 if it is
 * neither. */
static int take_display_byte(struct eddy_str *text)
{
	int byte = text->len ? (unsigned char)text->ptr[0] : -1;
	size_t len = 1;

	if (byte == '%') {
		byte = eddyi_percent_at(*text, 0);
		len = 3;
		if (byte < 0 || is_upper(text->ptr[1]) || is_upper(text->ptr[2]))
			return -1;
	} else if (byte < 0x20 || byte >= 0x7f) {
		return -1;
	}
	*text = eddy_str_skip(*text, len);
	return byte;
}

static bool is_display_text(struct eddy_str text)
{
	while (text.len) {
		struct eddy_str rest = text;
		char character[4];
		size_t len = 0;
		int byte;

		while (len < sizeof(character) && (byte = take_display_byte(&rest)) >= 0)
			character[len++] = (char)byte;
		len = eddyi_str_utf8_len(eddy_str(character, len));
		if (!len)
			return false;
		while (len--)
			take_display_byte(&text);
	}
	return true;
}

static bool take_display(struct eddy_str *rest, struct eddyi_structured *ret_item)
{
	ret_item->type = EDDYI_STRUCTURED_DISPLAY;
	return eddy_str_starts(*rest, EDDY_STR("%\"")) &&
	       take_enclosed(rest, 2, '"', &ret_item->text) && is_display_text(ret_item->text);
}

static bool take_item(struct eddy_str *rest, struct eddyi_structured *ret_item)
{
	char first = rest->len ? rest->ptr[0] : 0;

	if (is_digit(first) || first == '-')
		return take_number(rest, ret_item);
	if (is_lower(first) || is_upper(first) || first == '*')
		return take_token(rest, ret_item);
	switch (first) {
	case '"':
		return take_string(rest, ret_item);
	case ':':
		return take_bytes(rest, ret_item);
	case '?':
		return take_boolean(rest, ret_item);
	case '@':
		return take_date(rest, ret_item);
	case '%':
		return take_display(rest, ret_item);
	}
	return false;
}

/* ---- parameters, inner lists, dictionaries ---- */

static bool skip_parameters(struct eddy_str *rest)
{
	struct eddyi_structured value;
	struct eddy_str key;

	while (eddyi_syntax_take(rest, ';')) {
		skip_spaces(rest);
		if (!take_key(rest, &key))
			return false;
		if (eddyi_syntax_take(rest, '=') && !take_item(rest, &value))
			return false;
	}
	return true;
}

static bool take_list(struct eddy_str *rest, struct eddyi_structured *ret_list)
{
	const char *begin = rest->ptr;
	struct eddyi_structured item;
	bool is_separate = true;

	for (;;) {
		is_separate |= begins_with(*rest, ' ');
		skip_spaces(rest);
		if (eddyi_syntax_take(rest, ')'))
			break;
		if (!is_separate || !take_item(rest, &item) || !skip_parameters(rest))
			return false;
		is_separate = false;
	}
	ret_list->type = EDDYI_STRUCTURED_LIST;
	ret_list->text = eddy_str(begin, (size_t)(rest->ptr - begin) - 1);
	return true;
}

static bool take_value(struct eddy_str *rest, struct eddyi_structured *ret_value)
{
	if (!eddyi_syntax_take(rest, '=')) {
		ret_value->type = EDDYI_STRUCTURED_BOOLEAN;
		ret_value->integer = 1;
	} else if (!(eddyi_syntax_take(rest, '(') ? take_list(rest, ret_value) :
						    take_item(rest, ret_value))) {
		return false;
	}
	return skip_parameters(rest);
}

int eddyi_structured_take_entry(struct eddy_str *rest, struct eddy_str *ret_key,
				struct eddyi_structured *ret_value)
{
	struct eddyi_structured value = { 0 };
	struct eddy_str at = *rest, key;

	if (!take_key(&at, &key) || !take_value(&at, &value))
		return -EBADMSG;
	eddyi_syntax_skip_blanks(&at);
	if (at.len) {
		/* Nothing but another entry may follow a comma. */
		if (!eddyi_syntax_take(&at, ','))
			return -EBADMSG;
		eddyi_syntax_skip_blanks(&at);
		if (!at.len)
			return -EBADMSG;
	}
	*rest = at;
	*ret_key = key;
	*ret_value = value;
	return 0;
}

int eddyi_structured_parse_item(struct eddy_str field, struct eddyi_structured *ret_item)
{
	skip_spaces(&field);
	if (!take_item(&field, ret_item) || !skip_parameters(&field))
		return -EBADMSG;
	skip_spaces(&field);
	return field.len ? -EBADMSG : 0;
}
