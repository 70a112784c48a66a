/* forwarded.h: what proxies say of whom they speak for: Forwarded (RFC 7239), and the X-Forwarded fields
 * that nobody has written down.
 *
 * All of it came through a trusted proxy, and most of it from its client: what is malformed makes the
 * client unknown, and never somebody who is trusted.
 */
#ifndef EDDYI_FORWARDED_H
#define EDDYI_FORWARDED_H

#include "text/network.h"

enum eddyi_hop_kind {
	EDDYI_HOP_NONE,    /* there is no field */
	EDDYI_HOP_UNSAID,  /* there is one, of which the last proxy uses nothing for the client */
	EDDYI_HOP_UNKNOWN, /* not an address, malformed */
	EDDYI_HOP_IP,
};

struct eddyi_hop {
	enum eddyi_hop_kind kind;
	struct eddyi_ip ip;
	uint16_t port; /* 0 when it was not said */
};

struct eddyi_forwarded {
	struct eddyi_hop client;
	struct eddy_str proto; /* "http" or "https"; empty when it was not said */
	struct eddy_str host; /* a valid one; empty when there was none; in the arena or the field */
};

/* Read the Forwarded fields, joined. Return: 0, -ENOMEM. */
int eddyi_forwarded_parse(struct eddyi_arena *arena, struct eddy_str value,
			  const struct eddyi_trust *trust, struct eddyi_forwarded *ret_forwarded);

/* Read X-Forwarded-For, -Proto and -Host, each joined. The latter two are the last proxy's word. */
void eddyi_forwarded_parse_x(struct eddy_str hops, struct eddy_str proto, struct eddy_str host,
			     const struct eddyi_trust *trust,
			     struct eddyi_forwarded *ret_forwarded);

#endif
