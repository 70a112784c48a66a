#include "host.h"

#include <arpa/inet.h>
#include <errno.h>

#define NAME_MAX_LEN 255
#define LABEL_MAX_LEN 63

/* Let inet_pton judge: it takes IPv4 in the canonical form alone. */
static bool is_address(int family, struct eddy_str text)
{
	unsigned char address[16];
	char copy[INET6_ADDRSTRLEN];

	if (text.len >= sizeof(copy) || memchr(text.ptr, 0, text.len))
		return false;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = 0;
	return inet_pton(family, copy, address) == 1;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_label(struct eddy_str label)
{
	if (!label.len || label.len > LABEL_MAX_LEN)
		return false;
	for (size_t i = 0; i < label.len; i++) {
		char c = label.ptr[i];

		if (!is_digit(c) && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && c != '-' &&
		    c != '_')
			return false;
	}
	return true;
}

static int parse_name(struct eddy_str name, enum eddyi_host_kind *ret_kind)
{
	struct eddy_str rest = name, label = { 0 };

	if (!name.len || name.len > NAME_MAX_LEN)
		return -EINVAL;
	if (name.ptr[name.len - 1] == '.')
		rest.len--; /* the root, said aloud */
	while (eddy_str_split(&rest, '.', &label))
		if (!is_label(label))
			return -EINVAL;
	if (!is_digit(label.ptr[0])) {
		*ret_kind = EDDYI_HOST_NAME;
		return 0;
	}
	if (!is_address(AF_INET, name))
		return -EINVAL;
	*ret_kind = EDDYI_HOST_IPV4;
	return 0;
}

/* Parse what follows the host: nothing, ":" or ":port". */
static int parse_port(struct eddy_str text, struct eddyi_host *host)
{
	uint64_t port;

	if (!text.len)
		return 0;
	if (text.ptr[0] != ':')
		return -EINVAL;
	text = eddy_str_skip(text, 1);
	if (!text.len)
		return 0;
	if (eddy_str_to_u64(text, &port) < 0 || port > UINT16_MAX)
		return -EINVAL;
	host->has_port = true;
	host->port = (uint16_t)port;
	return 0;
}

int eddyi_host_parse(struct eddy_str text, struct eddyi_host *ret_host)
{
	struct eddyi_host host = { 0 };
	struct eddy_str rest;
	const char *end;

	if (!text.len)
		return -EINVAL;
	if (text.ptr[0] == '[') {
		end = memchr(text.ptr, ']', text.len);
		if (!end)
			return -EINVAL;
		host.kind = EDDYI_HOST_IPV6;
		host.name = eddy_str(text.ptr + 1, end - text.ptr - 1);
		rest = eddy_str_skip(text, host.name.len + 2);
		if (!is_address(AF_INET6, host.name))
			return -EINVAL;
	} else {
		end = memchr(text.ptr, ':', text.len);
		host.name = eddy_str(text.ptr, end ? (size_t)(end - text.ptr) : text.len);
		rest = eddy_str_skip(text, host.name.len);
		if (parse_name(host.name, &host.kind) < 0)
			return -EINVAL;
	}
	if (parse_port(rest, &host) < 0)
		return -EINVAL;
	*ret_host = host;
	return 0;
}

bool eddyi_host_is_local_or_ip(const struct eddyi_host *host)
{
	static const char suffix[] = ".localhost";
	struct eddy_str name = host->name;

	if (host->kind != EDDYI_HOST_NAME)
		return true;
	if (name.ptr[name.len - 1] == '.')
		name.len--;
	if (eddy_str_eq_nocase(name, eddy_str_from(suffix + 1)))
		return true;
	if (name.len < sizeof(suffix))
		return false;
	name = eddy_str_skip(name, name.len - (sizeof(suffix) - 1));
	return eddy_str_eq_nocase(name, eddy_str_from(suffix));
}
