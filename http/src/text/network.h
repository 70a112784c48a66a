/* network.h: IP addresses, networks, and trusted networks. */
#ifndef EDDYI_NETWORK_H
#define EDDYI_NETWORK_H

#include "arena.h"

#include <eddy/net.h>

/* An IPv4 address is ::ffff:a.b.c.d, and equals the IPv4 one. */
struct eddyi_ip {
	unsigned char bytes[16];
};

/* The addresses that share the first `bits` bits with `ip`. */
struct eddyi_network {
	struct eddyi_ip ip;
	unsigned bits;
};

struct eddyi_trust {
	struct eddyi_network *networks;
	size_t count;
	bool unix_sockets;
};

/* Parse an address: canonical IPv4, or IPv6 without brackets and zone. Return: 0, -EINVAL. */
int eddyi_ip_parse(struct eddy_str text, struct eddyi_ip *ret_ip);

/* Parse ADDRESS or ADDRESS/BITS. Return: 0; -EINVAL, also if a bit after the first BITS is set. */
int eddyi_network_parse(struct eddy_str text, struct eddyi_network *ret_network);

bool eddyi_network_has(const struct eddyi_network *network, const struct eddyi_ip *ip);

/* Add a network, or "unix" for all unix sockets. Return: 0, -EINVAL, -ENOMEM. */
int eddyi_trust_add(struct eddyi_trust *trust, struct eddyi_arena *arena, struct eddy_str text);

/* Whether eddyi_trust_add() accepts the text. */
bool eddyi_trust_accepts(const char *text);

bool eddyi_trust_has(const struct eddyi_trust *trust, const struct eddyi_ip *ip);

/* Get the address of a socket. Return: false if it is not an IP address. */
bool eddyi_ip_from_sockaddr(const struct eddy_sockaddr *addr, struct eddyi_ip *ret_ip,
			    uint16_t *ret_port);

/* Convert to a socket address, of AF_INET if possible. */
void eddyi_ip_to_sockaddr(const struct eddyi_ip *ip, uint16_t port, struct eddy_sockaddr *ret_addr);

#endif
