/* url.h: http and https URLs (RFC 3986, RFC 9110 section 4.2), as a client takes them from its program
 * and, in a location field, from whoever it asked: read strictly, so that nobody else reads another
 * host in them.
 *
 *   - the scheme is http or https; a host is what host.h takes for one: names in ASCII (punycode, not
 *     IDN), canonical IPv4 addresses, IPv6 in brackets,
 *   - userinfo is refused, and so is port 0,
 *   - path and query hold what RFC 3986 allows there, and whole percent escapes; nothing is decoded;
 *     dot segments are removed from a reference that is resolved, and stay elsewhere,
 *   - a fragment is checked and dropped: it is never sent.
 */
#ifndef EDDYI_URL_H
#define EDDYI_URL_H

#include "arena.h"
#include "host.h"

#define EDDYI_URL_MAX ((size_t)(8 * EDDY_KIB))

/* Every string points into the text that was parsed, or is static. */
struct eddyi_url {
	bool https;
	struct eddyi_host host;
	uint16_t port; /* that of the scheme where none is written */
	struct eddy_str
		target; /* path and query, as sent; begins with '/' unless the path is empty */
	struct eddy_str path;  /* may be empty, which means "/" */
	struct eddy_str query; /* .ptr NULL when there is none */
};

/* Parse an absolute URL. Return: 0; -EPROTONOSUPPORT when it has another scheme; -EINVAL. */
int eddyi_url_parse(struct eddy_str text, struct eddyi_url *ret_url);

/* Resolve a reference against a URL (RFC 3986 section 5.2); `ret_text` is the result in the arena, which
 * `ret_url` points into. Return: as eddyi_url_parse(); -ENOMEM. */
int eddyi_url_resolve(struct eddyi_arena *arena, const struct eddyi_url *base,
		      struct eddy_str reference, struct eddyi_url *ret_url,
		      struct eddy_str *ret_text);

/* Write "http://host:port", in lower case and with the port always: equal for two URLs if and only if they
 * are of one origin (RFC 6454). Return: .ptr NULL when memory is out. */
struct eddy_str eddyi_url_origin(struct eddyi_arena *arena, const struct eddyi_url *url);

/* Write the value of a host field: the port only where it is not the scheme's.
 * Return: .ptr NULL when memory is out. */
struct eddy_str eddyi_url_host_field(struct eddyi_arena *arena, const struct eddyi_url *url);

/* Tell whether two URLs are of one origin. */
bool eddyi_url_is_same_origin(const struct eddyi_url *a, const struct eddyi_url *b);

#endif
