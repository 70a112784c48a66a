/* Parsing and formatting addresses. */
#include <eddy/net.h>

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>

#include "net.h"

#define UNIX_PREFIX "unix:"

static int parse_port(struct eddy_str text, uint16_t *ret_port)
{
	uint64_t value;

	if (text.len > 5 || (text.len > 1 && text.ptr[0] == '0'))
		return -EINVAL;
	if (eddy_str_to_u64(text, &value) < 0 || value > UINT16_MAX)
		return -EINVAL;
	*ret_port = (uint16_t)value;
	return 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' ||
	       c == '_';
}

/* Whether `host` is a valid host name. If its last label looks like a number, it is an invalid IPv4
 * address instead: resolvers would take "127.1" for 127.0.0.1. */
static bool is_name(struct eddy_str host)
{
	struct eddy_str label;

	if (host.len && host.ptr[host.len - 1] == '.')
		host.len--;
	if (!host.len || host.len > 253)
		return false;
	while (eddy_str_split(&host, '.', &label)) {
		size_t digits = 0;

		if (!label.len || label.len > 63 || label.ptr[0] == '-')
			return false;
		for (size_t i = 0; i < label.len; i++) {
			if (!is_name_char(label.ptr[i]))
				return false;
			digits += is_digit(label.ptr[i]);
		}
		if (!host.ptr && (digits == label.len || eddy_str_starts(label, EDDY_STR("0x")) ||
				  eddy_str_starts(label, EDDY_STR("0X"))))
			return false;
	}
	return true;
}

/* Make a NUL-terminated copy. Return: false if it does not fit. */
static bool copy(struct eddy_str str, char *text, size_t size)
{
	if (str.len >= size || memchr(str.ptr, 0, str.len))
		return false;
	memcpy(text, str.ptr, str.len);
	text[str.len] = 0;
	return true;
}

static bool parse_ipv4(struct eddy_str host, struct in_addr *ret_addr)
{
	char text[INET_ADDRSTRLEN];

	return copy(host, text, sizeof(text)) && inet_pton(AF_INET, text, ret_addr) == 1;
}

/* Parse an address with an optional zone: fe80::1%eth0, fe80::1%2. */
static bool parse_ipv6(struct eddy_str host, struct sockaddr_in6 *addr)
{
	char text[INET6_ADDRSTRLEN], name[IF_NAMESIZE];
	struct eddy_str zone = host, ip;
	uint64_t number;

	eddy_str_split(&zone, '%', &ip);
	if (!copy(ip, text, sizeof(text)) || inet_pton(AF_INET6, text, &addr->sin6_addr) != 1)
		return false;
	if (!zone.ptr)
		return true;
	if (eddy_str_to_u64(zone, &number) == 0 && number && number <= UINT32_MAX)
		addr->sin6_scope_id = (uint32_t)number;
	else if (copy(zone, name, sizeof(name)))
		addr->sin6_scope_id = if_nametoindex(name);
	return addr->sin6_scope_id;
}

static void set_ipv4(struct eddy_sockaddr *addr, struct in_addr ip, uint16_t port)
{
	*addr = (struct eddy_sockaddr){ .len = sizeof(addr->addr.in) };
	addr->addr.in.sin_family = AF_INET;
	addr->addr.in.sin_port = htons(port);
	addr->addr.in.sin_addr = ip;
}

static void set_ipv6(struct eddy_sockaddr *addr, struct in6_addr ip, uint32_t zone, uint16_t port)
{
	*addr = (struct eddy_sockaddr){ .len = sizeof(addr->addr.in6) };
	addr->addr.in6.sin6_family = AF_INET6;
	addr->addr.in6.sin6_port = htons(port);
	addr->addr.in6.sin6_addr = ip;
	addr->addr.in6.sin6_scope_id = zone;
}

/* RFC 6761 section 6.3: "localhost", and names that end in ".localhost". */
static bool is_localhost(struct eddy_str host)
{
	static const char suffix[] = ".localhost";

	if (host.len && host.ptr[host.len - 1] == '.')
		host.len--;
	if (eddy_str_eq_nocase(host, eddy_str_from("localhost")))
		return true;
	return host.len >= sizeof(suffix) &&
	       eddy_str_eq_nocase(eddy_str_skip(host, host.len - sizeof(suffix) + 1),
				  eddy_str_from(suffix));
}

int eddyi_net_resolve_literal(const struct eddy_address *address, struct eddy_sockaddr *addrs)
{
	struct sockaddr_in6 in6 = { 0 };
	struct in_addr in;

	if (parse_ipv4(address->host, &in)) {
		set_ipv4(&addrs[0], in, address->port);
		return 1;
	}
	if (parse_ipv6(address->host, &in6)) {
		set_ipv6(&addrs[0], in6.sin6_addr, in6.sin6_scope_id, address->port);
		return 1;
	}
	if (!is_name(address->host))
		return -EINVAL;
	if (is_localhost(address->host)) {
		in.s_addr = htonl(INADDR_LOOPBACK);
		set_ipv4(&addrs[0], in, address->port);
		set_ipv6(&addrs[1], in6addr_loopback, 0, address->port);
		return 2;
	}
	return 0;
}

static int parse_unix(struct eddy_str path, struct eddy_address *ret_address)
{
	if (!path.len || eddy_str_eq_z(path, "@"))
		return -EINVAL;
	if (path.len >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return -ENAMETOOLONG;
	*ret_address = (struct eddy_address){ .path = path, .host = { path.ptr, 0 } };
	return 0;
}

int eddy_address_parse(const char *text, struct eddy_address *ret_address)
{
	struct eddy_str rest = eddy_str_from(text);
	struct eddy_address address = { .path = { text, 0 } };
	struct eddy_sockaddr addrs[EDDY_ADDRESSES_MAX];
	struct sockaddr_in6 in6 = { 0 };
	const char *colon = strrchr(text, ':');
	int r;

	if (eddy_str_starts(rest, eddy_str_from(UNIX_PREFIX)))
		return parse_unix(eddy_str_skip(rest, strlen(UNIX_PREFIX)), ret_address);
	if (!colon)
		return -EINVAL;
	address.host = eddy_str(text, (size_t)(colon - text));
	if (parse_port(eddy_str_from(colon + 1), &address.port) < 0)
		return -EINVAL;
	if (address.host.len && text[0] == '[') {
		if (address.host.len < 2 || colon[-1] != ']')
			return -EINVAL;
		address.host = eddy_str(text + 1, address.host.len - 2);
		if (!parse_ipv6(address.host, &in6))
			return -EINVAL;
	} else {
		r = memchr(text, ':', address.host.len) ?
			    -EINVAL :
			    eddyi_net_resolve_literal(&address, addrs);
		if (r < 0)
			return r;
	}
	*ret_address = address;
	return 0;
}

static int format_ipv6(const struct sockaddr_in6 *addr, char *text, size_t size)
{
	char ip[INET6_ADDRSTRLEN], zone[16] = "";

	inet_ntop(AF_INET6, &addr->sin6_addr, ip, sizeof(ip));
	if (addr->sin6_scope_id)
		snprintf(zone, sizeof(zone), "%%%u", addr->sin6_scope_id);
	return snprintf(text, size, "[%s%s]:%u", ip, zone, ntohs(addr->sin6_port));
}

static int format_ipv4(const struct sockaddr_in *addr, char *text, size_t size)
{
	char ip[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &addr->sin_addr, ip, sizeof(ip));
	return snprintf(text, size, "%s:%u", ip, ntohs(addr->sin_port));
}

/* A path need not end in a NUL, and a client's socket has none. */
static int format_unix(const struct sockaddr_un *addr, socklen_t len, char *text, size_t size)
{
	size_t room = len > offsetof(struct sockaddr_un, sun_path) ?
			      len - offsetof(struct sockaddr_un, sun_path) :
			      0;

	if (room > sizeof(addr->sun_path))
		room = sizeof(addr->sun_path);
	if (room && !addr->sun_path[0])
		return snprintf(text, size, UNIX_PREFIX "@%.*s", (int)room - 1, addr->sun_path + 1);
	return snprintf(text, size, UNIX_PREFIX "%.*s", (int)room, addr->sun_path);
}

size_t eddy_sockaddr_format(const struct sockaddr *addr, socklen_t len,
			    char ret_text[EDDY_SOCKADDR_TEXT_MAX])
{
	const size_t size = EDDY_SOCKADDR_TEXT_MAX;

	if (len >= sizeof(struct sockaddr_in) && addr->sa_family == AF_INET)
		return (size_t)format_ipv4((const struct sockaddr_in *)addr, ret_text, size);
	if (len >= sizeof(struct sockaddr_in6) && addr->sa_family == AF_INET6)
		return (size_t)format_ipv6((const struct sockaddr_in6 *)addr, ret_text, size);
	if (len >= sizeof(sa_family_t) && addr->sa_family == AF_UNIX)
		return (size_t)format_unix((const struct sockaddr_un *)addr, len, ret_text, size);
	return (size_t)snprintf(ret_text, size, "unknown");
}

const char *eddy_net_strerror(int error)
{
	error = error < 0 ? -error : error;
	switch (error) {
	case EINVAL:
		return "not an address; write HOST:PORT, [IPv6]:PORT or unix:PATH, with a port of 0 to 65535";
	case ENAMETOOLONG:
		return "the path of a unix socket has at most 107 bytes";
	case ENXIO:
		return "the host name is unknown";
	case EAGAIN:
		return "the host name can't be resolved at the moment";
	case E2BIG:
		return "the host name has too many addresses";
	case EADDRINUSE:
		return "the address is in use; \"ss -ltnp\" shows the process";
	case EADDRNOTAVAIL:
		return "this machine has no such address";
	case EEXIST:
		return "a file that is not a socket exists at that path";
	case EACCES:
		return "permission denied; ports below 1024 are for root or CAP_NET_BIND_SERVICE, and the "
		       "folder of a unix socket must be writable";
	default:
		return strerror(error);
	}
}
