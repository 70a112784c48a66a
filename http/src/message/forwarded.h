/* forwarded.h: the client according to proxies: the field Forwarded (RFC 7239), and the X-Forwarded
 * fields, which have no standard.
 *
 * The values came through a trusted proxy, but most originate from its client. A malformed value
 * makes the client unknown, never trusted. */
#ifndef EDDYI_FORWARDED_H
#define EDDYI_FORWARDED_H

#include "text/network.h"

enum eddyi_hop_kind {
	EDDYI_HOP_NONE,    /* no field */
	EDDYI_HOP_UNSAID,  /* the last proxy's entry does not name a client */
	EDDYI_HOP_UNKNOWN, /* not an address, or malformed */
	EDDYI_HOP_IP,
};

struct eddyi_hop {
	enum eddyi_hop_kind kind;
	struct eddyi_ip ip;
	uint16_t port; /* 0 if absent */
};

struct eddyi_forwarded {
	struct eddyi_hop client;
	struct eddy_str proto; /* "http" or "https"; empty if absent */
	struct eddy_str host;  /* valid, or empty if absent; in the arena or the field */
};

/* Parse the joined Forwarded fields. Return: 0, -ENOMEM. */
int eddyi_forwarded_parse(struct eddyi_arena *arena, struct eddy_str value,
			  const struct eddyi_trust *trust, struct eddyi_forwarded *ret_forwarded);

/* Parse X-Forwarded-For, -Proto and -Host, each joined. Of the latter two the last entry counts. */
void eddyi_forwarded_parse_x(struct eddy_str hops, struct eddy_str proto, struct eddy_str host,
			     const struct eddyi_trust *trust,
			     struct eddyi_forwarded *ret_forwarded);

#endif
