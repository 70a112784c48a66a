/* host.h: the host and port of a Host field or an authority (RFC 9110 section 7.2, RFC 3986
 * section 3.2), read more narrowly than the grammar of URIs: what is no name of a machine is an
 * error, so that no two readers of one request can disagree about who was asked.
 *
 *   - a name: labels of 1 to 63 letters, digits, '-' and '_', at most 255 bytes, a last dot allowed,
 *   - where the last label begins with a digit, the whole must be a dotted quad in its canonical
 *     form: "127.1", "0x7f.1", "127.0.0.01" and "127.0.0.1." are none,
 *   - an IPv6 address in brackets, without a zone,
 *   - then, if at all, ':' and a port of at most 65535; "example.org:" has none (RFC 3986 3.2.3).
 * No userinfo, percent escape, comma, blank, path, or byte over 0x7f.
 */
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
	struct eddy_str name; /* as written, without brackets; points into what was parsed */
	bool has_port;
	uint16_t port;
};

/* Parse a host with or without a port. Return: 0, -EINVAL. */
int eddyi_host_parse(struct eddy_str text, struct eddyi_host *ret_host);

/* Tell whether the host is an IP address or a name that RFC 6761 keeps for this machine:
 * `localhost` and all below it. No name in the DNS can be made to point here under these, which is
 * what a server on a developer's machine checks against DNS rebinding. */
bool eddyi_host_is_local_or_ip(const struct eddyi_host *host);

#endif
