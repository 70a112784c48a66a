/* proxy_header.h: the header of the PROXY protocol, with which a proxy says whom a connection comes from, in front
 * of anything else: version 1, a line, and version 2, binary (proxy-protocol.txt of HAProxy).
 *
 * Destinations are checked and not kept, as are version 2's extensions (TLVs), but for a checksum, which must be right,
 * and for whether the client came by TLS.
 */
#ifndef EDDYI_PROXY_HEADER_H
#define EDDYI_PROXY_HEADER_H

#include "text/network.h"

/* The limit may be set up to this: with a receive behind it, a part of a header fits into an inbox. */
#define EDDYI_PROXY_HEADER_MAX ((size_t)(8 * EDDY_KIB))

enum eddyi_proxied_kind {
	EDDYI_PROXIED_LOCAL, /* nobody: the proxy has come itself, as to see whether we are there */
	EDDYI_PROXIED_UNKNOWN, /* it does not say whom, or by what is no stream */
	EDDYI_PROXIED_IP,
	EDDYI_PROXIED_UNIX,
};

enum eddyi_proxied_tls {
	EDDYI_PROXIED_TLS_UNSAID,
	EDDYI_PROXIED_TLS_NO,
	EDDYI_PROXIED_TLS_YES,
};

/* The client that it names. */
struct eddyi_proxied {
	enum eddyi_proxied_kind kind;
	enum eddyi_proxied_tls tls;
	struct eddyi_ip ip;
	uint16_t port;
};

/* Parse the header that the text begins with; one of version 2 has `max` bytes at most.
 * Return: its length; 0 when more has to come; -EBADMSG when it is none, -EMSGSIZE when it is too long. */
ssize_t eddyi_proxy_header_parse(struct eddy_str text, size_t max,
				 struct eddyi_proxied *ret_proxied);

#endif
