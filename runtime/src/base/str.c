#include <eddy/str.h>

static unsigned char lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

bool eddy_str_eq_nocase(struct eddy_str a, struct eddy_str b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++)
		if (lower(a.ptr[i]) != lower(b.ptr[i]))
			return false;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct eddy_str eddy_str_trim(struct eddy_str str)
{
	while (str.len && is_blank(str.ptr[0]))
		str = eddy_str_skip(str, 1);
	while (str.len && is_blank(str.ptr[str.len - 1]))
		str.len--;
	return str;
}

bool eddy_str_split(struct eddy_str *rest, char separator, struct eddy_str *ret_piece)
{
	const char *at;

	if (!rest->ptr)
		return false;
	at = rest->len ? memchr(rest->ptr, separator, rest->len) : NULL;
	if (at) {
		*ret_piece = eddy_str(rest->ptr, at - rest->ptr);
		*rest = eddy_str_skip(*rest, ret_piece->len + 1);
	} else {
		*ret_piece = *rest;
		*rest = eddy_str(NULL, 0);
	}
	return true;
}
