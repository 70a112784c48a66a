#include <eddy/net.h>

#include "expect.h"
#include "net/net.h"

#include <eddy/io.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

static struct eddy_sockaddr in_addr_of(const struct sockaddr_in *in)
{
	return (struct eddy_sockaddr){ .addr.in = *in, .len = sizeof(*in) };
}

/* Somebody who accepts. */
static struct eddy_sockaddr listening(int *ret_fd)
{
	struct sockaddr_in in;

	*ret_fd = tcp_listen(&in, 16);
	return in_addr_of(&in);
}

/* A port where nobody is. */
static struct eddy_sockaddr closed_port(void)
{
	struct sockaddr_in in;

	close(tcp_listen(&in, 1));
	return in_addr_of(&in);
}

/* Somebody who never answers: the queue is full. */
struct hole {
	int fds[3];
	struct eddy_sockaddr addr;
};

static void hole_open(struct hole *hole)
{
	struct sockaddr_in in;

	hole->fds[0] = tcp_listen(&in, 0);
	hole->addr = in_addr_of(&in);
	hole->fds[1] = tcp_connect(&in);
	hole->fds[2] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	connect(hole->fds[2], &hole->addr.addr.any, hole->addr.len);
}

static void hole_close(struct hole *hole)
{
	for (int i = 0; i < 3; i++)
		close(hole->fds[i]);
}

static uint16_t peer_port(int fd)
{
	struct eddy_sockaddr peer = { .len = sizeof(peer.addr) };

	EXPECT_EQ(getpeername(fd, &peer.addr.any, &peer.len), 0);
	return peer.addr.in.sin_port;
}

static int option_of(int fd, int level, int option)
{
	int value = -1;
	socklen_t len = sizeof(value);

	getsockopt(fd, level, option, &value, &len);
	return value;
}

static const struct eddy_dial_options defaults;

TASK_TEST(net_dial, connects)
{
	struct eddy_listeners listeners;
	int fd;

	EXPECT_EQ(eddy_listen("127.0.0.1:0", NULL, &listeners), 0);
	fd = eddy_dial(listeners.name, NULL);
	EXPECT(fd >= 0);
	EXPECT_EQ(ntohs(peer_port(fd)), listeners.port);
	EXPECT_EQ(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 1);
	EXPECT(fcntl(fd, F_GETFL) & O_NONBLOCK);
	EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	eddy_close(fd);
	eddy_listeners_close(&listeners);
	EXPECT_EQ(eddy_dial(listeners.name, NULL), -ECONNREFUSED);
	EXPECT_EQ(eddy_dial("nonsense", NULL), -EINVAL);
	return 0;
}

TASK_TEST(net_dial, unix_sockets)
{
	char folder[] = "/tmp/eddy-dial-XXXXXX", text[64];
	struct eddy_listeners listeners;
	int fd;

	EXPECT(mkdtemp(folder));
	snprintf(text, sizeof(text), "unix:%s/socket", folder);
	EXPECT_EQ(eddy_dial(text, NULL), -ENOENT);
	EXPECT_EQ(eddy_listen(text, NULL, &listeners), 0);
	fd = eddy_dial(text, NULL);
	EXPECT(fd >= 0);
	eddy_close(fd);
	eddy_listeners_close(&listeners);
	rmdir(folder);
	return 0;
}

/* The first one refuses: nobody waits for its head start. */
TASK_TEST(net_dial, a_refusal_is_followed_at_once)
{
	const struct eddy_dial_options slow = { .attempt_delay_ns = 1000 * EDDY_SECOND };
	int listener, fd, before = open_descriptors();
	struct eddy_sockaddr addrs[3] = { closed_port(), closed_port(), listening(&listener) };

	fd = eddyi_net_dial_any(addrs, 3, &slow);
	EXPECT(fd >= 0);
	EXPECT_EQ(peer_port(fd), addrs[2].addr.in.sin_port);
	close(fd);
	close(listener);
	EXPECT_EQ(open_descriptors(), before);
	return 0;
}

TASK_TEST(net_dial, silence_is_followed_after_the_head_start)
{
	const struct eddy_dial_options quick = { .attempt_delay_ns = 20 * EDDY_MS };
	struct hole hole, other;
	struct eddy_sockaddr addrs[3];
	uint64_t begun;
	int listener, fd, before;

	hole_open(&hole);
	hole_open(&other);
	addrs[0] = hole.addr;
	addrs[1] = other.addr;
	addrs[2] = listening(&listener);
	before = open_descriptors();
	begun = eddy_now();
	fd = eddyi_net_dial_any(addrs, 3, &quick);
	EXPECT(eddy_now() - begun >= 40 * EDDY_MS);
	EXPECT(fd >= 0);
	EXPECT_EQ(peer_port(fd), addrs[2].addr.in.sin_port);
	/* Those that were slower are closed. */
	EXPECT_EQ(open_descriptors(), before + 1);
	/* RFC 8305: 250 ms where nothing is said, and never below 10. */
	close(fd);
	begun = eddy_now();
	fd = eddyi_net_dial_any(&addrs[1], 2, &defaults);
	EXPECT(eddy_now() - begun >= 250 * EDDY_MS);
	close(fd);
	begun = eddy_now();
	fd = eddyi_net_dial_any(&addrs[1], 2, &(struct eddy_dial_options){ .attempt_delay_ns = 1 });
	EXPECT(eddy_now() - begun >= 10 * EDDY_MS);
	close(fd);
	close(listener);
	hole_close(&hole);
	hole_close(&other);
	return 0;
}

TASK_TEST(net_dial, deadlines)
{
	const struct eddy_dial_options each = { .attempt_timeout_ns = 5 * EDDY_MS };
	const struct eddy_dial_options all = { .timeout_ns = 5 * EDDY_MS };
	char text[EDDY_SOCKADDR_TEXT_MAX];
	struct eddy_scope scope;
	struct hole hole;
	int before;

	hole_open(&hole);
	before = open_descriptors();
	eddy_sockaddr_format(&hole.addr.addr.any, hole.addr.len, text);
	EXPECT_EQ(eddy_dial(text, &each), -ETIMEDOUT);
	EXPECT_EQ(eddy_dial(text, &all), -ETIMEDOUT);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 5 * EDDY_MS });
	EXPECT_EQ(eddy_dial(text, NULL), -ECANCELED);
	EXPECT_EQ(eddy_dial(text, &each), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
	EXPECT_EQ(open_descriptors(), before);
	hole_close(&hole);
	return 0;
}

TASK_TEST(net_dial, the_most_telling_error_is_returned)
{
	const struct eddy_dial_options options = { .attempt_timeout_ns = 5 * EDDY_MS };
	struct eddy_sockaddr strange = { .addr.any.sa_family = AF_APPLETALK, .len = 16 };
	struct eddy_sockaddr addrs[3];
	struct hole hole;

	hole_open(&hole);
	addrs[0] = strange;
	EXPECT_EQ(eddyi_net_dial_any(addrs, 1, &options), -EAFNOSUPPORT);
	addrs[1] = hole.addr;
	EXPECT_EQ(eddyi_net_dial_any(addrs, 2, &options), -ETIMEDOUT);
	addrs[2] = closed_port();
	EXPECT_EQ(eddyi_net_dial_any(addrs, 3, &options), -ECONNREFUSED);
	addrs[0] = addrs[2];
	addrs[2] = strange;
	EXPECT_EQ(eddyi_net_dial_any(addrs, 3, &options), -ECONNREFUSED);
	hole_close(&hole);
	return 0;
}

TASK_TEST(net_dial, bound_to_an_address)
{
	struct eddy_dial_options options = { .bind = "127.0.0.2:0" };
	struct eddy_sockaddr peer = { .len = sizeof(peer.addr) };
	int listener, fd;
	struct eddy_sockaddr addr = listening(&listener);
	char text[EDDY_SOCKADDR_TEXT_MAX];

	fd = eddyi_net_dial_any(&addr, 1, &options);
	EXPECT(fd >= 0);
	EXPECT_EQ(getsockname(fd, &peer.addr.any, &peer.len), 0);
	EXPECT_EQ(ntohl(peer.addr.in.sin_addr.s_addr), INADDR_LOOPBACK + 1);
	close(fd);
	eddy_sockaddr_format(&addr.addr.any, addr.len, text);
	options.bind = "[::1]:0";
	EXPECT_EQ(eddy_dial(text, &options), -EAFNOSUPPORT);
	options.bind = "localhost:0";
	EXPECT_EQ(eddy_dial(text, &options), -EINVAL);
	options.bind = "example.com:0";
	EXPECT_EQ(eddy_dial(text, &options), -EINVAL);
	options.bind = "127.0.0.2";
	EXPECT_EQ(eddy_dial(text, &options), -EINVAL);
	options.bind = "192.0.2.1:0";
	EXPECT_EQ(eddy_dial(text, &options), -EADDRNOTAVAIL);
	close(listener);
	return 0;
}

/* Hold the loop until the head start is over. */
static int hold_loop(__attribute__((unused)) void *arg)
{
	uint64_t until = eddy_now() + 12 * EDDY_MS;

	while (eddy_now() < until)
		;
	return 0;
}

/* The first one connects at the moment at which the second one starts: one is kept. */
TASK_TEST(net_dial, who_comes_second_is_closed)
{
	const struct eddy_dial_options options = { .attempt_delay_ns = 10 * EDDY_MS };
	int listeners[2], fd, before;
	struct eddy_sockaddr addrs[2] = { listening(&listeners[0]), listening(&listeners[1]) };
	struct eddy_scope scope;

	before = open_descriptors();
	for (int i = 0; i < 10; i++) {
		eddy_scope_begin(&scope, NULL);
		eddy_scope_spawn(&scope, "holder", hold_loop, NULL);
		fd = eddyi_net_dial_any(addrs, 2, &options);
		EXPECT(fd >= 0);
		close(fd);
		EXPECT_EQ(eddy_scope_end(&scope), 0);
	}
	EXPECT_EQ(open_descriptors(), before);
	close(listeners[0]);
	close(listeners[1]);
	return 0;
}

/* Cancelled or out of time at any moment: there is a connection, or nothing. */
TASK_TEST(net_dial, cancelled_at_every_moment)
{
	int listener, before;
	struct eddy_sockaddr addrs[2] = { listening(&listener), closed_port() };
	struct eddy_scope scope;

	before = open_descriptors();
	for (uint64_t i = 0; i < 100; i++) {
		int fd;

		eddy_scope_begin(&scope,
				 &(struct eddy_scope_options){ .timeout_ns = 1 + i * 2 * EDDY_US });
		fd = eddyi_net_dial_any(&addrs[i % 2], 1, &defaults);
		EXPECT(fd >= 0 || fd == -ECANCELED || fd == -ECONNREFUSED);
		if (fd >= 0)
			close(fd);
		eddy_scope_end(&scope);
		if (i % 8 == 7)
			while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
				close(fd);
	}
	EXPECT_EQ(open_descriptors(), before);
	close(listener);
	return 0;
}

Test(net_dial, families_take_turns)
{
	static const struct {
		const char *before, *after;
	} orders[] = {
		{ "", "" },
		{ "4", "4" },
		{ "44", "44" },
		{ "4466", "4646" },
		{ "6444", "6444" },
		{ "66644", "64646" },
		{ "466664", "464666" },
		{ "664664", "646466" },
	};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		struct eddy_sockaddr addrs[EDDY_ADDRESSES_MAX];
		int count = (int)strlen(orders[i].before), last[2] = { -1, -1 };

		for (int j = 0; j < count; j++) {
			addrs[j].addr.any.sa_family = orders[i].before[j] == '4' ? AF_INET :
										   AF_INET6;
			addrs[j].len = (socklen_t)j;
		}
		eddyi_net_interleave(addrs, count);
		for (int j = 0; j < count; j++) {
			bool is_6 = addrs[j].addr.any.sa_family == AF_INET6;

			cr_expect_eq(is_6 ? '6' : '4', orders[i].after[j], "%s", orders[i].before);
			cr_expect((int)addrs[j].len > last[is_6], "%s", orders[i].before);
			last[is_6] = (int)addrs[j].len;
		}
	}
}

/* "localhost" is 127.0.0.1 first, and nobody is there. */
TASK_TEST(net_dial, a_name_with_one_dead_address)
{
	struct eddy_listeners listeners;
	char text[40];
	int fd;

	if (eddy_listen("[::1]:0", NULL, &listeners) < 0)
		return 0; /* no IPv6 here */
	snprintf(text, sizeof(text), "localhost:%u", listeners.port);
	fd = eddy_dial(text, &(struct eddy_dial_options){ .attempt_delay_ns = 1000 * EDDY_SECOND });
	EXPECT(fd >= 0);
	eddy_close(fd);
	eddy_listeners_close(&listeners);
	return 0;
}

/* A failed attempt is no connection, whatever it failed with. */
static int dial_often(__attribute__((unused)) void *arg)
{
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, 300);
	char text[32];

	snprintf(text, sizeof(text), "127.0.0.1:%u", ntohs(addr.sin_port));
	for (int i = 0; i < 200; i++) {
		int fd = eddy_dial(text, NULL);

		EXPECT(fd != 0);
		if (fd > 0) {
			struct sockaddr_in peer;
			socklen_t len = sizeof(peer);

			EXPECT_EQ(getpeername(fd, (struct sockaddr *)&peer, &len), 0);
			close(fd);
		}
	}
	close(listener);
	return 0;
}

Test(net_dial, failures_of_every_kind)
{
	setenv("EDDY_CHAOS", "1,errors", 1);
	expect_run(NULL, dial_often, NULL);
}
