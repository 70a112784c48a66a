/* peer.h: who asks, found out when somebody wants to know. */
#ifndef EDDYI_PEER_H
#define EDDYI_PEER_H

#include "exchange_state.h"
#include "message/proxy_header.h"

#include <eddy/peer.h>
#include <netinet/in.h>

/* The other end of a connection, or whom a PROXY header has named instead; it stays who it is. */
struct eddyi_end {
	struct eddy_peer peer;
	char text[INET6_ADDRSTRLEN]; /* that `peer` points to */
	bool is_trusted;
	enum eddyi_proxied_tls tls; /* by the header's word */
};

/* Return: NULL when the client has reset the connection, or memory is out. */
struct eddyi_end *eddyi_end_new(int fd, const struct eddyi_trust *trust);

/* The other end is a proxy, which has said whom it speaks for. */
void eddyi_end_introduce(struct eddyi_end *end, const struct eddyi_trust *trust,
			 const struct eddyi_proxied *proxied);

struct eddyi_asker {
	struct eddy_peer peer;
	char text[INET6_ADDRSTRLEN]; /* that `peer` points to where a proxy speaks for somebody */
	bool secure;
	struct eddy_str host; /* that a trusted proxy was asked for; empty when nobody says */
};

/* Who asks; of this request's arena. */
const struct eddyi_asker *eddyi_asker_of(const struct eddy_req *req);

#endif
