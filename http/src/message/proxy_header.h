/* proxy_header.h: parses the header of the PROXY protocol, which names the client of a proxy's
 * connection: version 1, a line, and version 2, binary (proxy-protocol.txt of HAProxy).
 *
 * Destinations and extensions (TLVs) of version 2 are checked and discarded, except for a checksum,
 * which must be correct, and for whether the client used TLS. */
#ifndef EDDYI_PROXY_HEADER_H
#define EDDYI_PROXY_HEADER_H

#include "text/network.h"

/* The limit can't be set higher: a part of a header and a receive must fit into an inbox. */
#define EDDYI_PROXY_HEADER_MAX ((size_t)(8 * EDDY_KIB))

enum eddyi_proxied_kind {
	EDDYI_PROXIED_LOCAL,   /* the proxy itself, for example for a health check */
	EDDYI_PROXIED_UNKNOWN, /* no client is named, or its transport is not a stream */
	EDDYI_PROXIED_IP,
	EDDYI_PROXIED_UNIX,
};

enum eddyi_proxied_tls {
	EDDYI_PROXIED_TLS_UNSAID,
	EDDYI_PROXIED_TLS_NO,
	EDDYI_PROXIED_TLS_YES,
};

/* The client that the header names. */
struct eddyi_proxied {
	enum eddyi_proxied_kind kind;
	enum eddyi_proxied_tls tls;
	struct eddyi_ip ip;
	uint16_t port;
};

/* Parse a header at the beginning of the text. One of version 2 has at most `max` bytes.
 * Return: its length; 0 if more bytes are needed; -EBADMSG, -EMSGSIZE. */
ssize_t eddyi_proxy_header_parse(struct eddy_str text, size_t max,
				 struct eddyi_proxied *ret_proxied);

#endif
