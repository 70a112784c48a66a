#include <eddy/io.h>

#include "expect.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

TASK_TEST(io, send_and_recv)
{
	struct iovec parts[2] = { { "ab", 2 }, { "cd", 2 } };
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = 2 };
	char bytes[8] = "", more[8] = "";
	struct iovec into[2] = { { bytes, 3 }, { more, 8 } };
	int fds[2];

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

#define MUCH (2 * 1024 * 1024)

static int send_much(void *arg)
{
	char *bytes = malloc(MUCH);
	int r;

	for (size_t i = 0; i < MUCH; i++)
		bytes[i] = (char)(i * 7 >> 3);
	r = eddy_send_all(*(int *)arg, bytes, MUCH, 0);
	free(bytes);
	return r;
}

TASK_TEST(io, send_all_sends_all)
{
	struct eddy_scope scope;
	size_t got = 0;
	char bytes[4096];
	bool same = true;
	int fds[2];

	stream_pair(fds);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "sender", send_much, &fds[0]);
	while (got < MUCH) {
		ssize_t r = eddy_recv(fds[1], bytes, sizeof(bytes), 0);

		if (r <= 0)
			break;
		for (size_t i = 0; i < (size_t)r; i++)
			same &= bytes[i] == (char)((got + i) * 7 >> 3);
		got += (size_t)r;
	}
	EXPECT_EQ(got, MUCH);
	EXPECT(same);
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

/* --- files */

static char folder[] = "/tmp/eddy-io-XXXXXX";

static void make_folder(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
	cr_expect_eq(rmdir(folder), 0);
}

static int files(__attribute__((unused)) void *arg)
{
	struct open_how make = { .flags = O_RDWR | O_CREAT | O_EXCL, .mode = 0600 };
	struct open_how read_only = { .flags = O_RDONLY }, of_folder = { .flags = O_DIRECTORY };
	struct statx statx;
	char bytes[16] = "";
	int dir, fd;

	dir = eddy_openat2(AT_FDCWD, folder, &of_folder);
	EXPECT(dir >= 0);
	EXPECT(fcntl(dir, F_GETFD) & FD_CLOEXEC);
	fd = eddy_openat2(dir, "a", &make);
	EXPECT(fd >= 0);
	EXPECT_EQ(eddy_openat2(dir, "a", &make), -EEXIST);
	EXPECT_EQ(eddy_write(fd, "hello", 5, EDDY_OFFSET_NONE), 5);
	EXPECT_EQ(eddy_write(fd, "HE", 2, 0), 2);
	EXPECT_EQ(eddy_write(fd, "!", 1, EDDY_OFFSET_NONE), 1);
	EXPECT_EQ(eddy_read(fd, bytes, sizeof(bytes), 0), 6);
	EXPECT_EQ(strcmp(bytes, "HEllo!"), 0);
	EXPECT_EQ(eddy_read(fd, bytes, sizeof(bytes), EDDY_OFFSET_NONE), 0);
	EXPECT_EQ(eddy_fsync(fd, false), 0);
	EXPECT_EQ(eddy_fsync(fd, true), 0);
	EXPECT_EQ(eddy_fallocate(fd, 0, 0, 4096), 0);
	EXPECT_EQ(eddy_statx(dir, "a", 0, STATX_SIZE, &statx), 0);
	EXPECT_EQ(statx.stx_size, 4096);
	EXPECT_EQ(eddy_close(fd), 0);
	EXPECT_EQ(eddy_write(fd, "x", 1, 0), -EBADF);
	EXPECT_EQ(eddy_read(fd, bytes, 1, 0), -EBADF);
	EXPECT_EQ(eddy_fsync(fd, false), -EBADF);
	EXPECT_EQ(eddy_fallocate(fd, 0, 0, 1), -EBADF);
	fd = eddy_openat2(dir, "a", &read_only);
	EXPECT(fd >= 0);
	EXPECT_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	EXPECT_EQ(eddy_close(fd), 0);
	EXPECT_EQ(eddy_openat2(dir, "none", &read_only), -ENOENT);
	EXPECT_EQ(eddy_statx(dir, "none", 0, STATX_SIZE, &statx), -ENOENT);
	EXPECT_EQ(eddy_mkdirat(dir, "d", 0700), 0);
	EXPECT_EQ(eddy_mkdirat(dir, "d", 0700), -EEXIST);
	EXPECT_EQ(eddy_linkat(dir, "a", dir, "b", 0), 0);
	EXPECT_EQ(eddy_linkat(dir, "a", dir, "b", 0), -EEXIST);
	EXPECT_EQ(eddy_renameat(dir, "b", dir, "a2", RENAME_NOREPLACE), 0);
	EXPECT_EQ(eddy_renameat(dir, "a", dir, "a2", RENAME_NOREPLACE), -EEXIST);
	EXPECT_EQ(eddy_renameat(dir, "none", dir, "a2", 0), -ENOENT);
	EXPECT_EQ(eddy_unlinkat(dir, "a", 0), 0);
	EXPECT_EQ(eddy_unlinkat(dir, "a", 0), -ENOENT);
	EXPECT_EQ(eddy_unlinkat(dir, "a2", 0), 0);
	EXPECT_EQ(eddy_unlinkat(dir, "d", AT_REMOVEDIR), 0);
	EXPECT_EQ(eddy_close(dir), 0);
	return 0;
}

Test(io, files, .init = make_folder, .fini = remove_folder)
{
	expect_run(NULL, files, NULL);
}

/* Opening a FIFO that nobody writes to must not hold the loop. */
static int open_fifo(void *arg)
{
	struct open_how how = { .flags = O_RDONLY };
	int fd = eddy_openat2(AT_FDCWD, arg, &how);

	EXPECT(fd >= 0);
	EXPECT_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	EXPECT_EQ(eddy_close(fd), 0);
	return 0;
}

Test(io, opening_a_fifo_holds_nobody, .init = make_folder, .fini = remove_folder, .timeout = 10)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/fifo", folder);
	cr_assert_eq(mkfifo(path, 0600), 0);
	expect_run(NULL, open_fifo, path);
	unlink(path);
}

TASK_TEST(io, splice_and_poll)
{
	int from[2], to[2];
	char bytes[8] = "";

	EXPECT_EQ(pipe(from), 0);
	EXPECT_EQ(pipe(to), 0);
	EXPECT_EQ(write(from[1], "bytes", 5), 5);
	EXPECT_EQ(eddy_poll(from[0], POLLIN), POLLIN);
	EXPECT_EQ(eddy_poll(to[1], POLLIN | POLLOUT), POLLOUT);
	EXPECT_EQ(eddy_splice(from[0], EDDY_OFFSET_NONE, to[1], EDDY_OFFSET_NONE, 100, 0), 5);
	EXPECT_EQ(read(to[0], bytes, sizeof(bytes)), 5);
	close(to[0]);
	EXPECT(eddy_poll(to[1], 0) & POLLERR);
	close(to[1]);
	EXPECT_EQ(eddy_splice(from[0], EDDY_OFFSET_NONE, to[1], EDDY_OFFSET_NONE, 100, 0), -EBADF);
	EXPECT_EQ(eddy_poll(to[1], POLLIN), -EBADF);
	close(from[0]);
	close(from[1]);
	return 0;
}

/* --- cancelled while blocked, the buffer on the stack */

struct blocked {
	int fds[2];
	ssize_t (*call)(struct blocked *blocked, void *bytes, size_t len);
	ssize_t result, again;
	bool intact, returned;
};

static int be_blocked(void *arg)
{
	struct blocked *blocked = arg;
	struct eddy_scope shield;
	char bytes[512];

	memset(bytes, 'o', sizeof(bytes));
	blocked->result = blocked->call(blocked, bytes, sizeof(bytes));
	blocked->returned = true;
	/* What comes now must not be written here. */
	memset(bytes, 'n', sizeof(bytes));
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	(void)!write(blocked->fds[1], "late", 4);
	expect_turns(2);
	eddy_scope_end(&shield);
	blocked->intact = true;
	for (size_t i = 0; i < sizeof(bytes); i++)
		blocked->intact &= bytes[i] == 'n';
	blocked->again = blocked->call(blocked, bytes, sizeof(bytes));
	return 0;
}

static void cancel_blocked(struct blocked *blocked)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	EXPECT_EQ(eddy_scope_spawn(&scope, "blocked", be_blocked, blocked), 0);
	expect_turns(3);
	/* What a worker of the kernel's does has very likely begun; either way is right. */
	eddy_sleep(EDDY_MS);
	EXPECT(!blocked->returned);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(blocked->result, -ECANCELED);
	EXPECT_EQ(blocked->again, -ECANCELED);
	EXPECT(blocked->intact);
	close(blocked->fds[0]);
	close(blocked->fds[1]);
}

static void fill(int fd)
{
	char bytes[4096] = "";

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
}

static ssize_t call_recv(struct blocked *blocked, void *bytes, size_t len)
{
	return eddy_recv(blocked->fds[0], bytes, len, 0);
}

static ssize_t call_recvmsg(struct blocked *blocked, void *bytes, size_t len)
{
	struct iovec part = { bytes, len };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };

	return eddy_recvmsg(blocked->fds[0], &msg, 0);
}

static ssize_t call_send(struct blocked *blocked, void *bytes, size_t len)
{
	return eddy_send(blocked->fds[0], bytes, len, 0);
}

static ssize_t call_send_all(struct blocked *blocked, void *bytes, size_t len)
{
	return eddy_send_all(blocked->fds[0], bytes, len, 0);
}

static ssize_t call_sendmsg(struct blocked *blocked, void *bytes, size_t len)
{
	struct iovec part = { bytes, len };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };

	return eddy_sendmsg(blocked->fds[0], &msg, 0);
}

static ssize_t call_read(struct blocked *blocked, void *bytes, size_t len)
{
	return eddy_read(blocked->fds[0], bytes, len, EDDY_OFFSET_NONE);
}

static ssize_t call_write(struct blocked *blocked, void *bytes, size_t len)
{
	return eddy_write(blocked->fds[0], bytes, len, EDDY_OFFSET_NONE);
}

static ssize_t call_poll(struct blocked *blocked, __attribute__((unused)) void *bytes,
			 __attribute__((unused)) size_t len)
{
	return eddy_poll(blocked->fds[0], POLLIN);
}

TASK_TEST(io, cancelled_on_a_socket)
{
	static ssize_t (*const calls[])(struct blocked *, void *, size_t) = {
		call_recv, call_recvmsg,  call_poll,    call_read,
		call_send, call_send_all, call_sendmsg,
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct blocked blocked = { .call = calls[i] };

		stream_pair(blocked.fds);
		if (i >= 4)
			fill(blocked.fds[0]);
		cancel_blocked(&blocked);
	}
	return 0;
}

static ssize_t call_splice(struct blocked *blocked, __attribute__((unused)) void *bytes,
			   __attribute__((unused)) size_t len)
{
	int fds[2];
	ssize_t r;

	EXPECT_EQ(pipe(fds), 0);
	r = eddy_splice(blocked->fds[0], EDDY_OFFSET_NONE, fds[1], EDDY_OFFSET_NONE, 100, 0);
	close(fds[0]);
	close(fds[1]);
	return r;
}

TASK_TEST(io, cancelled_on_a_pipe)
{
	static ssize_t (*const calls[])(struct blocked *, void *, size_t) = {
		call_read,
		call_poll,
		call_splice,
		call_write,
	};

	int reader;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct blocked blocked = { .call = calls[i] };

		EXPECT_EQ(pipe(blocked.fds), 0);
		reader = -1;
		if (calls[i] == call_write) {
			fill(blocked.fds[1]);
			fcntl(blocked.fds[1], F_SETFL, 0);
			reader = blocked.fds[0];
			blocked.fds[0] = blocked.fds[1];
			blocked.fds[1] = -1;
		}
		cancel_blocked(&blocked);
		close(reader);
	}
	return 0;
}

static ssize_t call_accept(struct blocked *blocked, void *bytes, size_t len)
{
	socklen_t addr_len = (socklen_t)len;

	return eddy_accept(blocked->fds[0], bytes, &addr_len);
}

static struct sockaddr_in full;

static ssize_t call_connect(struct blocked *blocked, __attribute__((unused)) void *bytes,
			    __attribute__((unused)) size_t len)
{
	return eddy_connect(blocked->fds[0], (struct sockaddr *)&full, sizeof(full));
}

TASK_TEST(io, cancelled_accept_and_connect)
{
	struct blocked accepting = { .call = call_accept }, connecting = { .call = call_connect };
	struct sockaddr_in addr;
	int peers[8], listener = tcp_listen(&full, 0);

	accepting.fds[0] = tcp_listen(&addr, 1);
	accepting.fds[1] = dup(accepting.fds[0]);
	cancel_blocked(&accepting);
	/* Nobody takes from this backlog: what does not fit waits. */
	for (int i = 0; i < 8; i++) {
		peers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(peers[i], (struct sockaddr *)&full, sizeof(full));
	}
	connecting.fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	connecting.fds[1] = -1;
	cancel_blocked(&connecting);
	for (int i = 0; i < 8; i++)
		close(peers[i]);
	close(listener);
	return 0;
}

struct acceptor {
	int listener, first, second;
};

static int accept_twice(void *arg)
{
	struct acceptor *acceptor = arg;

	acceptor->first = eddy_accept(acceptor->listener, NULL, NULL);
	acceptor->second = eddy_accept(acceptor->listener, NULL, NULL);
	return 0;
}

TASK_TEST(io, accept_that_succeeded_while_cancelled_is_returned)
{
	struct acceptor acceptor = { 0 };
	struct sockaddr_in addr;
	struct eddy_scope scope;
	int peer;

	acceptor.listener = tcp_listen(&addr, 4);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "acceptor", accept_twice, &acceptor);
	expect_turns(2);
	peer = tcp_connect(&addr);
	/* The kernel accepts it, and nobody has looked yet. */
	eddyi_loop_enter(eddyi_loop());
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT(acceptor.first >= 0);
	EXPECT_EQ(acceptor.second, -ECANCELED);
	EXPECT_EQ(send(peer, "x", 1, 0), 1);
	EXPECT_EQ(eddy_close(acceptor.first), 0);
	close(peer);
	close(acceptor.listener);
	return 0;
}

TASK_TEST(io, cancelled_scope_starts_nothing_and_closes)
{
	struct open_how how = { .flags = O_RDONLY };
	struct eddy_scope scope;
	struct statx statx;
	int fds[2];

	stream_pair(fds);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_openat2(AT_FDCWD, "/dev/null", &how), -ECANCELED);
	EXPECT_EQ(eddy_statx(AT_FDCWD, "/", 0, STATX_SIZE, &statx), -ECANCELED);
	EXPECT_EQ(eddy_mkdirat(AT_FDCWD, "/none/none", 0), -ECANCELED);
	EXPECT_EQ(eddy_linkat(AT_FDCWD, "/none", AT_FDCWD, "/none/x", 0), -ECANCELED);
	EXPECT_EQ(eddy_renameat(AT_FDCWD, "/none", AT_FDCWD, "/none/x", 0), -ECANCELED);
	EXPECT_EQ(eddy_unlinkat(AT_FDCWD, "/none", 0), -ECANCELED);
	EXPECT_EQ(eddy_fsync(fds[0], false), -ECANCELED);
	EXPECT_EQ(eddy_fallocate(fds[0], 0, 0, 1), -ECANCELED);
	EXPECT_EQ(eddy_shutdown(fds[0], SHUT_RD), -ECANCELED);
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
