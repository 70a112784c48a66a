/* peer.h: who asks, found out when somebody wants to know. */
#ifndef EDDYI_PEER_H
#define EDDYI_PEER_H

#include <eddy/peer.h>
#include <netinet/in.h>

/* The other end of a connection, which stays who it is. */
struct eddyi_end {
	struct eddy_peer peer;
	char text[INET6_ADDRSTRLEN]; /* that `peer` points to */
	bool is_trusted;
};

struct eddyi_asker {
	struct eddy_peer peer;
	char text[INET6_ADDRSTRLEN]; /* that `peer` points to where a proxy speaks for somebody */
	bool secure;
	struct eddy_str host; /* that a trusted proxy was asked for; empty when nobody says */
};

/* Who asks; of this request's arena. */
const struct eddyi_asker *eddyi_asker_of(const struct eddy_req *req);

#endif
