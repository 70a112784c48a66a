/* peer.h: the client of a request, determined on first use. */
#ifndef EDDYI_PEER_H
#define EDDYI_PEER_H

#include "exchange_state.h"
#include "message/proxy_header.h"

#include <eddy/peer.h>
#include <netinet/in.h>

/* The other end of a connection, or the client named by its PROXY header; it never changes. */
struct eddyi_end {
	struct eddy_peer peer;
	char text[INET6_ADDRSTRLEN]; /* of `peer` */
	bool is_trusted;
	enum eddyi_proxied_tls tls; /* as the PROXY header says */
};

/* Return: NULL on allocation failure. */
struct eddyi_end *eddyi_end_new(const struct eddy_sockaddr *addr, const struct eddyi_trust *trust);

/* Replace a proxy by the client that its PROXY header names. */
void eddyi_end_introduce(struct eddyi_end *end, const struct eddyi_trust *trust,
			 const struct eddyi_proxied *proxied);

struct eddyi_asker {
	struct eddy_peer peer;
	char text[INET6_ADDRSTRLEN]; /* of `peer`, if it is forwarded */
	bool secure;
	struct eddy_str host; /* from a trusted proxy's fields; empty if they have none */
};

/* Get the client, in the request's arena. */
const struct eddyi_asker *eddyi_asker_of(const struct eddy_req *req);

#endif
