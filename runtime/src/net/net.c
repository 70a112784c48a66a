/* Addresses, names, and connections. */
#include "net.h"

#include "core/loop.h"

#include <eddy/internal/debug.h>
#include <eddy/internal/outside.h>
#include <eddy/event.h>
#include <eddy/io.h>
#include <eddy/net.h>
#include <eddy/offload.h>
#include <eddy/task.h>
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- parsing and formatting addresses ---- */

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

/* Get a host's addresses if it needs no look-up. Return: how many; 0 if it is a name; -EINVAL. */
static int resolve_literal(const struct eddy_address *address, struct eddy_sockaddr *addrs)
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
		r = memchr(text, ':', address.host.len) ? -EINVAL :
							  resolve_literal(&address, addrs);
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

struct eddy_sockaddr eddyi_net_unix_address(struct eddy_str path)
{
	struct eddy_sockaddr addr = { .addr.un.sun_family = AF_UNIX, .len = sizeof(addr.addr.un) };

	memcpy(addr.addr.un.sun_path, path.ptr, path.len);
	if (path.ptr[0] == '@') {
		/* Each byte counts in an abstract name, so there is no NUL at its end. */
		addr.addr.un.sun_path[0] = 0;
		addr.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path.len);
	}
	return addr;
}

/* ---- host names, resolved by getaddrinfo(3) in the offload pool ---- */

struct query {
	char host[256];
	char port[8];
	struct addrinfo *found;
};

static void query_free(void *arg)
{
	struct query *query = arg;

	if (query->found)
		freeaddrinfo(query->found);
	free(query);
}

static int error_of(int gai)
{
	switch (gai) {
	case 0:
		return 0;
	case EAI_AGAIN:
		return -EAGAIN;
	case EAI_MEMORY:
		return -ENOMEM;
	case EAI_SYSTEM:
		return errno && errno != ECANCELED ? -errno : -EIO;
	default:
		return -ENXIO;
	}
}

static int ask(void *arg)
{
	struct query *query = arg;
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };

	return error_of(eddyi_getaddrinfo_now(query->host, query->port, &hints, &query->found));
}

static bool is_known(const struct eddy_sockaddr *addrs, int count, const struct addrinfo *info)
{
	for (int i = 0; i < count; i++)
		if (addrs[i].len == info->ai_addrlen &&
		    memcmp(&addrs[i].addr, info->ai_addr, info->ai_addrlen) == 0)
			return true;
	return false;
}

/* Collect each address once, in the resolver's order, as many as fit. Return: how many. */
static int collect(const struct addrinfo *info, struct eddy_sockaddr *addrs, bool *ret_more)
{
	int count = 0;

	for (; info; info = info->ai_next) {
		if ((info->ai_family != AF_INET && info->ai_family != AF_INET6) ||
		    is_known(addrs, count, info))
			continue;
		*ret_more = count == EDDY_ADDRESSES_MAX;
		if (*ret_more)
			break;
		addrs[count] = (struct eddy_sockaddr){ .len = info->ai_addrlen };
		memcpy(&addrs[count++].addr, info->ai_addr, info->ai_addrlen);
	}
	return count ? count : -ENXIO;
}

static int resolve(const struct eddy_address *address, struct eddy_sockaddr *addrs, bool *ret_more)
{
	int r = resolve_literal(address, addrs);
	struct query *query;

	*ret_more = false;
	if (r != 0)
		return r;
	query = calloc(1, sizeof(*query));
	if (!query)
		return -ENOMEM;
	snprintf(query->host, sizeof(query->host), "%.*s", EDDY_FMT(address->host));
	snprintf(query->port, sizeof(query->port), "%u", address->port);
	r = eddy_task_self() ? eddy_offload_detached(ask, query, query_free) : ask(query);
	if (r == -ECANCELED)
		return r;
	if (r == 0)
		r = collect(query->found, addrs, ret_more);
	query_free(query);
	return r;
}

/* Like eddy_resolve(), but if there are too many addresses, the first ones are used. */
static int resolve_some(const struct eddy_address *address, struct eddy_sockaddr *addrs)
{
	bool more;

	return resolve(address, addrs, &more);
}

int eddy_resolve(const struct eddy_address *address,
		 struct eddy_sockaddr ret_addrs[EDDY_ADDRESSES_MAX])
{
	struct eddy_sockaddr addrs[EDDY_ADDRESSES_MAX];
	bool more;
	int r = resolve(address, addrs, &more);

	if (more)
		return -E2BIG;
	if (r > 0)
		memcpy(ret_addrs, addrs, (size_t)r * sizeof(*addrs));
	return r;
}

/* ---- connecting by name: the next address is tried before the last has failed (RFC 8305) ---- */

/* RFC 8305 section 8. */
#define ATTEMPT_DELAY_DEFAULT (250 * EDDY_MS)
#define ATTEMPT_DELAY_MIN (10 * EDDY_MS)

/* A race of connection attempts.
 *
 * Invariants:
 * 1. Each socket is closed by its attempt, except the winner's, which is `fd`.
 * 2. An attempt that connects while there is no winner is the winner, even if it is cancelled.
 */
struct race {
	const struct eddy_dial_options *options;
	const struct eddy_sockaddr *source; /* local address to bind; may be NULL */
	struct eddy_event ended;            /* set when an attempt ends; cleared by the waiter */
	int running;
	int fd;    /* the winner's; -1 until there is one */
	int error; /* the most informative error so far */
};

struct attempt {
	struct race *race;
	const struct eddy_sockaddr *addr;
};

/* How much an error tells about the server: nothing sent, no answer, an answer. */
static int weight(int error)
{
	switch (error) {
	case -EAFNOSUPPORT:
	case -EADDRNOTAVAIL:
	case -ENETUNREACH:
	case -EHOSTUNREACH:
	case -EINVAL:
		return 1;
	case -ETIMEDOUT:
		return 2;
	default:
		return error == -ECANCELED ? 0 : 3;
	}
}

static void note_error(struct race *race, int error)
{
	if (!race->error || weight(error) > weight(race->error))
		race->error = error;
}

static int prepare(int fd, const struct eddy_sockaddr *addr, const struct eddy_sockaddr *source)
{
	int on = 1;

	if (addr->addr.any.sa_family == AF_UNIX)
		return 0;
	if (eddyi_setsockopt_now(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
		return -errno;
	/* Choose the port at connect, for the destination: then more ports are available. */
	if (source &&
	    eddyi_setsockopt_now(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on)) < 0)
		return -errno;
	if (source && eddyi_bind_now(fd, &source->addr.any, source->len) < 0)
		return -errno;
	return 0;
}

/* End a scope with a timeout. Return: `r`, or the scope's error if that caused -ECANCELED. */
static int end_scope(struct eddy_scope *scope, int r)
{
	int why = eddy_scope_end(scope);

	/* If `why` is 0, the kernel returned -ECANCELED by itself: still an error. */
	return r == -ECANCELED && why < 0 ? why : r;
}

static int connect_in_time(int fd, const struct eddy_sockaddr *addr, uint64_t timeout_ns)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = timeout_ns });
	return end_scope(&scope, eddy_connect(fd, &addr->addr.any, addr->len));
}

static int try_address(void *arg)
{
	const struct attempt *attempt = arg;
	const struct eddy_sockaddr *addr = attempt->addr;
	struct race *race = attempt->race;
	int fd = eddyi_socket_now(addr->addr.any.sa_family,
				  SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int r = fd < 0 ? -errno : prepare(fd, addr, race->source);

	if (r == 0)
		r = connect_in_time(fd, addr, race->options->attempt_timeout_ns);
	if (r == 0 && race->fd < 0)
		race->fd = fd;
	else if (fd >= 0)
		eddyi_close_now(fd);
	if (r < 0)
		note_error(race, r);
	race->running--;
	eddy_event_set(&race->ended);
	return 0;
}

/* Wait until an attempt ends, for the head start at most. Return: 0, -ECANCELED. */
static int await_attempt(struct race *race, uint64_t head_start_ns)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = head_start_ns });
	eddy_event_wait(&race->ended);
	eddy_scope_end(&scope);
	eddy_event_clear(&race->ended);
	return eddy_is_cancelled() ? -ECANCELED : 0;
}

static int run_race(struct race *race, struct attempt *attempts, int count)
{
	uint64_t delay = race->options->attempt_delay_ns;
	struct eddy_scope scope;
	int started = 0, r = 0;

	if (!delay)
		delay = ATTEMPT_DELAY_DEFAULT;
	if (delay < ATTEMPT_DELAY_MIN)
		delay = ATTEMPT_DELAY_MIN;
	eddy_scope_begin(&scope, NULL);
	while (r == 0 && race->fd < 0 && (started < count || race->running)) {
		if (started < count) {
			r = eddy_scope_spawn(&scope, "dial", try_address, &attempts[started]);
			if (r < 0)
				break;
			started++;
			race->running++;
		}
		/* The last attempt has no time limit here. */
		r = await_attempt(race, started < count ? delay : 0);
	}
	/* This cancels the losers, which close their sockets. */
	eddy_scope_end(&scope);
	return r;
}

int eddyi_net_dial_any(const struct eddy_sockaddr *addrs, int count,
		       const struct eddy_dial_options *options)
{
	struct attempt attempts[EDDY_ADDRESSES_MAX];
	struct eddy_sockaddr source[EDDY_ADDRESSES_MAX];
	struct race race = { .options = options, .fd = -1 };
	struct eddy_address address;
	int used = 0, r;

	eddy_event_init(&race.ended);
	if (options->bind) {
		r = eddy_address_parse(options->bind, &address);
		if (r == 0)
			r = address.path.len ? -EINVAL : resolve_literal(&address, source);
		if (r != 1)
			return r < 0 ? r : -EINVAL;
		race.source = source;
	}
	for (int i = 0; i < count; i++)
		if (!race.source || race.source->addr.any.sa_family == addrs[i].addr.any.sa_family)
			attempts[used++] = (struct attempt){ &race, &addrs[i] };
	if (!used)
		return -EAFNOSUPPORT;
	r = run_race(&race, attempts, used);
	if (race.fd >= 0)
		return eddyi_opened(race.fd);
	return r < 0 ? r : race.error;
}

void eddyi_net_interleave(struct eddy_sockaddr *addrs, int count)
{
	for (int i = 1; i < count; i++) {
		struct eddy_sockaddr next;
		int j = i;

		while (j < count && addrs[j].addr.any.sa_family == addrs[i - 1].addr.any.sa_family)
			j++;
		if (j == count)
			return;
		next = addrs[j];
		memmove(&addrs[i + 1], &addrs[i], (size_t)(j - i) * sizeof(*addrs));
		addrs[i] = next;
	}
}

static int dial_unix(struct eddy_str path, const struct eddy_dial_options *options)
{
	struct eddy_sockaddr addr = eddyi_net_unix_address(path);

	if (options->bind)
		return -EAFNOSUPPORT;
	return eddyi_net_dial_any(&addr, 1, options);
}

static int dial(const struct eddy_address *address, const struct eddy_dial_options *options)
{
	struct eddy_sockaddr addrs[EDDY_ADDRESSES_MAX];
	int count;

	if (address->path.len)
		return dial_unix(address->path, options);
	count = resolve_some(address, addrs);
	if (count < 0)
		return count;
	eddyi_net_interleave(addrs, count);
	return eddyi_net_dial_any(addrs, count, options);
}

int eddy_dial(const char *text, const struct eddy_dial_options *options)
{
	static const struct eddy_dial_options defaults;
	struct eddy_address address;
	struct eddy_scope scope;
	int r = eddy_address_parse(text, &address);

	eddyi_task();
	if (r < 0)
		return r;
	if (!options)
		options = &defaults;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = options->timeout_ns });
	return end_scope(&scope, dial(&address, options));
}
