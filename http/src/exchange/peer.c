#include "peer.h"

#include "message/forwarded.h"

#include <eddy/internal/outside.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

static void set_unknown(struct eddy_peer *peer)
{
	peer->addr = (struct eddy_sockaddr){ .addr.any.sa_family = AF_UNSPEC };
	peer->text = EDDY_STR("unknown");
}

static void set_unix(struct eddy_peer *peer, const struct eddy_sockaddr *addr)
{
	peer->addr = *addr;
	peer->text = EDDY_STR("unix");
}

/* `text` receives the address's text. */
static void set_ip(struct eddy_peer *peer, char text[INET6_ADDRSTRLEN], const struct eddyi_ip *ip,
		   uint16_t port)
{
	struct eddy_sockaddr *addr = &peer->addr;
	bool is_v4;

	eddyi_ip_to_sockaddr(ip, port, addr);
	is_v4 = addr->addr.any.sa_family == AF_INET;
	inet_ntop(addr->addr.any.sa_family,
		  is_v4 ? (void *)&addr->addr.in.sin_addr : (void *)&addr->addr.in6.sin6_addr, text,
		  INET6_ADDRSTRLEN);
	peer->text = eddy_str_from(text);
}

struct eddyi_end *eddyi_end_new(const struct eddy_sockaddr *addr, const struct eddyi_trust *trust)
{
	struct eddyi_end *end = calloc(1, sizeof(*end));
	struct eddyi_ip ip;
	uint16_t port;

	if (!end)
		return NULL;
	if (eddyi_ip_from_sockaddr(addr, &ip, &port)) {
		set_ip(&end->peer, end->text, &ip, port);
		end->is_trusted = eddyi_trust_has(trust, &ip);
	} else {
		set_unix(&end->peer, addr);
		end->is_trusted = trust->unix_sockets;
	}
	return end;
}

void eddyi_end_introduce(struct eddyi_end *end, const struct eddyi_trust *trust,
			 const struct eddyi_proxied *proxied)
{
	struct eddy_peer *peer = &end->peer;

	if (proxied->kind == EDDYI_PROXIED_LOCAL)
		return;
	if (proxied->kind == EDDYI_PROXIED_IP)
		set_ip(peer, end->text, &proxied->ip, proxied->port);
	else if (proxied->kind == EDDYI_PROXIED_UNIX)
		set_unix(peer, &(struct eddy_sockaddr){ .addr.any.sa_family = AF_UNIX,
							.len = sizeof(sa_family_t) });
	else
		set_unknown(peer);
	/* A unix socket of the proxy's client is not trusted as one of this server. */
	end->is_trusted = proxied->kind == EDDYI_PROXIED_IP && eddyi_trust_has(trust, &proxied->ip);
	end->tls = proxied->tls;
	peer->is_forwarded = true;
}

/* Get the other end of the connection. Return: whether it is trusted. */
static bool find_end(const struct eddy_req *req, struct eddyi_asker *asker)
{
	const struct eddyi_end *end = req->stream->verbs->end(req);

	if (!end) {
		set_unknown(&asker->peer);
		return false;
	}
	asker->peer = end->peer;
	if (end->tls)
		asker->secure = end->tls == EDDYI_PROXIED_TLS_YES;
	return end->is_trusted;
}

/* Join the fields of a name into one value. Return: 0, -ENOMEM. */
static int join(struct eddyi_head *head, const char *name, struct eddy_str *ret_value)
{
	*ret_value = eddyi_head_join(head, name);
	return !ret_value->ptr && eddyi_head_find(head, eddy_str_from(name)).ptr ? -ENOMEM : 0;
}

static int read_x(struct eddyi_head *head, const struct eddyi_trust *trust,
		  struct eddyi_forwarded *forwarded)
{
	struct eddy_str hops, proto, host;
	int r = join(head, "x-forwarded-for", &hops);

	if (r == 0)
		r = join(head, "x-forwarded-proto", &proto);
	if (r == 0)
		r = join(head, "x-forwarded-host", &host);
	if (r == 0)
		eddyi_forwarded_parse_x(hops, proto, host, trust, forwarded);
	return r;
}

static int read_rfc7239(struct eddyi_head *head, const struct eddyi_trust *trust,
			struct eddyi_forwarded *forwarded)
{
	struct eddy_str value;
	int r = join(head, "forwarded", &value);

	return r < 0 ? r : eddyi_forwarded_parse(head->arena, value, trust, forwarded);
}

/* Read the fields that the app is configured to read. Return: 0, -ENOMEM. */
static int read_fields(struct eddy_req *req, struct eddyi_forwarded *ret_forwarded)
{
	const struct eddyi_trust *trust = &req->app->trust;

	switch (req->app->options.forwarded) {
	case EDDY_FORWARDED_X:
		return read_x(&req->head, trust, ret_forwarded);
	case EDDY_FORWARDED_RFC7239:
		return read_rfc7239(&req->head, trust, ret_forwarded);
	case EDDY_FORWARDED_NONE:
		break;
	}
	*ret_forwarded = (struct eddyi_forwarded){ .client.kind = EDDYI_HOP_NONE };
	return 0;
}

/* Get the client from the fields of a trusted proxy. */
static void find_client(struct eddy_req *req, struct eddyi_asker *asker)
{
	struct eddyi_forwarded forwarded = { .client.kind = EDDYI_HOP_UNKNOWN };

	/* Without memory the client is unknown, rather than the proxy. */
	if (read_fields(req, &forwarded) < 0)
		forwarded = (struct eddyi_forwarded){ .client.kind = EDDYI_HOP_UNKNOWN };
	if (forwarded.client.kind == EDDYI_HOP_IP)
		set_ip(&asker->peer, asker->text, &forwarded.client.ip, forwarded.client.port);
	else if (forwarded.client.kind != EDDYI_HOP_NONE)
		set_unknown(&asker->peer);
	asker->peer.is_forwarded |= forwarded.client.kind != EDDYI_HOP_NONE;
	if (forwarded.proto.len)
		asker->secure = eddy_str_eq_z(forwarded.proto, "https");
	asker->host = forwarded.host;
}

const struct eddyi_asker *eddyi_asker_of(const struct eddy_req *const_req)
{
	static const struct eddyi_asker nobody = {
		.peer = { .addr.addr.any.sa_family = AF_UNSPEC, .text = { "unknown", 7 } },
	};
	/* Caching does not change the request. */
	struct eddy_req *req = (struct eddy_req *)const_req;
	struct eddyi_asker *asker = req->asker;

	if (asker)
		return asker;
	asker = eddyi_arena_alloc(&req->arena, sizeof(*asker));
	if (!asker)
		return &nobody;
	*asker = (struct eddyi_asker){ .secure = req->stream->tls != NULL };
	if (find_end(req, asker))
		find_client(req, asker);
	req->asker = asker;
	return asker;
}

const struct eddy_peer *eddy_req_peer(const struct eddy_req *req)
{
	return &eddyi_asker_of(req)->peer;
}

bool eddy_peer_is_local(const struct eddy_peer *peer)
{
	const struct eddy_sockaddr *addr = &peer->addr;

	switch (addr->addr.any.sa_family) {
	case AF_UNIX:
		return true;
	case AF_INET:
		return ntohl(addr->addr.in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(&addr->addr.in6.sin6_addr);
	default:
		return false;
	}
}

bool eddy_req_is_secure(const struct eddy_req *req)
{
	return eddyi_asker_of(req)->secure;
}

struct eddy_str eddy_req_scheme(const struct eddy_req *req)
{
	return eddy_req_is_secure(req) ? EDDY_STR("https") : EDDY_STR("http");
}
