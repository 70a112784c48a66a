/* Connecting by name: tries addresses in turn, the next before the last has failed (RFC 8305). */
#include "net.h"

#include "core/loop.h"

#include <eddy/event.h>
#include <eddy/internal/debug.h>
#include <eddy/internal/outside.h>
#include <eddy/io.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <unistd.h>

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
			r = address.path.len ? -EINVAL :
					       eddyi_net_resolve_literal(&address, source);
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
	count = eddyi_net_resolve_some(address, addrs);
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
