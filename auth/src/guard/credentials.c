#include "credentials.h"

#include <eddy/cookie.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Bytes of a b64token. A table, since tokens are long and each request's is checked. */
static const bool is_token[256] = {
	['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['0' ... '9'] = true,
	['-'] = true,         ['.'] = true,         ['_'] = true,
	['~'] = true,         ['+'] = true,         ['/'] = true,
};

/* b64token (RFC 6750 section 2.1): such bytes, then padding. */
static bool is_b64token(struct eddy_str text)
{
	size_t at = 0;

	while (at < text.len && is_token[(unsigned char)text.ptr[at]])
		at++;
	if (!at)
		return false;
	while (at < text.len && text.ptr[at] == '=')
		at++;
	return at == text.len;
}

static bool find_field(const struct eddy_req *req, struct eddy_str *ret_value, unsigned *ret_count)
{
	struct eddy_str name, value;

	*ret_count = 0;
	for (size_t i = 0; i < eddy_req_header_count(req); i++) {
		eddy_req_header_at(req, i, &name, &value);
		if (!eddy_str_eq_nocase(name, EDDY_STR("authorization")))
			continue;
		*ret_value = value;
		++*ret_count;
	}
	return *ret_count == 1;
}

static enum eddyi_credentials read_field(const struct eddy_req *req, struct eddy_str *ret_token)
{
	struct eddy_str value;
	unsigned count;
	size_t scheme = 0;

	if (!find_field(req, &value, &count))
		return count ? EDDYI_CREDENTIALS_INVALID : EDDYI_CREDENTIALS_NONE;
	value = eddy_str_trim(value);
	while (scheme < value.len && !is_blank(value.ptr[scheme]))
		scheme++;
	if (!eddy_str_eq_nocase(eddy_str(value.ptr, scheme), EDDY_STR("bearer")))
		return EDDYI_CREDENTIALS_NONE;
	*ret_token = eddy_str_trim(eddy_str_skip(value, scheme));
	return is_b64token(*ret_token) ? EDDYI_CREDENTIALS_BEARER : EDDYI_CREDENTIALS_INVALID;
}

/* An empty cookie is what a logout leaves. Return: enum eddyi_credentials; as
 * eddy_req_cookie_pairs(). */
static int read_cookie(struct eddy_req *req, const char *name, struct eddy_str *ret_token)
{
	struct eddy_pairs cookies;
	unsigned count = 0;
	int r = eddy_req_cookie_pairs(req, &cookies);

	if (r < 0)
		return r;
	for (size_t i = 0; i < cookies.count; i++) {
		if (!eddy_str_eq_z(cookies.list[i].name, name))
			continue;
		*ret_token = cookies.list[i].value;
		count++;
	}
	if (count > 1)
		return EDDYI_CREDENTIALS_TWICE;
	return count && ret_token->len ? EDDYI_CREDENTIALS_BEARER : EDDYI_CREDENTIALS_NONE;
}

/* Whether a page of another site gains nothing if the browser sends its user's cookie along: the
 * page can't read the response, and the method changes nothing. */
static bool accepts_cookie(const struct eddy_req *req)
{
	struct eddy_str method = eddy_req_method(req);

	return eddy_str_eq_z(method, "GET") || eddy_str_eq_z(method, "HEAD");
}

int eddyi_credentials_read(struct eddy_req *req, const char *cookie, struct eddy_str *ret_token)
{
	enum eddyi_credentials field = read_field(req, ret_token);
	struct eddy_str value;
	int r;

	if (!cookie || field == EDDYI_CREDENTIALS_INVALID)
		return field;
	if (field == EDDYI_CREDENTIALS_BEARER && !accepts_cookie(req))
		return field;
	r = read_cookie(req, cookie, &value);
	if (r < 0 || r == EDDYI_CREDENTIALS_NONE)
		return r < 0 ? r : (int)field;
	if (!accepts_cookie(req))
		return EDDYI_CREDENTIALS_UNSAFE;
	if (r == EDDYI_CREDENTIALS_TWICE || field == EDDYI_CREDENTIALS_BEARER)
		return EDDYI_CREDENTIALS_TWICE;
	*ret_token = value;
	return r;
}
