/* url.h: parses http and https URLs (RFC 3986, RFC 9110 section 4.2) of the program and of location
 * fields. Strict, so that every reader finds the same host:
 *
 *   - The scheme is http or https. host.h parses the host: ASCII names (punycode, not IDN),
 *     canonical IPv4 addresses, IPv6 in brackets.
 *   - Userinfo and port 0 are rejected.
 *   - Path and query contain what RFC 3986 allows, and complete percent escapes, which are not
 *     decoded. Dot segments are removed from resolved references only.
 *   - A fragment is checked and dropped; it is never sent. */
#ifndef EDDYI_URL_H
#define EDDYI_URL_H

#include "arena.h"
#include "host.h"

#define EDDYI_URL_MAX ((size_t)(8 * EDDY_KIB))

/* Every string points into the parsed text, or is static. */
struct eddyi_url {
	bool https;
	struct eddyi_host host;
	uint16_t port; /* the scheme's if absent */
	/* Path and query, as sent; begins with '/' unless the path is empty. */
	struct eddy_str target;
	struct eddy_str path;  /* may be empty, meaning "/" */
	struct eddy_str query; /* .ptr NULL if there is none */
};

/* Parse an absolute URL. Return: 0; -EPROTONOSUPPORT for another scheme; -EINVAL. */
int eddyi_url_parse(struct eddy_str text, struct eddyi_url *ret_url);

/* Resolve a reference against a URL (RFC 3986 section 5.2). `ret_text` is the result in the arena,
 * to which `ret_url` points. Return: as eddyi_url_parse(); -ENOMEM. */
int eddyi_url_resolve(struct eddyi_arena *arena, const struct eddyi_url *base,
		      struct eddy_str reference, struct eddyi_url *ret_url,
		      struct eddy_str *ret_text);

/* Format "http://host:port" in lower case, always with the port: equal for URLs of one origin (RFC
 * 6454), and only for those. Return: .ptr NULL on allocation failure. */
struct eddy_str eddyi_url_origin(struct eddyi_arena *arena, const struct eddyi_url *url);

/* Format the value of a host field, with the port unless it is the scheme's.
 * Return: .ptr NULL on allocation failure. */
struct eddy_str eddyi_url_host_field(struct eddyi_arena *arena, const struct eddyi_url *url);

bool eddyi_url_is_same_origin(const struct eddyi_url *a, const struct eddyi_url *b);

#endif
