/* eddy/peer.h: the client's address and scheme, even behind trusted reverse proxies and load
 * balancers.
 *
 * The peer of a request is the connection's other end, or the client that one of .trusted_proxies
 * (eddy/app.h) names in a PROXY header (.proxy_protocol) or in header fields (.forwarded). After a
 * PROXY header, the address in it counts as the other end: fields are read only if it is a trusted
 * proxy too.
 *
 * Proxies append their client to the Forwarded field (RFC 7239) or X-Forwarded-For. The peer is the
 * last address there that is not a trusted proxy, else the first; those before it are unverified.
 */
#ifndef EDDY_PEER_H
#define EDDY_PEER_H

#include <eddy/app.h>
#include <eddy/net.h>

EDDY_BEGIN_DECLS

struct eddy_peer {
	/* The address: AF_INET (also for an IPv4-mapped IPv6 address), AF_INET6 or AF_UNIX. The
	 * port is 0 if a proxy does not send it. AF_UNSPEC: unknown, since the connection was
	 * reset, or the proxy does not know it or sent it malformed. */
	struct eddy_sockaddr addr;
	struct eddy_str text; /* "192.0.2.7", "2001:db8::7", "unix" or "unknown" */
	bool is_forwarded;    /* named by a proxy, not the connection's other end */
};

/* Get the client of a request. It lives as long as the request. Never returns NULL. */
EDDY_API const struct eddy_peer *eddy_req_peer(const struct eddy_req *req);

/* Tell whether the peer is on this machine: a loopback address or a unix socket. For a forwarded
 * peer, that is the proxy's machine. */
EDDY_API bool eddy_peer_is_local(const struct eddy_peer *peer);

/* Tell whether the client's request came over TLS, to this server or to the proxy before it. A
 * PROXY header's PP2_TYPE_SSL extension decides, even if the proxy's own connection is TLS; without
 * it, the connection itself does. */
EDDY_API bool eddy_req_is_secure(const struct eddy_req *req);

/* Get "https" or "http", by the rule of eddy_req_is_secure(). */
EDDY_API struct eddy_str eddy_req_scheme(const struct eddy_req *req);

EDDY_END_DECLS

#endif
