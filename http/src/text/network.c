#include "network.h"

#include <arpa/inet.h>
#include <errno.h>

#define MAPPED_BITS 96

static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

int eddyi_ip_parse(struct eddy_str text, struct eddyi_ip *ret_ip)
{
	char copy[INET6_ADDRSTRLEN];
	struct eddyi_ip ip = { { 0 } };

	if (!text.len || text.len >= sizeof(copy) || memchr(text.ptr, 0, text.len))
		return -EINVAL;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = 0;
	if (inet_pton(AF_INET, copy, ip.bytes + sizeof(mapped)) == 1)
		memcpy(ip.bytes, mapped, sizeof(mapped));
	else if (inet_pton(AF_INET6, copy, ip.bytes) != 1)
		return -EINVAL;
	*ret_ip = ip;
	return 0;
}

static bool bit_of(const struct eddyi_ip *ip, unsigned bit)
{
	return ip->bytes[bit / 8] >> (7 - bit % 8) & 1;
}

int eddyi_network_parse(struct eddy_str text, struct eddyi_network *ret_network)
{
	struct eddyi_network network = { .bits = 128 };
	struct eddy_str rest = text, ip;
	uint64_t bits;
	bool is_v4;

	eddy_str_split(&rest, '/', &ip);
	if (eddyi_ip_parse(ip, &network.ip) < 0)
		return -EINVAL;
	is_v4 = !memchr(ip.ptr, ':', ip.len);
	if (rest.ptr) {
		if (eddy_str_to_u64(rest, &bits) < 0 || bits > (is_v4 ? 32 : 128))
			return -EINVAL;
		network.bits = (unsigned)bits + (is_v4 ? MAPPED_BITS : 0);
	}
	/* 10.1.2.3/8 is probably a mistake. */
	for (unsigned bit = network.bits; bit < 128; bit++)
		if (bit_of(&network.ip, bit))
			return -EINVAL;
	*ret_network = network;
	return 0;
}

bool eddyi_network_has(const struct eddyi_network *network, const struct eddyi_ip *ip)
{
	unsigned bytes = network->bits / 8, bits = network->bits % 8;

	if (memcmp(network->ip.bytes, ip->bytes, bytes) != 0)
		return false;
	return !bits || (network->ip.bytes[bytes] ^ ip->bytes[bytes]) >> (8 - bits) == 0;
}

int eddyi_trust_add(struct eddyi_trust *trust, struct eddyi_arena *arena, struct eddy_str text)
{
	struct eddyi_network network, *networks;
	int r;

	if (eddy_str_eq_z(text, "unix")) {
		trust->unix_sockets = true;
		return 0;
	}
	r = eddyi_network_parse(text, &network);
	if (r < 0)
		return r;
	networks = eddyi_arena_alloc(arena, (trust->count + 1) * sizeof(*networks));
	if (!networks)
		return -ENOMEM;
	if (trust->count)
		memcpy(networks, trust->networks, trust->count * sizeof(*networks));
	networks[trust->count++] = network;
	trust->networks = networks;
	return 0;
}

bool eddyi_trust_accepts(const char *text)
{
	struct eddyi_network network;

	return strcmp(text, "unix") == 0 || eddyi_network_parse(eddy_str_from(text), &network) == 0;
}

bool eddyi_trust_has(const struct eddyi_trust *trust, const struct eddyi_ip *ip)
{
	for (size_t i = 0; i < trust->count; i++)
		if (eddyi_network_has(&trust->networks[i], ip))
			return true;
	return false;
}

bool eddyi_ip_from_sockaddr(const struct eddy_sockaddr *addr, struct eddyi_ip *ret_ip,
			    uint16_t *ret_port)
{
	struct eddyi_ip ip = { { 0 } };

	if (addr->addr.any.sa_family == AF_INET) {
		memcpy(ip.bytes, mapped, sizeof(mapped));
		memcpy(ip.bytes + sizeof(mapped), &addr->addr.in.sin_addr, 4);
	} else if (addr->addr.any.sa_family == AF_INET6) {
		memcpy(ip.bytes, &addr->addr.in6.sin6_addr, sizeof(ip.bytes));
	} else {
		return false;
	}
	*ret_ip = ip;
	/* At the same offset in both families. */
	*ret_port = ntohs(addr->addr.in.sin_port);
	return true;
}

void eddyi_ip_to_sockaddr(const struct eddyi_ip *ip, uint16_t port, struct eddy_sockaddr *ret_addr)
{
	struct eddy_sockaddr addr = { .len = 0 };

	if (memcmp(ip->bytes, mapped, sizeof(mapped)) == 0) {
		addr.len = sizeof(addr.addr.in);
		addr.addr.in.sin_family = AF_INET;
		addr.addr.in.sin_port = htons(port);
		memcpy(&addr.addr.in.sin_addr, ip->bytes + sizeof(mapped), 4);
	} else {
		addr.len = sizeof(addr.addr.in6);
		addr.addr.in6.sin6_family = AF_INET6;
		addr.addr.in6.sin6_port = htons(port);
		memcpy(&addr.addr.in6.sin6_addr, ip->bytes, sizeof(ip->bytes));
	}
	*ret_addr = addr;
}
