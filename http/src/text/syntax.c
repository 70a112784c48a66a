#include "syntax.h"

#include <errno.h>
#include <eddy/internal/text.h>

bool eddyi_syntax_is_tchar(char c)
{
	static const bool tchar[256] = {
		['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['!'] = true,
		['#'] = true,         ['$'] = true,         ['%'] = true,         ['&'] = true,
		['\''] = true,        ['*'] = true,         ['+'] = true,         ['-'] = true,
		['.'] = true,         ['^'] = true,         ['_'] = true,         ['`'] = true,
		['|'] = true,         ['~'] = true,
	};

	return tchar[(unsigned char)c];
}

bool eddyi_syntax_is_token(struct eddy_str str)
{
	for (size_t i = 0; i < str.len; i++)
		if (!eddyi_syntax_is_tchar(str.ptr[i]))
			return false;
	return str.len > 0;
}

bool eddyi_syntax_is_value(struct eddy_str str)
{
	/* Fast path for plain text. */
	for (size_t i = eddyi_str_plain_len(str); i < str.len; i++) {
		unsigned char c = (unsigned char)str.ptr[i];

		if ((c < ' ' && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

void eddyi_syntax_skip_blanks(struct eddy_str *rest)
{
	while (rest->len && (rest->ptr[0] == ' ' || rest->ptr[0] == '\t'))
		*rest = eddy_str_skip(*rest, 1);
}

bool eddyi_syntax_take(struct eddy_str *rest, char c)
{
	if (!rest->len || rest->ptr[0] != c)
		return false;
	*rest = eddy_str_skip(*rest, 1);
	return true;
}

bool eddyi_syntax_take_token(struct eddy_str *rest, struct eddy_str *ret_token)
{
	size_t len = 0;

	while (len < rest->len && eddyi_syntax_is_tchar(rest->ptr[len]))
		len++;
	if (!len)
		return false;
	*ret_token = eddy_str(rest->ptr, len);
	*rest = eddy_str_skip(*rest, len);
	return true;
}

static bool is_control(char c)
{
	return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f;
}

bool eddyi_syntax_take_quoted(struct eddy_str *rest, struct eddy_str *ret_inner)
{
	if (!rest->len || rest->ptr[0] != '"')
		return false;
	for (size_t i = 1; i < rest->len; i++) {
		if (rest->ptr[i] == '"') {
			*ret_inner = eddy_str(rest->ptr + 1, i - 1);
			*rest = eddy_str_skip(*rest, i + 1);
			return true;
		}
		if (rest->ptr[i] == '\\' && ++i == rest->len)
			return false;
		if (is_control(rest->ptr[i]))
			return false;
	}
	return false;
}

bool eddyi_syntax_take_member(struct eddy_str *rest, struct eddy_str *ret_member)
{
	while (rest->len) {
		struct eddy_str member;
		bool quoted = false;
		size_t len = 0;

		for (; len < rest->len && (quoted || rest->ptr[len] != ','); len++) {
			if (rest->ptr[len] == '"')
				quoted = !quoted;
			else if (quoted && rest->ptr[len] == '\\' && len + 1 < rest->len)
				len++;
		}
		member = eddy_str_trim(eddy_str(rest->ptr, len));
		*rest = eddy_str_skip(*rest, len + 1);
		if (member.len) {
			*ret_member = member;
			return true;
		}
	}
	return false;
}

bool eddyi_syntax_has_member(struct eddy_str list, struct eddy_str member)
{
	struct eddy_str other;

	while (eddyi_syntax_take_member(&list, &other))
		if (eddy_str_eq_nocase(other, member))
			return true;
	return false;
}

ssize_t eddyi_syntax_unescape(struct eddy_str str, char *out)
{
	size_t len = 0;

	for (size_t i = 0; i < str.len; i++) {
		int c = (unsigned char)str.ptr[i];

		if (c == '%') {
			c = eddyi_percent_at(str, i);
			if (c < 0)
				return -EINVAL;
			i += 2;
		}
		out[len++] = (char)c;
	}
	return (ssize_t)len;
}
