#include "host.h"

#include <arpa/inet.h>
#include <errno.h>

#define NAME_MAX_LEN 255
#define LABEL_MAX_LEN 63

static bool is_ipv6(struct eddy_str text)
{
	unsigned char address[16];
	char copy[INET6_ADDRSTRLEN];

	if (text.len >= sizeof(copy) || memchr(text.ptr, 0, text.len))
		return false;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = 0;
	return inet_pton(AF_INET6, copy, address) == 1;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Whether a text is four numbers up to 255 without leading zeros. */
static bool is_ipv4(struct eddy_str text)
{
	unsigned parts = 0, number = 0, digits = 0;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (c == '.' && digits) {
			digits = number = 0;
			parts++;
			continue;
		}
		if (!is_digit(c) || (digits && !number))
			return false;
		number = number * 10 + (unsigned)(c - '0');
		digits++;
		if (number > UINT8_MAX)
			return false;
	}
	return digits && parts == 3;
}

static bool is_of_label(char c)
{
	static const bool of_label[256] = {
		['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true,
		['-'] = true,         ['_'] = true,
	};

	return of_label[(unsigned char)c];
}

static int parse_name(struct eddy_str name, enum eddyi_host_kind *ret_kind)
{
	size_t len = name.len, from = 0;

	if (!len || len > NAME_MAX_LEN)
		return -EINVAL;
	if (name.ptr[len - 1] == '.')
		len--; /* the DNS root */
	for (size_t i = 0;; i++) {
		if (i < len && is_of_label(name.ptr[i]))
			continue;
		if (i == from || i - from > LABEL_MAX_LEN)
			return -EINVAL;
		if (i == len)
			break;
		if (name.ptr[i] != '.')
			return -EINVAL;
		from = i + 1;
	}
	if (!is_digit(name.ptr[from])) {
		*ret_kind = EDDYI_HOST_NAME;
		return 0;
	}
	if (!is_ipv4(name))
		return -EINVAL;
	*ret_kind = EDDYI_HOST_IPV4;
	return 0;
}

/* Parse the rest after the host: empty, ":" or ":port". */
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

static int parse(struct eddy_str text, struct eddyi_host *ret_host)
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
		if (!is_ipv6(host.name))
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

#define REMEMBERED_MAX 64

int eddyi_host_parse(struct eddy_str text, struct eddyi_host *ret_host)
{
	/* Cache the last valid host, since clients repeat it. */
	static _Thread_local struct {
		size_t len; /* 0: empty */
		char text[REMEMBERED_MAX];
		size_t name_at;
		struct eddyi_host host;
	} last;
	int r;

	if (text.len && text.len == last.len && memcmp(text.ptr, last.text, text.len) == 0) {
		*ret_host = last.host;
		ret_host->name.ptr = text.ptr + last.name_at;
		return 0;
	}
	r = parse(text, ret_host);
	if (r == 0 && text.len <= REMEMBERED_MAX) {
		last.len = text.len;
		memcpy(last.text, text.ptr, text.len);
		last.name_at = (size_t)(ret_host->name.ptr - text.ptr);
		last.host = *ret_host;
	}
	return r;
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
