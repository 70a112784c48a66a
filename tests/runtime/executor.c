/* Tests of core/executor.h: the ring, and epoll with threads in its place, do the same. */
#include "expect.h"
#include "failing.h"

#include "../on_valgrind.h"

#include "base/uapi.h"
#include "core/executor.h"

#include <eddy/buffers.h>
#include <eddy/file.h>
#include <eddy/io.h>
#include <eddy/log.h>
#include <eddy/op.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct eddyi_executor *const executors[] = { &eddyi_executor_ring,
							  &eddyi_executor_poll };

static void run_over_each(const struct eddy_loop_options *options, eddy_task_fn *fn)
{
	for (size_t i = 0; i < COUNT(executors); i++) {
		int failed = expect_failed;

		setenv("EDDY_EXECUTOR", executors[i]->name, 1);
		cr_expect_eq(eddy_run(options, fn, NULL), 0, "over %s", executors[i]->name);
		cr_expect_eq(expect_failed, failed, "over %s", executors[i]->name);
	}
	expect_report();
}

#define EXECUTOR_TEST(name)                                                                        \
	static int task_##name(void *arg);                                                         \
	Test(executor, name)                                                                       \
	{                                                                                          \
		run_over_each(NULL, task_##name);                                                  \
	}                                                                                          \
	static int task_##name(__attribute__((unused)) void *arg)

/* What only epoll with threads does. */
#define POLL_TEST(name)                                                                            \
	static int task_##name(void *arg);                                                         \
	Test(executor, name)                                                                       \
	{                                                                                          \
		setenv("EDDY_EXECUTOR", "poll", 1);                                                \
		expect_run(NULL, task_##name, NULL);                                               \
	}                                                                                          \
	static int task_##name(__attribute__((unused)) void *arg)

struct counted {
	struct eddy_op op;
	int calls, ends, last;
};

static void note(struct eddy_op *op, int result, unsigned flags)
{
	struct counted *counted = eddy_of(op, struct counted, op);

	counted->calls++;
	counted->ends += !(flags & IORING_CQE_F_MORE);
	counted->last = result;
}

static struct io_uring_sqe *begin(struct counted *counted)
{
	*counted = (struct counted){ 0 };
	return eddy_op_begin(&counted->op, note);
}

static void until_ended(const struct counted *counted)
{
	uint64_t until = eddy_now() + 10 * EDDY_SECOND;

	while (!counted->ends && eddy_now() < until)
		expect_turns(1);
	EXPECT_EQ(counted->ends, 1);
}

/* ---- streams ---- */

struct peer {
	int fd;
	const char *bytes;
	size_t len;
};

static int write_later(void *arg)
{
	const struct peer *peer = arg;

	expect_turns(3);
	return eddy_write_all(peer->fd, peer->bytes, peer->len, EDDY_OFFSET_NONE);
}

EXECUTOR_TEST(waits_for_bytes)
{
	struct eddy_scope scope;
	int fds[3][2];

	stream_pair(fds[0]);
	EXPECT_EQ(pipe2(fds[1], O_CLOEXEC), 0);
	EXPECT_EQ(pipe2(fds[2], O_CLOEXEC | O_NONBLOCK), 0);
	for (size_t i = 0; i < 3; i++) {
		struct peer peer = { fds[i][1], "bytes", 5 };
		char buf[8] = "";

		eddy_scope_begin(&scope, NULL);
		eddy_scope_spawn(&scope, "peer", write_later, &peer);
		EXPECT_EQ(eddy_read(fds[i][0], buf, sizeof(buf), EDDY_OFFSET_NONE), 5);
		EXPECT_EQ(strcmp(buf, "bytes"), 0);
		EXPECT_EQ(eddy_scope_end(&scope), 0);
		EXPECT_EQ(eddy_close(fds[i][1]), 0);
		EXPECT_EQ(eddy_read(fds[i][0], buf, sizeof(buf), EDDY_OFFSET_NONE), 0);
		EXPECT_EQ(eddy_close(fds[i][0]), 0);
	}
	return 0;
}

static int drain(void *arg)
{
	const struct peer *peer = arg;
	char buf[4096];
	size_t len = 0;
	ssize_t r;

	while (len < peer->len && (r = eddy_read(peer->fd, buf, sizeof(buf), EDDY_OFFSET_NONE)) > 0)
		len += (size_t)r;
	EXPECT_EQ(len, peer->len);
	return 0;
}

/* Also if the descriptor would block. */
EXECUTOR_TEST(waits_for_room)
{
	static const char bytes[512 * 1024];
	struct eddy_scope scope;
	int fds[2][2];

	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds[0]), 0);
	EXPECT_EQ(pipe2(fds[1], O_CLOEXEC), 0);
	for (size_t i = 0; i < 2; i++) {
		struct peer peer = { fds[i][0], NULL, sizeof(bytes) };

		eddy_scope_begin(&scope, NULL);
		eddy_scope_spawn(&scope, "peer", drain, &peer);
		EXPECT_EQ(eddy_write_all(fds[i][1], bytes, sizeof(bytes), EDDY_OFFSET_NONE), 0);
		EXPECT_EQ(eddy_scope_join(&scope), 0);
		EXPECT_EQ(eddy_scope_end(&scope), 0);
		close(fds[i][0]);
		close(fds[i][1]);
	}
	return 0;
}

static int send_parts(void *arg)
{
	const struct peer *peer = arg;

	for (size_t i = 0; i < peer->len; i++) {
		expect_turns(2);
		EXPECT_EQ(eddy_send(peer->fd, peer->bytes + i, 1, 0), 1);
	}
	return 0;
}

EXECUTOR_TEST(receives_all_or_at_once)
{
	struct eddy_scope scope;
	struct peer peer = { .bytes = "abcde", .len = 5 };
	char buf[8] = "";
	int fds[2];

	stream_pair(fds);
	peer.fd = fds[1];
	EXPECT_EQ(eddy_recv(fds[0], buf, 1, MSG_DONTWAIT), -EAGAIN);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "parts", send_parts, &peer);
	EXPECT_EQ(eddy_recv(fds[0], buf, 5, MSG_WAITALL), 5);
	EXPECT_EQ(strcmp(buf, "abcde"), 0);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	/* The end comes before all bytes. */
	EXPECT_EQ(write(fds[1], "xy", 2), 2);
	close(fds[1]);
	EXPECT_EQ(eddy_recv(fds[0], buf, 5, MSG_WAITALL), 2);
	close(fds[0]);
	return 0;
}

static int send_pieces(void *arg)
{
	const struct peer *peer = arg;

	for (size_t sent = 0; sent < peer->len; sent += 3) {
		expect_turns(2);
		EXPECT_EQ(eddy_send(peer->fd, peer->bytes + sent, 3, 0), 3);
	}
	return 0;
}

EXECUTOR_TEST(moves_messages_whole)
{
	static char much[1 << 20];
	char buf[3][8] = { "", "", "" };
	struct iovec parts[] = { { buf[0], 2 }, { buf[1], 0 }, { buf[2], 7 } },
		     large[] = { { much, 5 }, { much, sizeof(much) - 5 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 3 },
		      sent = { .msg_iov = large, .msg_iovlen = 2 };
	struct peer peer = { .bytes = "abcdefghi", .len = 9 };
	struct eddy_scope scope;
	int fds[2];

	stream_pair(fds);
	peer.fd = fds[1];
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "pieces", send_pieces, &peer);
	EXPECT_EQ(eddy_recvmsg(fds[0], &message, MSG_WAITALL), 9);
	EXPECT_EQ(strcmp(buf[0], "ab"), 0);
	EXPECT_EQ(strcmp(buf[2], "cdefghi"), 0);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	peer.len = sizeof(much);
	eddy_scope_spawn(&scope, "drain", drain, &peer);
	EXPECT_EQ(eddy_sendmsg(fds[0], &sent, MSG_WAITALL), sizeof(much));
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* The sender is ready all the time, the receiver is not. A ring sends an empty datagram in the end. */
POLL_TEST(a_datagram_waits_for_the_receiver_that_it_names)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(sa_family_t);
	struct iovec part = { "x", 1 };
	struct msghdr message = {
		.msg_name = &addr, .msg_namelen = sizeof(addr), .msg_iov = &part, .msg_iovlen = 1
	};
	int to = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
	    from = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct counted counted;
	struct io_uring_sqe *sqe;
	uint64_t turns;
	char byte;

	/* The kernel chooses the name. */
	EXPECT_EQ(bind(to, (struct sockaddr *)&addr, len), 0);
	len = sizeof(addr);
	EXPECT_EQ(getsockname(to, (struct sockaddr *)&addr, &len), 0);
	message.msg_namelen = len;
	while (sendmsg(from, &message, MSG_DONTWAIT) == 1)
		;
	sqe = begin(&counted);
	io_uring_prep_sendmsg(sqe, from, &message, 0);
	eddy_op_start(&counted.op, sqe);
	expect_turns(4);
	turns = eddy_loop_stats(eddy_loop_self()).turns;
	eddy_sleep(30 * EDDY_MS);
	EXPECT(eddy_loop_stats(eddy_loop_self()).turns - turns < 200);
	EXPECT_EQ(counted.calls, 0);
	while (recv(to, &byte, 1, MSG_DONTWAIT) == 1)
		;
	until_ended(&counted);
	EXPECT_EQ(counted.last, 1);
	close(to);
	close(from);
	return 0;
}

static int connect_later(void *arg)
{
	int fd = eddy_socket(AF_INET, SOCK_STREAM, 0);

	expect_turns(2);
	EXPECT_EQ(fcntl(fd, F_SETFL, 0), 0);
	EXPECT_EQ(eddy_connect(fd, arg, sizeof(struct sockaddr_in)), 0);
	/* It blocks as before. */
	EXPECT(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	EXPECT_EQ(eddy_close(fd), 0);
	return 0;
}

EXECUTOR_TEST(connects_and_accepts_on_sockets_that_block)
{
	struct sockaddr_in addr;
	struct eddy_scope scope;
	int listener = tcp_listen(&addr, 1), fd;
	char byte;

	EXPECT_EQ(fcntl(listener, F_SETFL, 0), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "peer", connect_later, &addr);
	fd = eddy_accept(listener, NULL, NULL);
	EXPECT(fd >= 0);
	EXPECT_EQ(eddy_recv(fd, &byte, 1, 0), 0);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	eddy_close(fd);
	eddy_close(listener);
	/* Nobody listens there any more. */
	fd = eddy_socket(AF_INET, SOCK_STREAM, 0);
	EXPECT_EQ(eddy_connect(fd, (struct sockaddr *)&addr, sizeof(addr)), -ECONNREFUSED);
	eddy_close(fd);
	return 0;
}

EXECUTOR_TEST(waits_on_a_number_that_was_reused)
{
	struct eddy_scope scope;
	char byte;

	for (int i = 0; i < 3; i++) {
		struct peer peer = { .bytes = "x", .len = 1 };
		int fds[2];

		stream_pair(fds);
		peer.fd = fds[1];
		eddy_scope_begin(&scope, NULL);
		eddy_scope_spawn(&scope, "peer", write_later, &peer);
		EXPECT_EQ(eddy_recv(fds[0], &byte, 1, 0), 1);
		EXPECT_EQ(eddy_scope_end(&scope), 0);
		/* Behind the loop's back. */
		close(fds[0]);
		close(fds[1]);
	}
	return 0;
}

/* An event of the number's last file, which another descriptor keeps open, says nothing of the connection. */
EXECUTOR_TEST(a_connect_heeds_no_event_of_another_file)
{
	struct counted polled, connected;
	struct sockaddr_in addr;
	struct io_uring_sqe *sqe;
	int listener = tcp_listen(&addr, 0), fds[2], kept, fd, first = tcp_connect(&addr);

	stream_pair(fds);
	kept = dup(fds[0]);
	sqe = begin(&polled);
	io_uring_prep_poll_add(sqe, fds[0], POLLIN);
	eddy_op_start(&polled.op, sqe);
	expect_turns(2);
	eddy_op_cancel(&polled.op);
	until_ended(&polled);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	EXPECT_EQ(dup3(fd, fds[0], O_CLOEXEC), fds[0]);
	/* The backlog is full. */
	sqe = begin(&connected);
	io_uring_prep_connect(sqe, fds[0], (struct sockaddr *)&addr, sizeof(addr));
	eddy_op_start(&connected.op, sqe);
	expect_turns(2);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	expect_turns(4);
	EXPECT_EQ(connected.calls, 0);
	eddy_op_cancel(&connected.op);
	until_ended(&connected);
	EXPECT_EQ(connected.last, -ECANCELED);
	close(fd);
	close(first);
	close(kept);
	close(listener);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* Sleep, and expect a loop that does not turn round meanwhile; on a busy machine it lasts longer. */
static void expect_rest(uint64_t ns)
{
	uint64_t turns = eddy_loop_stats(eddy_loop_self()).turns, begun = eddy_now();

	eddy_sleep(ns);
	EXPECT(eddy_loop_stats(eddy_loop_self()).turns - turns <
	       20 + (eddy_now() - begun) / EDDY_MS);
}

/* Its error queue keeps the socket ready; nobody turns round for that. */
EXECUTOR_TEST(sleeps_while_an_error_queue_waits)
{
	struct counted counted;
	struct io_uring_sqe *sqe;
	char byte;
	int fds[2];

	tcp_pair(fds);
	queue_error(fds[0]);
	sqe = begin(&counted);
	io_uring_prep_recv(sqe, fds[0], &byte, 1, 0);
	eddy_op_start(&counted.op, sqe);
	expect_turns(4);
	expect_rest(30 * EDDY_MS);
	EXPECT_EQ(counted.calls, 0);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	until_ended(&counted);
	EXPECT_EQ(counted.last, 1);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* ---- more than one completion ---- */

EXECUTOR_TEST(a_multishot_poll_is_told_of_each_change)
{
	struct counted counted;
	struct io_uring_sqe *sqe = begin(&counted);
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint64_t one = 1;

	io_uring_prep_poll_multishot(sqe, fd, POLLIN);
	eddy_op_start(&counted.op, sqe);
	expect_turns(2);
	EXPECT_EQ(counted.calls, 0);
	for (int i = 1; i <= 3; i++) {
		EXPECT_EQ(write(fd, &one, sizeof(one)), sizeof(one));
		expect_turns(2);
		EXPECT_EQ(counted.calls, i);
		/* Once for each change. */
		expect_turns(3);
		EXPECT_EQ(counted.calls, i);
	}
	eddy_op_cancel(&counted.op);
	until_ended(&counted);
	EXPECT_EQ(counted.last, -ECANCELED);
	close(fd);
	return 0;
}

EXECUTOR_TEST(a_multishot_accept_goes_on)
{
	struct counted counted;
	struct io_uring_sqe *sqe = begin(&counted);
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, 8), peer;

	io_uring_prep_multishot_accept(sqe, listener, NULL, NULL, SOCK_CLOEXEC);
	eddy_op_start(&counted.op, sqe);
	for (int i = 1; i <= 3; i++) {
		peer = tcp_connect(&addr);
		while (counted.calls < i && !counted.ends)
			expect_turns(1);
		EXPECT(counted.last >= 0);
		close(counted.last);
		close(peer);
	}
	EXPECT_EQ(eddy_close(listener), 0);
	EXPECT_EQ(counted.ends, 1);
	return 0;
}

EXECUTOR_TEST(a_receive_takes_a_buffer_of_the_group)
{
	struct eddy_buffers buffers;
	struct io_uring_sqe *sqe;
	struct eddy_op op;
	int fds[2], r;

	stream_pair(fds);
	EXPECT_EQ(eddy_buffers_open(&buffers, &(struct eddy_buffers_options){ 1, 16 }), 0);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(write(fds[1], "bytes", 5), 5);
		sqe = eddy_op_begin_await(&op);
		eddy_buffers_prep_recv(&buffers, sqe, fds[0]);
		r = eddy_op_await(&op, sqe);
		EXPECT_EQ(r, 5);
		EXPECT(op.flags & IORING_CQE_F_BUFFER);
		EXPECT_EQ(memcmp(eddy_buffers_of(&buffers, op.flags), "bytes", 5), 0);
		if (i == 1) {
			unsigned flags = op.flags;

			/* It was the only one. */
			EXPECT_EQ(write(fds[1], "more", 4), 4);
			sqe = eddy_op_begin_await(&op);
			eddy_buffers_prep_recv(&buffers, sqe, fds[0]);
			EXPECT_EQ(eddy_op_await(&op, sqe), -ENOBUFS);
			op.flags = flags;
			EXPECT_EQ(recv(fds[0], (char[4]){ 0 }, 4, 0), 4);
		}
		eddy_buffers_give_back(&buffers, op.flags);
	}
	eddy_buffers_close(&buffers);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

EXECUTOR_TEST(a_zero_copy_send_ends_with_its_notification)
{
	static const char bytes[] = "bytes";
	struct counted counted;
	struct io_uring_sqe *sqe = begin(&counted);
	char buf[8] = "";
	int fds[2];

	tcp_pair(fds);
	io_uring_prep_send_zc(sqe, fds[0], bytes, 5, 0, 0);
	eddy_op_start(&counted.op, sqe);
	EXPECT_EQ(eddy_recv(fds[1], buf, sizeof(buf), 0), 5);
	until_ended(&counted);
	EXPECT_EQ(counted.calls, 2);
	EXPECT_EQ(strcmp(buf, bytes), 0);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* The notification says how the bytes went, and nothing of the send. */
EXECUTOR_TEST(a_chain_goes_on_after_a_zero_copy_send_that_reports_usage)
{
	struct counted sent, next;
	struct io_uring_sqe *sqe;
	int fds[2];

	/* Of Linux 6.2. */
	if (!kernel_is("6.2"))
		return 0;
	tcp_pair(fds);
	sqe = begin(&sent);
	io_uring_prep_send_zc(sqe, fds[0], "bytes", 5, 0, EDDYI_SEND_ZC_REPORT_USAGE);
	sqe->flags |= IOSQE_IO_LINK;
	eddy_op_start(&sent.op, sqe);
	sqe = begin(&next);
	io_uring_prep_nop(sqe);
	eddy_op_start(&next.op, sqe);
	until_ended(&sent);
	until_ended(&next);
	EXPECT_EQ(sent.calls, 2);
	EXPECT_EQ(next.last, 0);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* Flags that mean nothing, or nothing here. */
EXECUTOR_TEST(refuses_flags_that_it_does_not_know)
{
	struct msghdr message = { 0 };
	struct io_uring_sqe *sqe;
	struct eddy_op op;
	char byte = 0;
	int fds[2];

	stream_pair(fds);
	for (int i = 0; i < 3; i++) {
		sqe = eddy_op_begin_await(&op);
		if (i == 0)
			io_uring_prep_send(sqe, fds[0], &byte, 1, 0);
		else if (i == 1)
			io_uring_prep_sendmsg(sqe, fds[0], &message, 0);
		else
			io_uring_prep_recvmsg(sqe, fds[0], &message, MSG_DONTWAIT);
		sqe->ioprio = 1 << 15;
		EXPECT_EQ(eddy_op_await(&op, sqe), -EINVAL);
	}
	close(fds[0]);
	close(fds[1]);
	return 0;
}

POLL_TEST(gives_provided_buffers_to_receives_only)
{
	struct io_uring_sqe *sqe;
	struct eddy_op op;
	int fds[2];

	stream_pair(fds);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	sqe = eddy_op_begin_await(&op);
	io_uring_prep_read(sqe, fds[0], NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	EXPECT_EQ(eddy_op_await(&op, sqe), -EINVAL);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* More completions than the queue has room for, all at once. */
static int fill_queue(__attribute__((unused)) void *arg)
{
	static struct counted many[400];
	size_t ended = 0;

	for (size_t i = 0; i < COUNT(many); i++) {
		struct io_uring_sqe *sqe = begin(&many[i]);

		io_uring_prep_nop(sqe);
		eddy_op_start(&many[i].op, sqe);
	}
	for (int turns = 0; ended < COUNT(many) && turns < 1000; turns++) {
		expect_turns(1);
		ended = 0;
		for (size_t i = 0; i < COUNT(many); i++)
			ended += (size_t)many[i].ends;
	}
	EXPECT_EQ(ended, COUNT(many));
	return 0;
}

Test(executor, completions_beyond_the_queue_are_not_lost)
{
	run_over_each(&(struct eddy_loop_options){ .sq_entries = 4 }, fill_queue);
}

static int accepted;

static void close_accepted(struct eddy_op *op, int result, unsigned flags)
{
	note(op, result, flags);
	if (result < 0)
		return;
	accepted++;
	close(result);
}

/* It may end for want of room, and is started again. */
static int accept_many(__attribute__((unused)) void *arg)
{
	struct counted counted = { 0 };
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, 100), peers[100];

	for (size_t i = 0; i < COUNT(peers); i++)
		peers[i] = tcp_connect(&addr);
	accepted = 0;
	for (int turns = 0; accepted < (int)COUNT(peers) && turns < 1000; turns++) {
		if (!eddy_op_is_started(&counted.op)) {
			struct io_uring_sqe *sqe = eddy_op_begin(&counted.op, close_accepted);

			io_uring_prep_multishot_accept(sqe, listener, NULL, NULL, SOCK_CLOEXEC);
			eddy_op_start(&counted.op, sqe);
		}
		expect_turns(1);
	}
	EXPECT_EQ(accepted, COUNT(peers));
	EXPECT_EQ(eddy_close(listener), 0);
	for (size_t i = 0; i < COUNT(peers); i++)
		close(peers[i]);
	return 0;
}

Test(executor, a_multishot_has_more_completions_than_the_queue)
{
	run_over_each(&(struct eddy_loop_options){ .sq_entries = 4 }, accept_many);
}

/* Also if the queue has room for all. */
POLL_TEST(a_multishot_lets_others_run)
{
	struct counted counted = { 0 };
	struct io_uring_sqe *sqe = eddy_op_begin(&counted.op, close_accepted);
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, 400), peers[400], most = 0;

	for (size_t i = 0; i < COUNT(peers); i++)
		peers[i] = tcp_connect(&addr);
	accepted = 0;
	io_uring_prep_multishot_accept(sqe, listener, NULL, NULL, SOCK_CLOEXEC);
	eddy_op_start(&counted.op, sqe);
	for (int turns = 0; accepted < (int)COUNT(peers) && turns < 1000; turns++) {
		int before = accepted;

		expect_turns(1);
		most = accepted - before > most ? accepted - before : most;
	}
	EXPECT_EQ(accepted, COUNT(peers));
	EXPECT(most <= 128);
	EXPECT_EQ(counted.ends, 0);
	EXPECT_EQ(eddy_close(listener), 0);
	for (size_t i = 0; i < COUNT(peers); i++)
		close(peers[i]);
	return 0;
}

/* ---- chains, timeouts and cancels ---- */

EXECUTOR_TEST(a_chain_ends_at_its_first_error)
{
	struct counted first, second, third;
	struct io_uring_sqe *sqe = begin(&first);
	char byte;
	int fds[2];

	stream_pair(fds);
	io_uring_prep_recv(sqe, fds[0], &byte, 1, 0);
	sqe->flags |= IOSQE_IO_LINK;
	eddy_op_start(&first.op, sqe);
	sqe = begin(&second);
	io_uring_prep_close(sqe, -1);
	sqe->flags |= IOSQE_IO_LINK;
	eddy_op_start(&second.op, sqe);
	sqe = begin(&third);
	io_uring_prep_nop(sqe);
	eddy_op_start(&third.op, sqe);
	expect_turns(3);
	EXPECT_EQ(first.calls + second.calls + third.calls, 0);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	until_ended(&third);
	EXPECT_EQ(first.last, 1);
	EXPECT_EQ(second.last, -EBADF);
	EXPECT_EQ(third.last, -ECANCELED);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

EXECUTOR_TEST(a_linked_timeout_bounds_the_entry_before_it)
{
	struct __kernel_timespec soon = { .tv_nsec = 1000000 }, late = { .tv_sec = 60 };
	struct counted counted, timeout;
	struct io_uring_sqe *sqe;
	int fds[2];

	stream_pair(fds);
	for (int i = 0; i < 2; i++) {
		sqe = begin(&counted);
		io_uring_prep_poll_add(sqe, fds[0], POLLIN);
		sqe->flags |= IOSQE_IO_LINK;
		eddy_op_start(&counted.op, sqe);
		sqe = begin(&timeout);
		io_uring_prep_link_timeout(sqe, i ? &late : &soon, 0);
		eddy_op_start(&timeout.op, sqe);
		if (i)
			EXPECT_EQ(write(fds[1], "x", 1), 1);
		until_ended(&counted);
		until_ended(&timeout);
		EXPECT_EQ(counted.last, i ? POLLIN : -ECANCELED);
		EXPECT_EQ(timeout.last, i ? -ECANCELED : -ETIME);
	}
	/* No entry is before it. */
	sqe = begin(&timeout);
	io_uring_prep_link_timeout(sqe, &soon, 0);
	eddy_op_start(&timeout.op, sqe);
	until_ended(&timeout);
	EXPECT_EQ(timeout.last, -EINVAL);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* A thread opens a pipe that nobody writes to, which a ring does not wait for. */
POLL_TEST(a_linked_timeout_says_that_a_call_has_begun)
{
	struct __kernel_timespec soon = { .tv_nsec = 200000000 };
	char path[] = "/tmp/eddy-executor-XXXXXX", pipe[64];
	struct counted counted, timeout;
	struct io_uring_sqe *sqe;
	int writer;

	EXPECT(mkdtemp(path) != NULL);
	snprintf(pipe, sizeof(pipe), "%s/pipe", path);
	EXPECT_EQ(mkfifo(pipe, 0600), 0);
	/* On a busy machine the thread may begin later than the timeout. */
	do {
		sqe = begin(&counted);
		io_uring_prep_openat(sqe, AT_FDCWD, pipe, O_RDONLY | O_CLOEXEC, 0);
		sqe->flags |= IOSQE_IO_LINK;
		eddy_op_start(&counted.op, sqe);
		sqe = begin(&timeout);
		io_uring_prep_link_timeout(sqe, &soon, 0);
		eddy_op_start(&timeout.op, sqe);
		until_ended(&timeout);
		soon.tv_sec++;
	} while (timeout.last == -ETIME && counted.calls && soon.tv_sec < 5);
	EXPECT_EQ(timeout.last, -EALREADY);
	EXPECT_EQ(counted.calls, 0);
	writer = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	until_ended(&counted);
	close(counted.last);
	close(writer);
	unlink(pipe);
	rmdir(path);
	return 0;
}

EXECUTOR_TEST(timeouts_expire_or_are_cancelled)
{
	struct __kernel_timespec soon = { .tv_nsec = 1000000 }, late = { .tv_sec = 60 };
	struct counted first, second;
	struct io_uring_sqe *sqe = begin(&first);
	uint64_t began = eddy_now();

	io_uring_prep_timeout(sqe, &soon, 0, 0);
	eddy_op_start(&first.op, sqe);
	sqe = begin(&second);
	io_uring_prep_timeout(sqe, &late, 0, 0);
	eddy_op_start(&second.op, sqe);
	until_ended(&first);
	EXPECT_EQ(first.last, -ETIME);
	EXPECT(eddy_now() - began >= EDDY_MS);
	eddy_op_cancel(&second.op);
	until_ended(&second);
	EXPECT_EQ(second.last, -ECANCELED);
	return 0;
}

/* ---- files ---- */

EXECUTOR_TEST(files)
{
	char path[] = "/tmp/eddy-executor-XXXXXX", buf[8] = "";
	int dir, fd, other;
	struct statx statx;

	/* Over epoll a file is opened by openat2(2), which valgrind does not know. */
	if (RUNNING_ON_VALGRIND)
		return 0;
	EXPECT(mkdtemp(path) != NULL);
	dir = eddy_openat(AT_FDCWD, path, O_DIRECTORY, 0);
	EXPECT(dir >= 0);
	fd = eddy_openat(dir, "one", O_CREAT | O_EXCL | O_RDWR, 0600);
	EXPECT(fd >= 0);
	EXPECT_EQ(eddy_openat(dir, "one", O_CREAT | O_EXCL | O_RDWR, 0600), -EEXIST);
	EXPECT_EQ(eddy_write_all(fd, "bytes", 5, 0), 0);
	EXPECT_EQ(eddy_read(fd, buf, sizeof(buf), 1), 4);
	EXPECT_EQ(strcmp(buf, "ytes"), 0);
	EXPECT_EQ(eddy_fsync(fd, true), 0);
	EXPECT_EQ(eddy_fallocate(fd, 0, 0, 4096), 0);
	EXPECT_EQ(eddy_ftruncate(fd, 3), 0);
	EXPECT_EQ(eddy_mkdirat(dir, "folder", 0700), 0);
	EXPECT_EQ(eddy_linkat(dir, "one", dir, "folder/two", 0), 0);
	EXPECT_EQ(eddy_renameat(dir, "folder/two", dir, "three", 0), 0);
	EXPECT_EQ(eddy_statx(dir, "three", 0, STATX_SIZE, &statx), 0);
	EXPECT_EQ(statx.stx_size, 3);
	other = eddy_openat(dir, "three", O_RDONLY, 0);
	EXPECT_EQ(eddy_read(other, buf, sizeof(buf), EDDY_OFFSET_NONE), 3);
	EXPECT_EQ(eddy_read(other, buf, sizeof(buf), EDDY_OFFSET_NONE), 0);
	EXPECT_EQ(eddy_close(other), 0);
	EXPECT_EQ(eddy_close(fd), 0);
	EXPECT_EQ(eddy_unlinkat(dir, "one", 0), 0);
	EXPECT_EQ(eddy_unlinkat(dir, "three", 0), 0);
	EXPECT_EQ(eddy_unlinkat(dir, "folder", AT_REMOVEDIR), 0);
	EXPECT_EQ(eddy_close(dir), 0);
	EXPECT_EQ(eddy_close(dir), -EBADF);
	EXPECT_EQ(rmdir(path), 0);
	return 0;
}

/* To and from a socket that blocks, over a file. */
static void splice_between(int fds[2])
{
	int file = memfd_create("file", MFD_CLOEXEC), from[2], to[2];
	struct eddy_scope scope;
	struct peer peer = { .bytes = "bytes", .len = 5 };
	char buf[8] = "";

	EXPECT_EQ(pipe2(from, O_CLOEXEC), 0);
	EXPECT_EQ(pipe2(to, O_CLOEXEC), 0);
	EXPECT_EQ(fcntl(fds[0], F_SETFL, 0), 0);
	/* The bytes come while the splice waits. */
	peer.fd = from[1];
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "peer", write_later, &peer);
	EXPECT_EQ(eddy_splice(from[0], EDDY_OFFSET_NONE, file, 0, 100, 0), 5);
	EXPECT_EQ(eddy_splice(file, 1, to[1], EDDY_OFFSET_NONE, 100, 0), 4);
	EXPECT_EQ(eddy_splice(to[0], EDDY_OFFSET_NONE, fds[0], EDDY_OFFSET_NONE, 100, 0), 4);
	EXPECT_EQ(eddy_recv(fds[1], buf, sizeof(buf), 0), 4);
	EXPECT_EQ(strcmp(buf, "ytes"), 0);
	peer.fd = fds[1];
	eddy_scope_spawn(&scope, "peer", write_later, &peer);
	EXPECT_EQ(eddy_splice(fds[0], EDDY_OFFSET_NONE, to[1], EDDY_OFFSET_NONE, 100, 0), 5);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	EXPECT(!(fcntl(fds[0], F_GETFL) & O_NONBLOCK));
	for (int i = 0; i < 2; i++) {
		close(from[i]);
		close(to[i]);
		close(fds[i]);
	}
	close(file);
}

EXECUTOR_TEST(splices_between_a_file_and_a_socket)
{
	int fds[2];

	stream_pair(fds);
	splice_between(fds);
	tcp_pair(fds);
	splice_between(fds);
	return 0;
}

static void begin_splice(struct counted *counted, int in, int64_t in_at, int out, int64_t out_at,
			 unsigned len)
{
	struct io_uring_sqe *sqe = begin(counted);

	io_uring_prep_splice(sqe, in, in_at, out, out_at, len, 0);
	eddy_op_start(&counted->op, sqe);
}

/* A socket that blocks, and a terminal; neither heeds SPLICE_F_NONBLOCK. */
EXECUTOR_TEST(cancels_a_splice_from_a_descriptor_that_blocks)
{
	struct counted counted;
	int fds[2], to[2];

	EXPECT_EQ(pipe2(to, O_CLOEXEC), 0);
	for (int i = 0; i < 2; i++) {
		if (i == 0) {
			tcp_pair(fds);
			EXPECT_EQ(fcntl(fds[0], F_SETFL, 0), 0);
		} else {
			fds[1] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
			EXPECT_EQ(grantpt(fds[1]), 0);
			EXPECT_EQ(unlockpt(fds[1]), 0);
			fds[0] = open(ptsname(fds[1]), O_RDWR | O_NOCTTY | O_CLOEXEC);
		}
		begin_splice(&counted, fds[0], -1, to[1], -1, 100);
		eddy_sleep(5 * EDDY_MS);
		EXPECT_EQ(counted.calls, 0);
		eddy_op_cancel(&counted.op);
		until_ended(&counted);
		EXPECT(counted.last < 0);
		close(fds[0]);
		close(fds[1]);
	}
	close(to[0]);
	close(to[1]);
	return 0;
}

static int splice_some(void *arg)
{
	const int *fds = arg;
	ssize_t r = eddy_splice(fds[0], EDDY_OFFSET_NONE, fds[1], EDDY_OFFSET_NONE, 100, 0);

	return r == 1 ? 0 : (int)r;
}

EXECUTOR_TEST(two_tasks_splice_from_a_socket_that_blocks)
{
	const struct eddy_scope_options limit = { .timeout_ns = 200 * EDDY_MS };
	int fds[2], to[2], ends[2];
	struct eddy_scope scope;
	char byte;

	tcp_pair(fds);
	EXPECT_EQ(fcntl(fds[0], F_SETFL, 0), 0);
	EXPECT_EQ(pipe2(to, O_CLOEXEC), 0);
	ends[0] = fds[0];
	ends[1] = to[1];
	eddy_scope_begin(&scope, &limit);
	eddy_scope_spawn(&scope, "one", splice_some, ends);
	eddy_scope_spawn(&scope, "two", splice_some, ends);
	expect_turns(3);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	eddy_scope_join(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
	EXPECT_EQ(eddy_read(to[0], &byte, 1, EDDY_OFFSET_NONE), 1);
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(to[i]);
	}
	return 0;
}

/* The loop has nothing else to do, so only the timeout's own timer ends its sleep. */
EXECUTOR_TEST(a_timeout_ends_the_sleep_that_it_begins_with)
{
	struct __kernel_timespec soon = { .tv_nsec = 1000000 };
	uint64_t began = eddy_now();
	struct io_uring_sqe *sqe;
	struct eddy_op op;

	sqe = eddy_op_begin_await(&op);
	io_uring_prep_timeout(sqe, &soon, 0, 0);
	EXPECT_EQ(eddy_op_await(&op, sqe), -ETIME);
	EXPECT(eddy_now() - began < 10 * EDDY_SECOND);
	return 0;
}

/* A splice that waits for a pipe can be cancelled, also if its other end is a file. */
EXECUTOR_TEST(cancels_a_splice_from_an_empty_pipe_to_a_file)
{
	int file = memfd_create("file", MFD_CLOEXEC), from[2];
	struct counted counted;

	EXPECT_EQ(pipe2(from, O_CLOEXEC), 0);
	begin_splice(&counted, from[0], -1, file, 0, 100);
	eddy_sleep(5 * EDDY_MS);
	EXPECT_EQ(counted.calls, 0);
	eddy_op_cancel(&counted.op);
	until_ended(&counted);
	EXPECT_EQ(counted.last, -ECANCELED);
	close(from[0]);
	close(from[1]);
	close(file);
	return 0;
}

/* The error queue keeps the socket ready, and the splice finds no bytes in it. */
POLL_TEST(sleeps_while_a_splice_waits_at_an_error_queue)
{
	struct counted counted;
	int fds[2], to[2];

	tcp_pair(fds);
	queue_error(fds[0]);
	EXPECT_EQ(pipe2(to, O_CLOEXEC), 0);
	begin_splice(&counted, fds[0], -1, to[1], -1, 100);
	expect_turns(4);
	expect_rest(30 * EDDY_MS);
	EXPECT_EQ(counted.calls, 0);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	until_ended(&counted);
	EXPECT_EQ(counted.last, 1);
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(to[i]);
	}
	return 0;
}

/* The n-th splice of a test finds its ends not ready, or all do until then. */
static struct {
	int drained, refused, calls;
} splices;

ssize_t __real_splice(int in, loff_t *in_offset, int out, loff_t *out_offset, size_t len,
		      unsigned flags);
ssize_t __wrap_splice(int in, loff_t *in_offset, int out, loff_t *out_offset, size_t len,
		      unsigned flags);

ssize_t __wrap_splice(int in, loff_t *in_offset, int out, loff_t *out_offset, size_t len,
		      unsigned flags)
{
	static char bytes[1 << 16];
	ssize_t r = -1;

	splices.calls++;
	if (splices.calls <= splices.refused) {
		/* Nor is there a thread. */
		failing_at = 1;
		errno = EAGAIN;
		return r;
	}
	r = __real_splice(in, in_offset, out, out_offset, len, flags);
	if (r < 0 && errno == EAGAIN && splices.drained) {
		EXPECT(read(splices.drained, bytes, sizeof(bytes)) > 0);
		splices.drained = 0;
		errno = EAGAIN;
	}
	return r;
}

/* Its output is drained just after the splice has found it full, and its input is watched for changes only. */
POLL_TEST(a_splice_whose_ends_became_ready_goes_on)
{
	static const char bytes[1 << 16];
	struct counted polled, counted;
	struct io_uring_sqe *sqe;
	int from[2], to[2];

	EXPECT_EQ(pipe2(from, O_CLOEXEC | O_NONBLOCK), 0);
	EXPECT_EQ(pipe2(to, O_CLOEXEC | O_NONBLOCK), 0);
	sqe = begin(&polled);
	io_uring_prep_poll_multishot(sqe, from[0], POLLIN);
	eddy_op_start(&polled.op, sqe);
	begin_splice(&counted, from[0], -1, to[1], -1, 1);
	expect_turns(2);
	while (write(to[1], bytes, sizeof(bytes)) > 0)
		;
	splices.drained = to[0];
	EXPECT_EQ(write(from[1], "x", 1), 1);
	until_ended(&counted);
	EXPECT_EQ(splices.drained, 0);
	EXPECT_EQ(counted.last, 1);
	eddy_op_cancel(&polled.op);
	until_ended(&polled);
	for (int i = 0; i < 2; i++) {
		close(from[i]);
		close(to[i]);
	}
	return 0;
}

/* Without a thread the loop makes the call, and not again in the same turn. */
POLL_TEST(a_splice_of_a_file_is_made_again_later)
{
	int file = memfd_create("file", MFD_CLOEXEC), to[2];
	struct counted counted;

	EXPECT_EQ(pipe2(to, O_CLOEXEC), 0);
	EXPECT_EQ(write(file, "bytes", 5), 5);
	splices.refused = 20;
	/* What the loop itself has queued is taken. */
	expect_turns(1);
	begin_splice(&counted, file, 0, to[1], -1, 100);
	/* The first is the entry's memory. */
	failing_at = 2;
	expect_turns(2);
	EXPECT(splices.calls == 1 || splices.calls == 2);
	until_ended(&counted);
	failing_at = 0;
	EXPECT_EQ(counted.last, 5);
	close(file);
	close(to[0]);
	close(to[1]);
	return 0;
}

/* ---- the choice ---- */

static char said[512];

static void take_note(const struct eddy_record *record, __attribute__((unused)) void *data)
{
	if (record->level <= EDDY_LOG_WARN)
		snprintf(said, sizeof(said), "%.*s", (int)record->message.len, record->message.ptr);
}

static const struct eddyi_executor *chosen;

static int choose(__attribute__((unused)) void *arg)
{
	chosen = eddyi_loop()->executor;
	return 0;
}

static void forbid_rings(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = COUNT(code), .filter = code };

	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

Test(executor, is_the_one_that_the_environment_names)
{
	for (size_t i = 0; i < COUNT(executors); i++) {
		setenv("EDDY_EXECUTOR", executors[i]->name, 1);
		cr_expect_eq(eddy_run(NULL, choose, NULL), 0);
		cr_expect_eq(chosen, executors[i]);
	}
	cr_assert_eq(eddy_log_subscribe(take_note, NULL), 0);
	setenv("EDDY_EXECUTOR", "kqueue", 1);
	cr_expect_eq(eddy_run(NULL, choose, NULL), -EINVAL);
	cr_expect(strstr(said, "EDDY_EXECUTOR is ring or poll"), "%s", said);
	eddy_log_unsubscribe();
}

/* Before Linux 6.1. */
Test(executor, is_poll_on_a_kernel_whose_rings_are_too_old)
{
	unsetenv("EDDY_EXECUTOR");
	/* uname(2) says 2.6. */
	cr_assert(personality(UNAME26) >= 0);
	cr_assert_eq(eddy_log_subscribe(take_note, NULL), 0);
	forbid_rings();
	cr_expect_eq(eddy_run(NULL, choose, NULL), 0);
	cr_expect_eq(chosen, &eddyi_executor_poll);
	cr_expect(strstr(said, "rings need Linux 6.1"), "%s", said);
	cr_expect(!strstr(said, "eddy needs"), "%s", said);
	eddy_log_unsubscribe();
}

Test(executor, is_poll_where_rings_are_refused)
{
	unsetenv("EDDY_EXECUTOR");
	cr_assert_eq(eddy_log_subscribe(take_note, NULL), 0);
	forbid_rings();
	cr_expect_eq(eddy_run(NULL, choose, NULL), 0);
	cr_expect_eq(chosen, &eddyi_executor_poll);
	cr_expect(strstr(said, "io_uring is not available"), "%s", said);
	cr_expect(strstr(said, "io_uring_setup"), "it names no remedy: %s", said);
	/* Once is enough. */
	said[0] = 0;
	cr_expect_eq(eddy_run(NULL, choose, NULL), 0);
	cr_expect_eq(said[0], 0, "%s", said);
	/* Not if the ring is asked for. */
	setenv("EDDY_EXECUTOR", "ring", 1);
	cr_expect_eq(eddy_run(NULL, choose, NULL), -EPERM);
	eddy_log_unsubscribe();
}
