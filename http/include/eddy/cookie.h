/* eddy/cookie.h: cookies (RFC 6265 and its draft successor, 6265bis).
 *
 *     struct eddy_str id;
 *
 *     if (eddy_req_cookie(req, "__Host-id", &id) < 0)
 *             return eddy_res_cookie(res, &(struct eddy_cookie){
 *                     .name = "__Host-id", .value = new_id(req), .path = "/",
 *                     .secure = true, .http_only = true, .same_site = EDDY_SAME_SITE_LAX });
 *
 * Values are neither decoded nor encoded; the program escapes what a cookie can't hold.
 */
#ifndef EDDY_COOKIE_H
#define EDDY_COOKIE_H

#include <eddy/req.h>

EDDY_BEGIN_DECLS

/* Get the value of the first cookie of this name, without quotes around it.
 * Return: 0; -ENOENT; otherwise as eddy_req_cookie_pairs(). */
EDDY_API int eddy_req_cookie(struct eddy_req *req, const char *name, struct eddy_str *ret_value);

/* Get all cookies in order; those without a name are skipped.
 * Return: 0; -EMSGSIZE (400) for more than 4096; -ENOMEM. */
EDDY_API int eddy_req_cookie_pairs(struct eddy_req *req, struct eddy_pairs *ret_pairs);

enum eddy_same_site {
	EDDY_SAME_SITE_UNSET, /* the client decides; most take it as Lax */
	EDDY_SAME_SITE_STRICT,
	EDDY_SAME_SITE_LAX,
	EDDY_SAME_SITE_NONE, /* requires .secure */
};

/* A cookie to set. A zero field other than `name` takes its default. */
struct eddy_cookie {
	const char *name;
	struct eddy_str value; /* default: empty */
	const char *path;      /* begins with '/'; default: the folder of the request's path */
	const char *domain;    /* the host and its subdomains; default: the request's host alone */
	uint64_t max_age_s;    /* lifetime in seconds; default: the client's session */
	uint64_t expires_s;    /* seconds since 1970, for old clients; default: none */
	bool forget;    /* delete the cookie; path and domain must be those it was set with */
	bool secure;    /* sent over TLS only */
	bool http_only; /* hidden from scripts */
	enum eddy_same_site same_site;
};

/* Set a cookie; each call adds a set-cookie field.
 * Return: 0; -EINVAL if the name is not a token, if the value or an attribute holds what a cookie
 * can't (blanks, quotes, commas, semicolons, backslashes, bytes over 0x7e), if a __Secure- or
 * __Host- name lacks the required attributes, if SameSite=None is not secure, or if name and value
 * exceed 4096 bytes, which clients drop; -ENOMEM. */
EDDY_API int eddy_res_cookie(struct eddy_res *res, const struct eddy_cookie *cookie);

EDDY_END_DECLS

#endif
