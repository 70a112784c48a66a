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
#include <eddy/tls.h>

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

/* ---- encrypted and signed cookies ----
 *
 *     eddy_app_with_cookie_keys(app, &(struct eddy_cookie_keys){ .file = "cookie_keys" });
 *
 *     r = eddy_res_cookie_sealed(res, &(struct eddy_cookie){
 *             .name = "__Host-cart", .value = cart, .max_age_s = 86400 });
 *     r = eddy_req_cookie_sealed(req, "__Host-cart", &cart);
 *
 * A sealed cookie is encrypted, so its value may be any bytes; a signed one can be read by the
 * client's scripts. Neither can be made or changed by others, used under another name, or used
 * after its end. The client can send an older one again until then; values that must not come back
 * belong into a session (eddy/session.h).
 *
 * To rotate keys, put a new one before the others, and remove the old one when its cookies have
 * ended.
 *
 * If eddy-http was built with -Dtls=disabled, calling these functions is a compile error.
 */

/* The keys, one a line, each of at least 32 bytes, which are not decoded: `openssl rand -hex 32`
 * makes one. The first seals and signs; all open; at most 16. */
struct eddy_cookie_keys {
	const char *file;     /* at most 64 KiB */
	struct eddy_str text; /* without a file */
};

/* Set the keys of an app's cookies, read when the app starts. Copied. The [cookies] section of a
 * configuration file takes precedence; if it sets a file, `keys` may be NULL. SIGHUP reads the file
 * again; if it is unusable, the keys stay as they are, with an ERROR log record. */
EDDY_TLS_API void eddy_app_with_cookie_keys(struct eddy_app *app,
					    const struct eddy_cookie_keys *keys);

/* Set an encrypted cookie. It ends after `max_age_s`, else at `expires_s`, else after 14 days; at
 * most 400 days. Where the cookie does not say otherwise, its path is "/" and it is SameSite=Lax.
 * It is HttpOnly, and Secure if the request is (eddy_req_is_secure()) or its name begins with
 * __Host- or __Secure-. With `forget`, the value is not used.
 * Return: as eddy_res_cookie(), -EINVAL for name and value of more than about 3000 bytes; -ENOKEY
 * without keys; -EIO. */
EDDY_TLS_API int eddy_res_cookie_sealed(struct eddy_res *res, const struct eddy_cookie *cookie);

/* Get the value of the first cookie of this name, decrypted, in request memory.
 * Return: 0; -ENOENT if there is none; -EBADMSG if it is forged or has ended, or its key was
 * removed; otherwise as eddy_req_cookie_pairs(). */
EDDY_TLS_API int eddy_req_cookie_sealed(struct eddy_req *req, const char *name,
					struct eddy_str *ret_value);

/* Set a signed cookie: VALUE.END.SIGNATURE, the end in seconds since 1970. The value must be what
 * eddy_res_cookie() accepts; it is not encoded. HttpOnly if `http_only` is set; otherwise as
 * eddy_res_cookie_sealed(). */
EDDY_TLS_API int eddy_res_cookie_signed(struct eddy_res *res, const struct eddy_cookie *cookie);

/* Get the value of the first cookie of this name if it was signed by this app.
 * Return: as eddy_req_cookie_sealed(). */
EDDY_TLS_API int eddy_req_cookie_signed(struct eddy_req *req, const char *name,
					struct eddy_str *ret_value);

EDDY_END_DECLS

#endif
