/* Tests of eddy/io.h: sockets, and what holds of all calls. Others are in io_cancel.c and io_pipe.c. */
#include <eddy/io.h>

#include "moved.h"
#include "base/feature.h"

#include <eddy/stats.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Let eddy_pipe() be the ring's, or a plain call. Without the ring's, both rounds are of the plain call. */
static void pretend(bool with_ring)
{
	static bool has, known;

	if (!known)
		has = eddyi_feature_is_there(EDDYI_FEATURE_PIPE);
	known = true;
	eddyi_feature_set(EDDYI_FEATURE_PIPE, with_ring && has);
}

/* --- sockets */

TASK_TEST(io, accept_and_connect)
{
	struct sockaddr_in addr, peer = { 0 };
	socklen_t len = sizeof(peer);
	int listener = tcp_listen(&addr, 4), fd, client;

	client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	EXPECT_EQ(eddy_connect(client, (struct sockaddr *)&addr, sizeof(addr)), 0);
	fd = eddy_accept(listener, (struct sockaddr *)&peer, &len);
	EXPECT(fd >= 0);
	EXPECT_EQ(peer.sin_family, AF_INET);
	EXPECT_EQ(len, sizeof(peer));
	EXPECT(fcntl(fd, F_GETFL) & O_NONBLOCK);
	EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	EXPECT_EQ(eddy_close(fd), 0);
	EXPECT_EQ(eddy_close(client), 0);
	EXPECT_EQ(eddy_accept(client, NULL, NULL), -EBADF);
	EXPECT_EQ(eddy_close(listener), 0);
	client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	EXPECT_EQ(eddy_connect(client, (struct sockaddr *)&addr, sizeof(addr)), -ECONNREFUSED);
	EXPECT_EQ(eddy_close(client), 0);
	EXPECT_EQ(eddy_close(client), -EBADF);
	return 0;
}

/* Under chaos a socket seems to be full now and then. */
static ssize_t try_send(int fd, const void *buf, size_t len)
{
	ssize_t r = -EAGAIN;

	for (int tries = 0; tries < 100 && r == -EAGAIN; tries++)
		r = eddy_try_send(fd, buf, len, 0);
	return r;
}

/* Others do not run meanwhile. */
TASK_TEST(io, try_send)
{
	static const char bytes[EDDY_MIB];
	uint64_t turns = eddy_stats().loop.turns;
	ssize_t sent, all = 0;
	char came[8];
	int fds[2];

	stream_pair(fds);
	for (sent = 0; sent < 5; sent += all) {
		all = try_send(fds[0], &"hello"[sent], (size_t)(5 - sent));
		EXPECT(all > 0);
		/* Only chaos takes a part. */
		EXPECT(all == 5 || getenv("EDDY_CHAOS"));
		if (all <= 0)
			break;
	}
	EXPECT_EQ(recv(fds[1], came, sizeof(came), MSG_DONTWAIT), 5);
	EXPECT_EQ(memcmp(came, "hello", 5), 0);
	all = 0;
	while ((sent = try_send(fds[0], bytes, sizeof(bytes))) > 0)
		all += sent;
	EXPECT_EQ(sent, -EAGAIN);
	EXPECT(all > 0);
	close(fds[1]);
	EXPECT_EQ(try_send(fds[0], "x", 1), -EPIPE);
	EXPECT_EQ(eddy_stats().loop.turns, turns);
	close(fds[0]);
	EXPECT_EQ(try_send(fds[0], "x", 1), -EBADF);
	return 0;
}

TASK_TEST(io, send_and_recv)
{
	struct iovec parts[2] = { { "ab", 2 }, { "cd", 2 } };
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = 2 };
	char bytes[8] = "", more[8] = "";
	struct iovec into[2] = { { bytes, 3 }, { more, 8 } };
	uint64_t until = eddy_now() + 10 * EDDY_SECOND;
	int fds[2], events;

	stream_pair(fds);
	EXPECT_EQ(eddy_send(fds[0], "hello", 5, 0), 5);
	EXPECT_EQ(eddy_recv(fds[1], bytes, 2, MSG_PEEK), 2);
	EXPECT_EQ(eddy_recv(fds[1], bytes, sizeof(bytes), 0), 5);
	EXPECT_EQ(strcmp(bytes, "hello"), 0);
	EXPECT_EQ(eddy_sendmsg(fds[0], &msg, 0), 4);
	msg.msg_iov = into;
	EXPECT_EQ(eddy_recvmsg(fds[1], &msg, 0), 4);
	EXPECT_EQ(memcmp(bytes, "abc", 3), 0);
	EXPECT_EQ(more[0], 'd');
	EXPECT_EQ(eddy_shutdown(fds[0], SHUT_WR), 0);
	EXPECT_EQ(eddy_recv(fds[1], bytes, 1, 0), 0);
	EXPECT_EQ(eddy_close(fds[0]), 0);
	/* The kernel's worker that has shut it down may hold it for a moment longer. A poll ends at once,
	 * as the other end of the stream is shut down. */
	do
		events = eddy_poll(fds[1], POLLHUP);
	while (events >= 0 && !(events & POLLHUP) && eddy_now() < until && eddy_yield() == 0);
	EXPECT(events > 0 && events & POLLHUP);
	/* No signal. */
	EXPECT_EQ(eddy_send(fds[1], "x", 1, 0), -EPIPE);
	msg.msg_iov = parts;
	EXPECT_EQ(eddy_sendmsg(fds[1], &msg, 0), -EPIPE);
	EXPECT_EQ(eddy_send_all(fds[1], "x", 1, 0), -EPIPE);
	EXPECT_EQ(eddy_recvmsg(fds[0], &msg, 0), -EBADF);
	EXPECT_EQ(eddy_shutdown(fds[0], SHUT_WR), -EBADF);
	EXPECT_EQ(eddy_close(fds[1]), 0);
	return 0;
}

TASK_TEST(io, datagrams)
{
	struct sockaddr_in addr[2], from = { 0 };
	socklen_t len = sizeof(addr[0]);
	char bytes[8] = "";
	struct iovec out = { "hello", 5 }, in = { bytes, sizeof(bytes) };
	struct msghdr sent = { &addr[1], sizeof(addr[1]), &out, 1, NULL, 0, 0 };
	struct msghdr got = { &from, sizeof(from), &in, 1, NULL, 0, 0 };
	int fds[2];

	for (int i = 0; i < 2; i++) {
		addr[i] = (struct sockaddr_in){ .sin_family = AF_INET,
						.sin_addr = { htonl(INADDR_LOOPBACK) } };
		fds[i] = eddy_socket(AF_INET, SOCK_DGRAM, 0);
		EXPECT_EQ(bind(fds[i], (struct sockaddr *)&addr[i], len), 0);
		EXPECT_EQ(getsockname(fds[i], (struct sockaddr *)&addr[i], &len), 0);
	}
	EXPECT_EQ(eddy_sendmsg(fds[0], &sent, 0), 5);
	EXPECT_EQ(eddy_recvmsg(fds[1], &got, 0), 5);
	EXPECT_EQ(strcmp(bytes, "hello"), 0);
	EXPECT_EQ(from.sin_port, addr[0].sin_port);
	/* With no address it goes nowhere. */
	sent.msg_name = NULL;
	sent.msg_namelen = 0;
	EXPECT_EQ(eddy_sendmsg(fds[1], &sent, 0), -EDESTADDRREQ);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

static void made_by_ring_or_not(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(addr);
	int fd = eddy_socket(AF_INET, SOCK_STREAM, 0), peer, fds[2] = { -1, -1 };

	EXPECT(fd >= 0);
	EXPECT(fcntl(fd, F_GETFL) & O_NONBLOCK);
	EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	EXPECT_EQ(bind(fd, (struct sockaddr *)&addr, len), 0);
	EXPECT_EQ(listen(fd, 3), 0);
	EXPECT_EQ(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	peer = tcp_connect(&addr);
	EXPECT_EQ(eddy_close(eddy_accept(fd, NULL, NULL)), 0);
	close(peer);
	EXPECT_EQ(eddy_close(fd), 0);
	EXPECT_EQ(eddy_socket(-1, SOCK_STREAM, 0), -EAFNOSUPPORT);

	EXPECT_EQ(eddy_pipe(fds, -1), -EINVAL);
	EXPECT_EQ(fds[0], -1);
	EXPECT_EQ(eddy_pipe(fds, O_NONBLOCK), 0);
	EXPECT(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
	EXPECT(fcntl(fds[1], F_GETFD) & FD_CLOEXEC);
	EXPECT_EQ(eddy_write(fds[1], "x", 1, EDDY_OFFSET_NONE), 1);
	EXPECT_EQ(eddy_close(fds[0]), 0);
	EXPECT_EQ(eddy_close(fds[1]), 0);
}

TASK_TEST(io, descriptors_are_made_with_and_without_the_ring)
{
	for (int with = 0; with <= 1; with++) {
		pretend(with);
		made_by_ring_or_not();
	}
	return 0;
}

struct zero_copy {
	int fd;
	ssize_t sent;
};

static int send_zero_copy(void *arg)
{
	struct zero_copy *zc = arg;
	char bytes[30000];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i >> 4);
	zc->sent = eddy_send_zc(zc->fd, bytes, sizeof(bytes), 0);
	/* Nobody looks at them any more. */
	memset(bytes, '!', sizeof(bytes));
	return 0;
}

TASK_TEST(io, zero_copy_sends)
{
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, 1), peer = tcp_connect(&addr), fds[2];
	struct zero_copy zc = { .fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK) };

	for (int i = 0; i < 2; i++) {
		struct eddy_scope scope;
		char bytes[30000];

		eddy_scope_begin(&scope, NULL);
		eddy_scope_spawn(&scope, "sender", send_zero_copy, &zc);
		EXPECT_EQ(eddy_recv(peer, bytes, sizeof(bytes), MSG_WAITALL), sizeof(bytes));
		EXPECT_EQ(eddy_scope_join(&scope), 0);
		EXPECT_EQ(eddy_scope_end(&scope), 0);
		EXPECT_EQ(zc.sent, sizeof(bytes));
		for (size_t n = 0; n < sizeof(bytes); n++)
			if (bytes[n] != (char)(n >> 4)) {
				EXPECT_EQ(n, sizeof(bytes));
				break;
			}
	}
	EXPECT_EQ(shutdown(zc.fd, SHUT_WR), 0);
	EXPECT_EQ(eddy_send_zc(zc.fd, "x", 1, 0), -EPIPE);
	stream_pair(fds);
	EXPECT_EQ(eddy_send_zc(fds[0], "x", 1, 0), -EOPNOTSUPP);
	close(fds[0]);
	close(fds[1]);
	close(zc.fd);
	close(peer);
	close(listener);
	return 0;
}

TASK_TEST(io, send_all_sends_all)
{
	struct peer sender = { .most = 2 * EDDY_MIB }, taker = { .most = 2 * EDDY_MIB };
	struct eddy_scope scope;
	int fds[2];

	stream_pair(fds);
	sender.fd = fds[0];
	taker.fd = fds[1];
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "sender", write_all, &sender);
	EXPECT_EQ(read_all(&taker), 0);
	EXPECT_EQ(taker.got, sender.most);
	EXPECT(!taker.wrong);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	close(fds[0]);
	close(fds[1]);
	return eddy_scope_end(&scope);
}

/* A ring entry has 32 bits for a length. */
TASK_TEST(io, lengths_past_4_gib)
{
	size_t len = 4 * EDDY_GIB;
	char *bytes = mmap(NULL, len, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int fds[2];

	if (bytes == MAP_FAILED)
		return 0;
	stream_pair(fds);
	EXPECT(eddy_send(fds[0], bytes, len, 0) > 0);
	EXPECT(eddy_recv(fds[1], bytes, len, 0) > 0);
	munmap(bytes, len);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* --- of a cancelled scope */

TASK_TEST(io, cancelled_scope_starts_nothing_and_closes)
{
	struct eddy_scope scope;
	int fds[2], none[2];

	stream_pair(fds);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	for (int with = 0; with <= 1; with++) {
		pretend(with);
		EXPECT_EQ(eddy_socket(AF_INET, SOCK_STREAM, 0), -ECANCELED);
		EXPECT_EQ(eddy_pipe(none, 0), -ECANCELED);
	}
	EXPECT_EQ(eddy_shutdown(fds[0], SHUT_RD), -ECANCELED);
	EXPECT_EQ(eddy_send_zc(fds[0], "x", 1, 0), -ECANCELED);
	/* Closing is not cancelled. */
	EXPECT_EQ(eddy_close(fds[0]), 0);
	EXPECT_EQ(fcntl(fds[0], F_GETFD), -1);
	EXPECT_EQ(eddy_close(fds[1]), 0);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	return 0;
}

/* --- numbers that are used again */

static int reused;

static int close_it(void *arg)
{
	return eddy_close(*(int *)arg);
}

static int poll_shortly(void *arg)
{
	return eddy_poll(*(int *)arg, POLLOUT) < 0;
}

static int open_and_close(void *arg)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	reused = fd == *(int *)arg;
	return eddy_close(fd);
}

/* With room for one entry the poll sends the close off: its completion is there and nobody has looked
 * yet when another task gets the number, and closes it as well. */
static int close_twice(__attribute__((unused)) void *arg)
{
	struct eddy_scope scope;
	int fds[2], number;

	stream_pair(fds);
	number = fds[0];
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "close", close_it, &number);
	eddy_scope_spawn(&scope, "poll", poll_shortly, &fds[1]);
	eddy_scope_spawn(&scope, "again", open_and_close, &number);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	EXPECT(reused);
	close(fds[1]);
	return 0;
}

Test(io, closes_a_number_that_is_used_again)
{
	expect_run(&(struct eddy_loop_options){ .sq_entries = 1 }, close_twice, NULL);
}
