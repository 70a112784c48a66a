/* eddy/cookie.h: cookies (RFC 6265 and the draft that replaces it, 6265bis).
 *
 *     struct eddy_str id;
 *
 *     if (eddy_req_cookie(req, "__Host-id", &id) < 0)
 *             return eddy_res_cookie(res, &(struct eddy_cookie){
 *                     .name = "__Host-id", .value = new_id(req), .path = "/",
 *                     .secure = true, .http_only = true, .same_site = EDDY_SAME_SITE_LAX });
 *
 * Values are not decoded or encoded: what does not fit into a cookie is the program's to escape.
 */
#ifndef EDDY_COOKIE_H
#define EDDY_COOKIE_H

#include <eddy/req.h>

EDDY_BEGIN_DECLS

/* The value of the first cookie of this name, quotes around it dropped.
 * Return: 0, -ENOENT, and as eddy_req_cookie_pairs(). */
EDDY_API int eddy_req_cookie(struct eddy_req *req, const char *name, struct eddy_str *ret_value);

/* All cookies, in their order; what has no name is left out.
 * Return: 0, -EMSGSIZE for more than 4096 (which becomes a 400), -ENOMEM. */
EDDY_API int eddy_req_cookie_pairs(struct eddy_req *req, struct eddy_pairs *ret_pairs);

enum eddy_same_site {
	EDDY_SAME_SITE_UNSET, /* the client decides; most take it for Lax */
	EDDY_SAME_SITE_STRICT,
	EDDY_SAME_SITE_LAX,
	EDDY_SAME_SITE_NONE, /* only of a secure cookie */
};

/* Every field but the name: 0 or NULL means its default. */
struct eddy_cookie {
	const char *name;
	struct eddy_str value; /* default: empty */
	const char *path;      /* begins with '/'; default: the folder of the request's path */
	const char *domain; /* the host and all beneath it; default: the host that was asked alone */
	uint64_t max_age_s; /* default: until the client ends its session */
	uint64_t expires_s; /* seconds since 1970, for old clients; default: none */
	bool forget;        /* the client is to drop it; path and domain must be what they were */
	bool secure;        /* over TLS only */
	bool http_only;     /* not for scripts */
	enum eddy_same_site same_site;
};

/* Give the client a cookie; each call is a set-cookie field of its own.
 * Return: 0; -EINVAL when the name is no token, or the value or an attribute holds what a cookie can't
 * (blanks, quotes, commas, semicolons, backslashes, bytes over 0x7e), when a name that begins with
 * __Secure- or __Host- does not keep its promise, when SameSite=None is not secure, or when name and value
 * are over 4096 bytes: clients would drop it; -ENOMEM. */
EDDY_API int eddy_res_cookie(struct eddy_res *res, const struct eddy_cookie *cookie);

EDDY_END_DECLS

#endif
