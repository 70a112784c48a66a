#include "proxy_header.h"

#include <errno.h>

/* Of version 1, including CRLF. */
#define LINE_MAX 107

/* Of version 2: the size before the addresses, and those of the addresses. */
#define FIXED_SIZE 16
#define IP4_SIZE 12
#define IP6_SIZE 36
#define UNIX_SIZE 216

enum { COMMAND_LOCAL, COMMAND_PROXY };
enum { FAMILY_UNSPECIFIED, FAMILY_IP4, FAMILY_IP6, FAMILY_UNIX };
enum { TRANSPORT_UNSPECIFIED, TRANSPORT_STREAM, TRANSPORT_DATAGRAM };
enum { TYPE_CRC32C = 0x03, TYPE_SSL = 0x20 };

#define CLIENT_BY_TLS 0x01

static const char line_begin[6] = "PROXY ";
static const char signature[12] = "\r\n\r\n\0\r\nQUIT\n";

/* Whether the text begins with `begin`, as far as it has arrived. */
static bool begins_with(struct eddy_str text, const char *begin, size_t len)
{
	return memcmp(text.ptr, begin, text.len < len ? text.len : len) == 0;
}

/* ---- version 1 ---- */

static int parse_port(struct eddy_str text, uint16_t *ret_port)
{
	uint64_t port;

	/* Leading zeros are ambiguous. */
	if (eddy_str_to_u64(text, &port) < 0 || port > UINT16_MAX ||
	    (text.len > 1 && text.ptr[0] == '0'))
		return -EBADMSG;
	*ret_port = (uint16_t)port;
	return 0;
}

static int parse_address(struct eddy_str text, bool is_v6, struct eddyi_ip *ret_ip)
{
	bool has_colon = text.len && memchr(text.ptr, ':', text.len);

	return has_colon == is_v6 && eddyi_ip_parse(text, ret_ip) == 0 ? 0 : -EBADMSG;
}

/* Parse the text between "PROXY " and the CRLF. */
static int parse_line(struct eddy_str line, struct eddyi_proxied *proxied)
{
	struct eddy_str fields[5], protocol;
	struct eddyi_ip to;
	uint16_t to_port;
	size_t count = 0;
	bool is_v6;

	eddy_str_split(&line, ' ', &protocol);
	/* The rest is ignored. */
	proxied->kind = EDDYI_PROXIED_UNKNOWN;
	if (eddy_str_eq_z(protocol, "UNKNOWN"))
		return 0;
	is_v6 = eddy_str_eq_z(protocol, "TCP6");
	if (!is_v6 && !eddy_str_eq_z(protocol, "TCP4"))
		return -EBADMSG;
	while (count < 5 && eddy_str_split(&line, ' ', &fields[count]))
		count++;
	if (count != 4 || parse_address(fields[0], is_v6, &proxied->ip) < 0 ||
	    parse_address(fields[1], is_v6, &to) < 0 || parse_port(fields[2], &proxied->port) < 0 ||
	    parse_port(fields[3], &to_port) < 0)
		return -EBADMSG;
	proxied->kind = EDDYI_PROXIED_IP;
	return 0;
}

static ssize_t parse_v1(struct eddy_str text, struct eddyi_proxied *proxied)
{
	const char *end = memmem(text.ptr, text.len < LINE_MAX ? text.len : LINE_MAX, "\r\n", 2);
	struct eddy_str line;
	int r;

	if (!end)
		return text.len < LINE_MAX ? 0 : -EBADMSG;
	line = eddy_str(text.ptr, (size_t)(end - text.ptr));
	r = parse_line(eddy_str_skip(line, sizeof(line_begin)), proxied);
	return r < 0 ? r : (ssize_t)line.len + 2;
}

/* ---- version 2 ---- */

static unsigned byte_at(struct eddy_str bytes, size_t at)
{
	return (unsigned char)bytes.ptr[at];
}

static unsigned short_at(struct eddy_str bytes, size_t at)
{
	return byte_at(bytes, at) << 8 | byte_at(bytes, at + 1);
}

/* Compute the CRC-32C (RFC 9260 appendix A) of a header, with zeros in place of the checksum. */
static uint32_t checksum(struct eddy_str header, size_t at)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < header.len; i++) {
		crc ^= i >= at && i < at + 4 ? 0 : byte_at(header, i);
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static int parse_extensions(struct eddy_str header, size_t at, struct eddyi_proxied *proxied)
{
	bool has_checksum = false, has_tls = false;

	while (at < header.len) {
		size_t len, value = at + 3;
		unsigned type;

		if (header.len - at < 3)
			return -EBADMSG;
		type = byte_at(header, at);
		len = short_at(header, at + 1);
		if (len > header.len - value)
			return -EBADMSG;
		if (type == TYPE_CRC32C) {
			uint32_t said;

			if (has_checksum || len != 4)
				return -EBADMSG;
			said = (uint32_t)short_at(header, value) << 16 |
			       short_at(header, value + 2);
			if (said != checksum(header, value))
				return -EBADMSG;
			has_checksum = true;
		} else if (type == TYPE_SSL) {
			/* Flags, the result of a verification, and nested extensions. */
			if (has_tls || len < 5)
				return -EBADMSG;
			has_tls = true;
			proxied->tls = byte_at(header, value) & CLIENT_BY_TLS ?
					       EDDYI_PROXIED_TLS_YES :
					       EDDYI_PROXIED_TLS_NO;
		}
		at = value + len;
	}
	return 0;
}

/* Parse the client's address. Return: the size of the addresses; -EBADMSG if they are truncated. */
static ssize_t parse_addresses(struct eddy_str block, unsigned family,
			       struct eddyi_proxied *proxied)
{
	struct eddy_sockaddr addr = { .len = 0 };

	if (family == FAMILY_IP4 && block.len >= IP4_SIZE) {
		addr.addr.in.sin_family = AF_INET;
		memcpy(&addr.addr.in.sin_addr, block.ptr, 4);
		memcpy(&addr.addr.in.sin_port, block.ptr + 8, 2);
		eddyi_ip_from_sockaddr(&addr, &proxied->ip, &proxied->port);
		proxied->kind = EDDYI_PROXIED_IP;
		return IP4_SIZE;
	}
	if (family == FAMILY_IP6 && block.len >= IP6_SIZE) {
		memcpy(proxied->ip.bytes, block.ptr, sizeof(proxied->ip.bytes));
		proxied->port = (uint16_t)short_at(block, 32);
		proxied->kind = EDDYI_PROXIED_IP;
		return IP6_SIZE;
	}
	if (family == FAMILY_UNIX && block.len >= UNIX_SIZE) {
		proxied->kind = EDDYI_PROXIED_UNIX;
		return UNIX_SIZE;
	}
	return -EBADMSG;
}

static int parse_whole(struct eddy_str header, struct eddyi_proxied *proxied)
{
	unsigned family = byte_at(header, 13) >> 4, transport = byte_at(header, 13) & 15;
	ssize_t len;

	/* The rest is ignored. */
	proxied->kind = EDDYI_PROXIED_LOCAL;
	if ((byte_at(header, 12) & 15) == COMMAND_LOCAL)
		return 0;
	proxied->kind = EDDYI_PROXIED_UNKNOWN;
	if (family == FAMILY_UNSPECIFIED || transport != TRANSPORT_STREAM)
		return 0;
	len = parse_addresses(eddy_str_skip(header, FIXED_SIZE), family, proxied);
	return len < 0 ? (int)len : parse_extensions(header, FIXED_SIZE + (size_t)len, proxied);
}

static ssize_t parse_v2(struct eddy_str text, size_t max, struct eddyi_proxied *proxied)
{
	size_t len;
	int r;

	if (text.len > 12 &&
	    (byte_at(text, 12) >> 4 != 2 || (byte_at(text, 12) & 15) > COMMAND_PROXY))
		return -EBADMSG;
	if (text.len > 13 &&
	    (byte_at(text, 13) >> 4 > FAMILY_UNIX || (byte_at(text, 13) & 15) > TRANSPORT_DATAGRAM))
		return -EBADMSG;
	if (text.len < FIXED_SIZE)
		return 0;
	len = FIXED_SIZE + short_at(text, 14);
	if (len > max)
		return -EMSGSIZE;
	if (text.len < len)
		return 0;
	r = parse_whole(eddy_str(text.ptr, len), proxied);
	return r < 0 ? r : (ssize_t)len;
}

ssize_t eddyi_proxy_header_parse(struct eddy_str text, size_t max,
				 struct eddyi_proxied *ret_proxied)
{
	struct eddyi_proxied proxied = { .kind = EDDYI_PROXIED_UNKNOWN };
	ssize_t r;

	if (!text.len)
		return 0;
	if (begins_with(text, signature, sizeof(signature)))
		r = parse_v2(text, max, &proxied);
	else if (begins_with(text, line_begin, sizeof(line_begin)))
		r = parse_v1(text, &proxied);
	else
		r = -EBADMSG;
	if (r > 0)
		*ret_proxied = proxied;
	return r;
}
