#include "disposition.h"

#include "syntax.h"

#include <eddy/internal/text.h>
#include <errno.h>

/* Besides letters and digits (RFC 8187 section 3.2.1). */
static const char attr_chars[] = "!#$&+-.^_`|~";

static bool is_attr_char(char c)
{
	return eddyi_syntax_is_tchar(c) && c != '*' && c != '\'' && c != '%';
}

static char *put_quoted_ascii(char *at, struct eddy_str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];

		if (c == '"' || c == '\\')
			*at++ = '\\';
		*at++ = c >= 0x20 && c < 0x7f ? c : '_';
	}
	return at;
}

struct eddy_str eddyi_disposition_attachment(struct eddyi_arena *arena, struct eddy_str name)
{
	static const char before[] = "attachment; filename=\"", between[] = "\"; filename*=UTF-8''";
	struct eddy_str rest = name;
	char *text, *at;

	/* A byte takes at most two bytes in the first form and, as U+FFFD, nine in the second. */
	if (name.len > (SIZE_MAX - 64) / 11)
		return eddy_str(NULL, 0);
	text = eddyi_arena_alloc(arena, sizeof(before) + sizeof(between) + 11 * name.len);
	if (!text)
		return eddy_str(NULL, 0);
	at = mempcpy(text, before, sizeof(before) - 1);
	at = put_quoted_ascii(at, name);
	at = mempcpy(at, between, sizeof(between) - 1);
	while (rest.len) {
		size_t len = eddyi_str_utf8_len(rest);

		at = eddyi_percent_encode(
			at, len ? eddy_str(rest.ptr, len) : EDDY_STR("\xef\xbf\xbd"), attr_chars);
		rest = eddy_str_skip(rest, len ? len : 1);
	}
	*at = 0;
	return eddy_str(text, at - text);
}

/* Resolve `\"` and `\\`. */
static int unquote(struct eddyi_arena *arena, struct eddy_str inner, struct eddy_str *ret_text)
{
	size_t len = 0;
	char *out;

	if (!inner.len || !memchr(inner.ptr, '\\', inner.len)) {
		*ret_text = inner;
		return 0;
	}
	out = eddyi_arena_alloc(arena, inner.len);
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < inner.len; i++) {
		if (inner.ptr[i] == '\\' && (inner.ptr[i + 1] == '"' || inner.ptr[i + 1] == '\\'))
			i++; /* the next byte exists, since the quoted string is complete */
		out[len++] = inner.ptr[i];
	}
	*ret_text = eddy_str(out, len);
	return 0;
}

static int latin1_to_utf8(struct eddyi_arena *arena, struct eddy_str text, struct eddy_str *ret)
{
	char *out = eddyi_arena_alloc(arena, 2 * text.len + 1);
	size_t len = 0;

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = text.ptr[i];

		if (c >= 0x80)
			out[len++] = (char)(0xc0 | c >> 6);
		out[len++] = (char)(c >= 0x80 ? 0x80 | (c & 0x3f) : c);
	}
	*ret = eddy_str(out, len);
	return 0;
}

/* Decode an ext-value, `charset'language'escaped` (RFC 8187 section 3.2).
 * Return: 0, -EBADMSG, -EOPNOTSUPP for an unknown charset, -ENOMEM. */
static int decode_ext_value(struct eddyi_arena *arena, struct eddy_str value,
			    struct eddy_str *ret_text)
{
	struct eddy_str charset, language;
	ssize_t len;
	char *out;

	if (!eddy_str_split(&value, '\'', &charset) || !eddy_str_split(&value, '\'', &language) ||
	    !value.ptr || !charset.len)
		return -EBADMSG;
	for (size_t i = 0; i < value.len; i++)
		if (value.ptr[i] != '%' && !is_attr_char(value.ptr[i]))
			return -EBADMSG;
	out = eddyi_arena_alloc(arena, value.len + 1);
	if (!out)
		return -ENOMEM;
	len = eddyi_syntax_unescape(value, out);
	if (len < 0)
		return -EBADMSG;
	value = eddy_str(out, (size_t)len);
	if (eddy_str_eq_nocase(charset, eddy_str_from("iso-8859-1")))
		return latin1_to_utf8(arena, value, ret_text);
	if (!eddy_str_eq_nocase(charset, eddy_str_from("utf-8")))
		return -EOPNOTSUPP;
	if (!eddyi_str_is_utf8(value))
		return -EBADMSG;
	*ret_text = value;
	return 0;
}

/* Take `name=value` off the front, and unquote the value. */
static int take_parameter(struct eddyi_arena *arena, struct eddy_str *rest,
			  struct eddy_str *ret_name, struct eddy_str *ret_value, bool *ret_quoted)
{
	struct eddy_str inner;

	if (!eddyi_syntax_take_token(rest, ret_name))
		return -EBADMSG;
	eddyi_syntax_skip_blanks(
		rest); /* blanks are allowed: RFC 6266 uses the grammar of RFC 2616 */
	if (!eddyi_syntax_take(rest, '='))
		return -EBADMSG;
	eddyi_syntax_skip_blanks(rest);
	*ret_quoted = eddyi_syntax_take_quoted(rest, &inner);
	if (*ret_quoted)
		return unquote(arena, inner, ret_value);
	return eddyi_syntax_take_token(rest, ret_value) ? 0 : -EBADMSG;
}

static int set_once(struct eddy_str *field, struct eddy_str value)
{
	if (field->ptr)
		return -EBADMSG;
	*field = value;
	return 0;
}

int eddyi_disposition_parse(struct eddyi_arena *arena, struct eddy_str value,
			    struct eddyi_disposition *ret_disposition)
{
	struct eddyi_disposition result = { 0 };
	struct eddy_str name, text, ext = { 0 };
	bool quoted, ext_quoted = false;
	int err;

	value = eddy_str_trim(value);
	if (!eddyi_syntax_take_token(&value, &result.type))
		return -EBADMSG;
	for (;;) {
		eddyi_syntax_skip_blanks(&value);
		if (!value.len)
			break;
		if (!eddyi_syntax_take(&value, ';'))
			return -EBADMSG;
		eddyi_syntax_skip_blanks(&value);
		if (!value.len || value.ptr[0] == ';')
			continue;
		err = take_parameter(arena, &value, &name, &text, &quoted);
		if (!err && eddy_str_eq_nocase(name, eddy_str_from("name"))) {
			err = set_once(&result.name, text);
		} else if (!err && eddy_str_eq_nocase(name, eddy_str_from("filename"))) {
			err = set_once(&result.filename, text);
		} else if (!err && eddy_str_eq_nocase(name, eddy_str_from("filename*"))) {
			err = set_once(&ext, text);
			ext_quoted = quoted;
		}
		if (err < 0)
			return err;
	}
	if (ext.ptr) {
		err = ext_quoted ? -EBADMSG : decode_ext_value(arena, ext, &text);
		if (!err)
			result.filename = text;
		else if (err != -EOPNOTSUPP || !result.filename.ptr)
			return err == -ENOMEM ? err : -EBADMSG;
	}
	*ret_disposition = result;
	return 0;
}

bool eddyi_filename_is_public(struct eddy_str name)
{
	for (size_t i = 0; i < name.len; i++)
		if ((unsigned char)name.ptr[i] < 0x20 || name.ptr[i] == 0x7f || name.ptr[i] == '/')
			return false;
	return name.len && name.len <= EDDYI_FILENAME_MAX && name.ptr[0] != '.' &&
	       eddyi_str_is_utf8(name);
}

int eddyi_filename_clean(struct eddy_str name, struct eddy_str *ret_name)
{
	size_t from = name.len;

	while (from && name.ptr[from - 1] != '/' && name.ptr[from - 1] != '\\')
		from--;
	while (from < name.len && name.ptr[from] == '.')
		from++;
	name = eddy_str_skip(name, from);
	if (!eddyi_filename_is_public(name))
		return -EINVAL;
	*ret_name = name;
	return 0;
}
