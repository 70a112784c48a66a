#include <eddy/cookie.h>

#include "exchange_state.h"
#include "text/date.h"
#include "text/pairs.h"
#include "text/syntax.h"

#include <errno.h>
#include <stdio.h>

/* Clients drop longer cookies (name and value) and attributes (6265bis section 5.6). */
#define COOKIE_MAX 4096
#define ATTRIBUTE_MAX 1024

/* ---- requests ---- */

static struct eddy_str unquote(struct eddy_str value)
{
	if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"')
		return eddy_str(value.ptr + 1, value.len - 2);
	return value;
}

/* Take the next cookie off the front. Return: false at the end. */
static bool take_cookie(struct eddy_str *rest, struct eddy_pair *ret_pair)
{
	struct eddy_str piece, name;

	while (eddy_str_split(rest, ';', &piece)) {
		if (!memchr(piece.ptr, '=', piece.len))
			continue;
		eddy_str_split(&piece, '=', &name);
		name = eddy_str_trim(name);
		if (!name.len)
			continue;
		*ret_pair = (struct eddy_pair){ name, unquote(eddy_str_trim(piece)) };
		return true;
	}
	return false;
}

/* Count the cookies of all fields, and store them in `list` unless it is NULL. */
static size_t walk(const struct eddy_req *req, struct eddy_pair *list)
{
	size_t count = 0;

	for (unsigned i = 0; i < req->head.header_count; i++) {
		struct eddy_str rest = req->head.headers[i].value;
		struct eddy_pair pair;

		if (!eddy_str_eq_nocase(req->head.headers[i].name, EDDY_STR("cookie")))
			continue;
		while (take_cookie(&rest, &pair)) {
			if (list)
				list[count] = pair;
			count++;
		}
	}
	return count;
}

int eddy_req_cookie_pairs(struct eddy_req *req, struct eddy_pairs *ret_pairs)
{
	if (!req->cookies.list) {
		size_t count = walk(req, NULL);
		struct eddy_pair *list;

		if (count > EDDYI_PAIRS_MAX)
			return eddyi_req_fail(req, -EMSGSIZE, 400, "there are too many cookies");
		list = eddyi_arena_alloc(&req->arena, count * sizeof(*list));
		if (!list)
			return -ENOMEM;
		walk(req, list);
		req->cookies = (struct eddy_pairs){ list, count };
	}
	*ret_pairs = req->cookies;
	return 0;
}

int eddy_req_cookie(struct eddy_req *req, const char *name, struct eddy_str *ret_value)
{
	struct eddy_pairs pairs;
	int r = eddy_req_cookie_pairs(req, &pairs);

	return r < 0 ? r : eddyi_pairs_find(&pairs, name, ret_value);
}

/* ---- responses ---- */

/* cookie-octets (RFC 6265 section 4.1.1). */
static bool is_value(struct eddy_str value)
{
	for (size_t i = 0; i < value.len; i++) {
		unsigned char c = (unsigned char)value.ptr[i];

		if (c <= ' ' || c >= 0x7f || strchr("\",;\\", c))
			return false;
	}
	return true;
}

static bool is_path(const char *path)
{
	if (path[0] != '/' || strlen(path) > ATTRIBUTE_MAX)
		return false;
	for (; *path; path++)
		if (*path < ' ' || *path >= 0x7f || *path == ';')
			return false;
	return true;
}

static bool is_domain(const char *domain)
{
	size_t len = strspn(domain, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789.-");

	return len && !domain[len] && domain[0] != '.' && len <= ATTRIBUTE_MAX;
}

static bool has_prefix(const char *name, const char *prefix)
{
	return strncasecmp(name, prefix, strlen(prefix)) == 0;
}

/* Check the requirements of name prefixes, which clients compare without regard to case. */
static bool keeps_promise(const struct eddy_cookie *cookie)
{
	if (has_prefix(cookie->name, "__Secure-"))
		return cookie->secure;
	if (has_prefix(cookie->name, "__Host-"))
		return cookie->secure && !cookie->domain && cookie->path &&
		       strcmp(cookie->path, "/") == 0;
	return true;
}

static bool is_cookie(const struct eddy_cookie *cookie)
{
	struct eddy_str name = eddy_str_from(cookie->name);

	return eddyi_syntax_is_token(name) && is_value(cookie->value) &&
	       name.len + cookie->value.len <= COOKIE_MAX &&
	       (!cookie->path || is_path(cookie->path)) &&
	       (!cookie->domain || is_domain(cookie->domain)) && keeps_promise(cookie) &&
	       cookie->same_site <= EDDY_SAME_SITE_NONE &&
	       (cookie->same_site != EDDY_SAME_SITE_NONE || cookie->secure);
}

#define TIMES_SIZE 96

static void format_times(const struct eddy_cookie *cookie, char times[TIMES_SIZE])
{
	char date[EDDYI_DATE_LEN + 1];
	int len = 0;

	times[0] = 0;
	if (cookie->forget) {
		strcpy(times, "; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
		return;
	}
	if (cookie->max_age_s)
		len = snprintf(times, TIMES_SIZE, "; Max-Age=%ju", (uintmax_t)cookie->max_age_s);
	if (cookie->expires_s)
		snprintf(times + len, TIMES_SIZE - (size_t)len, "; Expires=%s",
			 eddyi_date_format((time_t)cookie->expires_s, date).ptr);
}

static const char *const same_sites[] = {
	[EDDY_SAME_SITE_UNSET] = "",
	[EDDY_SAME_SITE_STRICT] = "; SameSite=Strict",
	[EDDY_SAME_SITE_LAX] = "; SameSite=Lax",
	[EDDY_SAME_SITE_NONE] = "; SameSite=None",
};

int eddy_res_cookie(struct eddy_res *res, const struct eddy_cookie *cookie)
{
	char times[TIMES_SIZE];
	struct eddy_str text;

	if (!is_cookie(cookie))
		return -EINVAL;
	format_times(cookie, times);
	text = eddyi_arena_printf(&res->req->arena, "%s=%.*s%s%s%s%s%s%s%s%s", cookie->name,
				  EDDY_FMT(cookie->value), cookie->domain ? "; Domain=" : "",
				  cookie->domain ? cookie->domain : "",
				  cookie->path ? "; Path=" : "", cookie->path ? cookie->path : "",
				  times, cookie->secure ? "; Secure" : "",
				  cookie->http_only ? "; HttpOnly" : "",
				  same_sites[cookie->same_site]);
	return eddy_res_add(res, "set-cookie", text);
}
