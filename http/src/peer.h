/* peer.h: who asks, found out when somebody wants to know. */
#ifndef EDDYI_PEER_H
#define EDDYI_PEER_H

#include <eddy/peer.h>
#include <netinet/in.h>

struct eddyi_asker {
	struct eddy_peer peer;
	char text[INET6_ADDRSTRLEN]; /* that `peer` points to */
	bool secure;
	struct eddy_str host; /* that a trusted proxy was asked for; empty when nobody says */
};

/* Who asks; of this request's arena. */
const struct eddyi_asker *eddyi_asker_of(const struct eddy_req *req);

#endif
