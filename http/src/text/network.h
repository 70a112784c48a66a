/* network.h: IP addresses and networks of them, and which of them are trusted. */
#ifndef EDDYI_NETWORK_H
#define EDDYI_NETWORK_H

#include "arena.h"

#include <eddy/net.h>

/* An IPv4 address is ::ffff:a.b.c.d: the two are one and the same client. */
struct eddyi_ip {
	unsigned char bytes[16];
};

/* The addresses whose first `bits` bits are those of `ip`. */
struct eddyi_network {
	struct eddyi_ip ip;
	unsigned bits;
};

/* Who is believed. */
struct eddyi_trust {
	struct eddyi_network *networks;
	size_t count;
	bool unix_sockets;
};

/* Parse an address in its canonical IPv4 form, or IPv6 without brackets or zone. Return: 0, -EINVAL. */
int eddyi_ip_parse(struct eddy_str text, struct eddyi_ip *ret_ip);

/* Parse ADDRESS or ADDRESS/BITS. Return: 0; -EINVAL, also when a bit behind the first BITS is set. */
int eddyi_network_parse(struct eddy_str text, struct eddyi_network *ret_network);

bool eddyi_network_has(const struct eddyi_network *network, const struct eddyi_ip *ip);

/* Add a network, or "unix" for all who come by a unix socket. Return: 0, -EINVAL, -ENOMEM. */
int eddyi_trust_add(struct eddyi_trust *trust, struct eddyi_arena *arena, struct eddy_str text);

/* Whether eddyi_trust_add() takes it. */
bool eddyi_trust_accepts(const char *text);

bool eddyi_trust_has(const struct eddyi_trust *trust, const struct eddyi_ip *ip);

/* The address of a socket. Return: false when it is not one of IP. */
bool eddyi_ip_from_sockaddr(const struct eddy_sockaddr *addr, struct eddyi_ip *ret_ip,
			    uint16_t *ret_port);

/* The address as one of a socket, of AF_INET where it is one. */
void eddyi_ip_to_sockaddr(const struct eddyi_ip *ip, uint16_t port, struct eddy_sockaddr *ret_addr);

#endif
