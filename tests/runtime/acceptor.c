#include "io/acceptor.h"

#include "expect.h"

#include <eddy/io.h>
#include <fcntl.h>
#include <sys/resource.h>

#define PEERS 20

static int peers[PEERS];

static void connect_peers(const struct sockaddr_in *addr, int count)
{
	for (int i = 0; i < count; i++)
		peers[i] = tcp_connect(addr);
}

static void close_peers(int count)
{
	for (int i = 0; i < count; i++)
		close(peers[i]);
}

/* The next free number: a descriptor that was lost would be in its place. */
static int lowest_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* A peer whose connection was closed sees the end. */
static void expect_closed(int count)
{
	char byte;

	for (int i = 0; i < count; i++) {
		struct timeval soon = { .tv_sec = 5 };

		setsockopt(peers[i], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
		EXPECT(recv(peers[i], &byte, 1, 0) == 0 || errno == ECONNRESET);
	}
}

TASK_TEST(acceptor, hands_out_what_comes)
{
	struct eddyi_acceptor acceptor;
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, PEERS), free_fd = lowest_free();

	EXPECT_EQ(eddyi_acceptor_open(&acceptor, listener, 0), 0);
	for (int i = 0; i < PEERS; i++) {
		int fd;

		peers[0] = tcp_connect(&addr);
		fd = eddyi_acceptor_next(&acceptor);
		EXPECT(fcntl(fd, F_GETFL) & O_NONBLOCK);
		EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		EXPECT_EQ(eddy_close(fd), 0);
		close(peers[0]);
	}
	eddyi_acceptor_close(&acceptor);
	EXPECT_EQ(lowest_free(), free_fd);
	EXPECT_EQ(eddyi_loop()->ops, eddyi_loop()->own_ops);
	close(listener);
	return 0;
}

static int wait_next(void *arg)
{
	return eddyi_acceptor_next(arg);
}

TASK_TEST(acceptor, cancellation_loses_nothing)
{
	struct eddyi_acceptor acceptor;
	struct eddy_scope scope;
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, PEERS), free_fd = lowest_free();

	EXPECT_EQ(eddyi_acceptor_open(&acceptor, listener, 0), 0);
	for (int i = 0; i < PEERS; i++) {
		eddy_scope_begin(&scope, NULL);
		eddy_scope_spawn(&scope, "next", wait_next, &acceptor);
		expect_turns(2);
		connect_peers(&addr, 1);
		/* The kernel has accepted it, and nobody has looked. */
		eddyi_loop_enter(eddyi_loop());
		eddy_scope_cancel(&scope);
		EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
		EXPECT_EQ(close(eddyi_acceptor_next(&acceptor)), 0);
		close_peers(1);
	}
	eddyi_acceptor_close(&acceptor);
	EXPECT_EQ(lowest_free(), free_fd);
	close(listener);
	return 0;
}

/* More than may be pending come at once, then are taken one by one; and what is left is closed. */
TASK_TEST(acceptor, every_descriptor_is_accounted_for)
{
	struct eddyi_acceptor acceptor;
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, PEERS), free_fd = lowest_free();

	for (int taken = 0; taken <= PEERS; taken += 5) {
		connect_peers(&addr, PEERS);
		EXPECT_EQ(eddyi_acceptor_open(&acceptor, listener, 3), 0);
		expect_turns(3);
		EXPECT(acceptor.pending >= 3);
		for (int i = 0; i < taken; i++)
			EXPECT_EQ(close(eddyi_acceptor_next(&acceptor)), 0);
		eddyi_acceptor_stop(&acceptor);
		if (taken == 5) {
			/* Those of the backlog are handed out, too. */
			for (int i = taken; i < PEERS; i++)
				EXPECT_EQ(close(eddyi_acceptor_next(&acceptor)), 0);
			EXPECT_EQ(eddyi_acceptor_next(&acceptor), -ESHUTDOWN);
		}
		eddyi_acceptor_close(&acceptor);
		for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;)
			close(fd);
		expect_closed(PEERS);
		close_peers(PEERS);
		EXPECT_EQ(lowest_free(), free_fd);
	}
	close(listener);
	return 0;
}

TASK_TEST(acceptor, without_descriptors_it_waits_for_a_close)
{
	struct eddyi_acceptor acceptor;
	struct sockaddr_in addr;
	struct rlimit limit, before;
	uint64_t started;
	int listener, spare, fd;

	if (RUNNING_ON_VALGRIND) {
		expect_skip("valgrind keeps the limit of descriptors to itself");
		return 0;
	}
	listener = tcp_listen(&addr, PEERS);
	spare = dup(0);
	getrlimit(RLIMIT_NOFILE, &before);
	connect_peers(&addr, 2);
	limit = before;
	limit.rlim_cur = (rlim_t)lowest_free();
	EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	EXPECT_EQ(eddyi_acceptor_open(&acceptor, listener, 0), 0);
	expect_turns(3);
	EXPECT_EQ(acceptor.pauses, 1);
	EXPECT_EQ(acceptor.pending, 0);
	/* At once, not after a while, which is made a long one. */
	eddy_timer_disarm(&acceptor.retry);
	eddy_timer_arm(&acceptor.retry, eddy_now() + 30 * EDDY_SECOND);
	started = eddy_now();
	EXPECT_EQ(eddy_close(spare), 0);
	fd = eddyi_acceptor_next(&acceptor);
	EXPECT_EQ(fd, spare);
	EXPECT(eddy_now() - started < 20 * EDDY_SECOND);
	/* A close that it did not see: after a while. */
	for (int i = 0; i < 100 && acceptor.pauses < 2; i++)
		expect_turns(1);
	EXPECT_EQ(acceptor.pauses, 2);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(close(eddyi_acceptor_next(&acceptor)), 0);
	/* It may be closed while it pauses. */
	connect_peers(&addr, 0);
	EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
	eddyi_acceptor_close(&acceptor);
	close_peers(2);
	close(listener);
	return 0;
}

TASK_TEST(acceptor, of_what_does_not_listen)
{
	struct eddyi_acceptor acceptor;
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, 1);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	EXPECT_EQ(eddyi_acceptor_open(&acceptor, fd, 0), 0);
	EXPECT_EQ(eddyi_acceptor_next(&acceptor), -EINVAL);
	EXPECT_EQ(eddyi_acceptor_next(&acceptor), -EINVAL);
	eddyi_acceptor_close(&acceptor);
	close(fd);
	EXPECT_EQ(eddyi_acceptor_open(&acceptor, listener, 0), 0);
	expect_turns(1);
	EXPECT_EQ(eddy_close(listener), 0);
	EXPECT_EQ(eddyi_acceptor_next(&acceptor), -EBADF);
	eddyi_acceptor_close(&acceptor);
	return 0;
}

/* Its descriptor is closed while so many wait that nothing is armed, and the number goes to another. */
TASK_TEST(acceptor, closed_descriptor_ends_it_at_rest)
{
	struct eddyi_acceptor acceptor;
	struct sockaddr_in addr, next_addr;
	int listener = tcp_listen(&addr, 1), next, fd, peer = tcp_connect(&addr);

	EXPECT_EQ(eddyi_acceptor_open(&acceptor, listener, 1), 0);
	for (int i = 0; i < 100 && (!acceptor.pending || eddy_op_is_started(&acceptor.op)); i++)
		expect_turns(1);
	EXPECT_EQ(eddy_close(listener), 0);
	next = tcp_listen(&next_addr, 1);
	EXPECT_EQ(next, listener);
	fd = eddyi_acceptor_next(&acceptor);
	EXPECT(fd >= 0);
	close(fd);
	EXPECT_EQ(eddyi_acceptor_next(&acceptor), -EBADF);
	eddyi_acceptor_close(&acceptor);
	close(peer);
	close(next);
	return 0;
}
