/* expect.h: tests whose body is a task. The task notes what is wrong and goes on; the assertion is
 * made on the main stack.
 *
 *     TASK_TEST(noun, does_this)
 *     {
 *             EXPECT_EQ(eddy_yield(), 0);
 *             return 0;
 *     }
 */
#ifndef EDDY_TESTS_EXPECT_H
#define EDDY_TESTS_EXPECT_H

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../descriptors.h"
#include "../on_valgrind.h"
#include "core/loop.h"
#include "core/wait.h"

/* Sanitizers and valgrind give each task memory of their own: fewer of them there. */
#define IS_SLOW (EDDYI_ASAN || EDDYI_TSAN || RUNNING_ON_VALGRIND)

/* By the kernel's number. Distributions port features back, and builds leave some out. */
static inline int kernel_is(const char *since)
{
	struct utsname name;
	int major, minor, since_major, since_minor;

	uname(&name);
	cr_assert_eq(sscanf(name.release, "%d.%d", &major, &minor), 2);
	cr_assert_eq(sscanf(since, "%d.%d", &since_major, &since_minor), 2);
	return major > since_major || (major == since_major && minor >= since_minor);
}

#define EXPECT_NOTES 4
static int expect_failed;
static char expect_text[EXPECT_NOTES][400];

static inline void expect_note(int line, const char *what, long long value)
{
	if (expect_failed < EXPECT_NOTES)
		snprintf(expect_text[expect_failed], sizeof(expect_text[0]), "line %d: %s is %lld",
			 line, what, value);
	expect_failed++;
}

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			expect_note(__LINE__, #condition, 0);                                      \
	} while (0)

#define EXPECT_EQ(value, wanted)                                                                   \
	do {                                                                                       \
		long long expect_value = (long long)(value);                                       \
                                                                                                   \
		if (expect_value != (long long)(wanted))                                           \
			expect_note(__LINE__, #value " (not " #wanted ")", expect_value);          \
	} while (0)

/* Said by a test's task before it returns: why it can't run here. */
static const char *expect_skipped;

static inline void expect_skip(const char *why)
{
	expect_skipped = why;
}

static inline void expect_report(void)
{
	if (expect_skipped)
		cr_skip_test("%s", expect_skipped);
	for (int i = 0; i < expect_failed && i < EXPECT_NOTES; i++)
		cr_expect(false, "%s", expect_text[i]);
	cr_expect_eq(expect_failed, 0, "%d expectations failed", expect_failed);
}

static inline void expect_run(const struct eddy_loop_options *options, eddy_task_fn *fn, void *arg)
{
	int r = eddy_run(options, fn, arg);

	cr_expect_eq(r, 0, "eddy_run() returned %d", r);
	expect_report();
}

#define TASK_TEST(noun, name)                                                                      \
	static int noun##_##name(void *arg);                                                       \
	Test(noun, name)                                                                           \
	{                                                                                          \
		expect_run(NULL, noun##_##name, NULL);                                             \
	}                                                                                          \
	static int noun##_##name(__attribute__((unused)) void *arg)

/* Let everything run, the kernel see what has been queued, and what it says be dispatched. A yield
 * alone may come back within the same turn. */
static inline void expect_turns(int count)
{
	while (count--)
		eddy_sleep(0);
}

static inline void stream_pair(int fds[2])
{
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
}

/* A TCP socket that listens on a port of its own on the loopback. */
static inline int tcp_listen(struct sockaddr_in *ret_addr, int backlog)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	EXPECT_EQ(bind(fd, (struct sockaddr *)&addr, len), 0);
	EXPECT_EQ(listen(fd, backlog), 0);
	EXPECT_EQ(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	*ret_addr = addr;
	return fd;
}

/* A connection to that socket, still in its backlog. */
static inline int tcp_connect(const struct sockaddr_in *addr)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	EXPECT_EQ(connect(fd, (const struct sockaddr *)addr, sizeof(*addr)), 0);
	return fd;
}

/* The two ends of a connection over loopback; neither blocks. */
static inline void tcp_pair(int fds[2])
{
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, 1);

	fds[0] = tcp_connect(&addr);
	EXPECT_EQ(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	fds[1] = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	close(listener);
}

/* Leave the time of a transmission in the error queue of a TCP socket. Polling says POLLERR for as long as nobody reads
 * that queue; a call that finds no bytes or no room says -EAGAIN. */
static inline void queue_error(int fd)
{
	const int stamp = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE |
			  SOF_TIMESTAMPING_OPT_TSONLY;
	struct pollfd poll_fd = { .fd = fd };

	EXPECT_EQ(setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &stamp, sizeof(stamp)), 0);
	EXPECT_EQ(write(fd, "x", 1), 1);
	EXPECT_EQ(poll(&poll_fd, 1, 5000), 1);
	EXPECT(poll_fd.revents & POLLERR);
}

#endif
