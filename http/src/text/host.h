/* host.h: parses host and port of a Host field or an authority (RFC 9110 section 7.2, RFC 3986
 * section 3.2). Stricter than the URI grammar, so that every reader finds the same host:
 *
 *   - a name: labels of 1 to 63 letters, digits, '-' and '_', at most 255 bytes, with an optional
 *     final dot,
 *   - if the last label begins with a digit, a canonical dotted quad: not "127.1", "0x7f.1",
 *     "127.0.0.01" or "127.0.0.1.",
 *   - an IPv6 address in brackets, without a zone,
 *   - then optionally ':' and a port up to 65535; "example.org:" has none (RFC 3986 section 3.2.3).
 *
 * Userinfo, percent escapes, commas, blanks, paths, and bytes over 0x7f are rejected. */
#ifndef EDDYI_HOST_H
#define EDDYI_HOST_H

#include <eddy/str.h>

enum eddyi_host_kind {
	EDDYI_HOST_NAME,
	EDDYI_HOST_IPV4,
	EDDYI_HOST_IPV6,
};

struct eddyi_host {
	enum eddyi_host_kind kind;
	struct eddy_str name; /* without brackets; points into the parsed text */
	bool has_port;
	uint16_t port;
};

/* Parse a host with an optional port. Return: 0, -EINVAL. */
int eddyi_host_parse(struct eddy_str text, struct eddyi_host *ret_host);

/* Whether the host is an IP address, `localhost`, or a name below it (RFC 6761). No DNS record can
 * make such a name point here, so checking it prevents DNS rebinding. */
bool eddyi_host_is_local_or_ip(const struct eddyi_host *host);

#endif
