/* eddy/peer.h: who asks, and how: the other end of the connection, or behind proxies that the app trusts
 * (.trusted_proxies and .forwarded of eddy/app.h) the client that they speak for.
 *
 * A proxy names whom it speaks for in a PROXY header, with which the connection begins (.proxy_protocol of app.h), or in
 * fields of each request. Where there is such a header, whom it names is the connection's other end: the fields count
 * if he is a trusted proxy as well.
 *
 * In fields a proxy names him at the end of a Forwarded field (RFC 7239) or X-Forwarded-For, behind
 * what its own client sent. So the client is the last hop there that is no trusted proxy; what stands
 * before it is a mere claim. Only the field that .forwarded says is read.
 */
#ifndef EDDY_PEER_H
#define EDDY_PEER_H

#include <eddy/app.h>
#include <eddy/net.h>

EDDY_BEGIN_DECLS

struct eddy_peer {
	/* AF_INET (also for an IPv4-mapped IPv6 address), AF_INET6 or AF_UNIX. The port is 0 where a proxy
	 * does not say it. AF_UNSPEC when nobody can tell: the connection has been reset, or a proxy does not
	 * know, or what came through it is malformed. */
	struct eddy_sockaddr addr;
	struct eddy_str
		text; /* "192.0.2.7", "2001:db8::7", "unix" or "unknown", to tell clients apart */
	bool is_forwarded; /* by proxies' word, and not the connection's other end */
};

/* Who asks. Lives as long as the request. Never NULL. */
EDDY_API const struct eddy_peer *eddy_req_peer(const struct eddy_req *req);

/* Whether the peer is on this machine: it has a loopback address, or came by a unix socket. Of one that is forwarded a trusted
 * proxy says so, and means its own machine. */
EDDY_API bool eddy_peer_is_local(const struct eddy_peer *peer);

/* Whether the client's request came to this server, or to the proxy in front of it, by TLS. A PROXY header says so in its
 * extension PP2_TYPE_SSL, also of a connection that is TLS itself: what counts is how the client came to the proxy. One
 * without it leaves it at what the connection is. */
EDDY_API bool eddy_req_is_secure(const struct eddy_req *req);

/* "https" or "http", by the same rule. */
EDDY_API struct eddy_str eddy_req_scheme(const struct eddy_req *req);

EDDY_END_DECLS

#endif
