/* The boundary of a form, from its Content-Type. */
#include "multipart.h"

#include "text/syntax.h"

#include <errno.h>

static bool is_boundary_char(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
	       (c && strchr("'()+_,-./:=?", c));
}

/* RFC 2046 section 5.1.1: a blank must not be the last character. */
static bool is_boundary(struct eddy_str text)
{
	if (!text.len || text.len > EDDYI_MULTIPART_BOUNDARY_MAX || text.ptr[text.len - 1] == ' ')
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (!is_boundary_char(text.ptr[i]) && text.ptr[i] != ' ')
			return false;
	return true;
}

/* Take a parameter's value: a quoted string, or the characters of a boundary, which many clients
 * don't quote even if it is not a token. */
static bool take_value(struct eddy_str *rest, struct eddy_str *ret_value)
{
	size_t len = 0;

	if (eddyi_syntax_take_quoted(rest, ret_value))
		return true;
	while (len < rest->len &&
	       (is_boundary_char(rest->ptr[len]) || eddyi_syntax_is_tchar(rest->ptr[len])))
		len++;
	*ret_value = eddy_str(rest->ptr, len);
	*rest = eddy_str_skip(*rest, len);
	return len > 0;
}

int eddyi_multipart_boundary(struct eddy_str content_type, struct eddy_str *ret_boundary)
{
	static const char type[] = "multipart/form-data";
	struct eddy_str rest = eddy_str_trim(content_type), name, value, boundary = { 0 };

	if (rest.len < sizeof(type) - 1 ||
	    !eddy_str_eq_nocase(eddy_str(rest.ptr, sizeof(type) - 1), eddy_str_from(type)))
		return -EOPNOTSUPP;
	rest = eddy_str_skip(rest, sizeof(type) - 1);
	if (rest.len && !strchr(" \t;", rest.ptr[0]))
		return -EOPNOTSUPP;
	for (;;) {
		eddyi_syntax_skip_blanks(&rest);
		if (!rest.len)
			break;
		if (!eddyi_syntax_take(&rest, ';'))
			return -EBADMSG;
		eddyi_syntax_skip_blanks(&rest);
		if (!rest.len || rest.ptr[0] == ';')
			continue;
		if (!eddyi_syntax_take_token(&rest, &name) || !eddyi_syntax_take(&rest, '=') ||
		    !take_value(&rest, &value))
			return -EBADMSG;
		if (!eddy_str_eq_nocase(name, eddy_str_from("boundary")))
			continue;
		if (boundary.ptr || !is_boundary(value))
			return -EBADMSG;
		boundary = value;
	}
	if (!boundary.ptr)
		return -EBADMSG;
	*ret_boundary = boundary;
	return 0;
}
