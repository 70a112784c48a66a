/* Tests of runtime/src/chaos/chaos.h: what it does to calls. */
#include "chaos/chaos.h"
#include "seeds.h"

#include <eddy/buffers.h>
#include <eddy/file.h>
#include <eddy/io.h>
#include <eddy/log.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

/* --- what it does to calls: counted by its records */

static int interrupted, failed, shortened, ended;

static void count_record(const struct eddy_record *record, __attribute__((unused)) void *arg)
{
	char text[256];

	snprintf(text, sizeof(text), "%.*s", (int)record->message.len, record->message.ptr);
	interrupted += strstr(text, "fails: Interrupted") != NULL;
	failed += strstr(text, "fails: ") && !strstr(text, "fails: Interrupted");
	shortened += strstr(text, " moves up to ") != NULL;
	ended += strstr(text, " ends early") != NULL;
}

static void count_records(void)
{
	setenv("EDDY_LOG", "eddy::chaos=debug", 1);
	cr_assert_eq(eddy_log_subscribe(count_record, NULL), 0);
}

static int echo_bytes(__attribute__((unused)) void *arg)
{
	char out[300], in[300];
	int fds[2];

	stream_pair(fds);
	for (int i = 0; i < 200; i++) {
		memset(out, 'a' + i % 26, sizeof(out));
		EXPECT_EQ(eddy_send_all(fds[0], out, sizeof(out), 0), 0);
		for (size_t len = 0; len < sizeof(in);) {
			ssize_t r = eddy_recv(fds[1], in + len, sizeof(in) - len, 0);

			EXPECT(r > 0);
			if (r <= 0)
				break;
			len += (size_t)r;
		}
		EXPECT_EQ(memcmp(in, out, sizeof(in)), 0);
	}
	EXPECT_EQ(eddy_close(fds[0]), 0);
	EXPECT_EQ(eddy_close(fds[1]), 0);
	return 0;
}

Test(chaos_io, interrupted_calls_are_made_again)
{
	count_records();
	run_under_seeds(2, "eintr", echo_bytes, NULL);
	cr_expect_gt(interrupted, 10);
	cr_expect_eq(failed + shortened, 0);
}

Test(chaos_io, streams_move_less_than_asked)
{
	count_records();
	run_under_seeds(2, "short", echo_bytes, NULL);
	cr_expect_gt(shortened, 10);
	cr_expect_eq(failed + interrupted, 0);
}

Test(chaos_io, all_at_once_is_benign)
{
	count_records();
	run_under_seeds(5, "shuffle,delay,short,eintr,nobufs,ends", echo_bytes, NULL);
	cr_expect_gt(shortened, 10);
	cr_expect_gt(interrupted, 10);
	cr_expect_eq(failed, 0);
}

static int move_records(__attribute__((unused)) void *arg)
{
	int pair[2], streams[2], packets[2], event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	char bytes[100] = { 0 };
	uint64_t count = 1;

	EXPECT_EQ(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair), 0);
	EXPECT_EQ(pipe2(packets, O_CLOEXEC | O_DIRECT), 0);
	stream_pair(streams);
	for (int i = 0; i < 50; i++) {
		EXPECT_EQ(eddy_send(pair[0], bytes, sizeof(bytes), 0), sizeof(bytes));
		EXPECT_EQ(eddy_recv(pair[1], bytes, sizeof(bytes), 0), sizeof(bytes));
		EXPECT_EQ(eddy_write(event, &count, sizeof(count), EDDY_OFFSET_NONE), 8);
		EXPECT_EQ(eddy_read(event, &count, sizeof(count), EDDY_OFFSET_NONE), 8);
		EXPECT_EQ(eddy_write(packets[1], bytes, sizeof(bytes), EDDY_OFFSET_NONE), 100);
		EXPECT_EQ(read(packets[0], bytes, sizeof(bytes)), sizeof(bytes));
		EXPECT_EQ(eddy_send(streams[0], bytes, sizeof(bytes), MSG_WAITALL), sizeof(bytes));
		EXPECT_EQ(eddy_recv(streams[1], bytes, sizeof(bytes), MSG_WAITALL), sizeof(bytes));
	}
	close(event);
	for (int i = 0; i < 2; i++) {
		close(pair[i]);
		close(packets[i]);
		close(streams[i]);
	}
	return 0;
}

Test(chaos_io, records_and_what_is_to_be_whole_stay_whole)
{
	run_under_seeds(3, "short", move_records, NULL);
}

static struct eddy_op recv_op;
static int received_bytes, refused, ends;

static void arm_recv(int fd);

static void received(struct eddy_op *op, int result, unsigned flags)
{
	if (result > 0)
		received_bytes += result;
	else if (result == -ENOBUFS)
		refused++;
	EXPECT_EQ(eddy_buffers_of(NULL, flags) != NULL, result > 0);
	eddy_buffers_give_back(NULL, flags);
	if (result > 0 || result == -ENOBUFS)
		arm_recv(op->fd);
	else
		ends++;
}

static void arm_recv(int fd)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&recv_op, received);

	eddy_buffers_prep_recv(NULL, sqe, fd);
	eddy_op_start(&recv_op, sqe);
}

static int receive_by_buffers(__attribute__((unused)) void *arg)
{
	char bytes[1000] = { 0 };
	int fds[2], sent = 0;

	received_bytes = 0;
	EXPECT_EQ(eddy_buffers_prepare(), 0);
	stream_pair(fds);
	arm_recv(fds[0]);
	for (int i = 0; i < 200; i++) {
		EXPECT_EQ(write(fds[1], bytes, sizeof(bytes)), sizeof(bytes));
		sent += (int)sizeof(bytes);
		for (int n = 0; n < 10000 && received_bytes < sent; n++)
			eddy_sleep(0);
		EXPECT_EQ(received_bytes, sent);
	}
	EXPECT_EQ(eddy_close(fds[0]), 0);
	EXPECT(!eddy_op_is_started(&recv_op));
	close(fds[1]);
	return 0;
}

Test(chaos_io, no_buffer_is_lost)
{
	run_under_seeds(5, "shuffle,delay,short,nobufs", receive_by_buffers, NULL);
	cr_expect_gt(refused, 10);
	cr_expect_eq(ends, 5);
}

static int polls, poll_ends, poll_result;

static void polled(__attribute__((unused)) struct eddy_op *op, int result, unsigned flags)
{
	polls++;
	poll_result = result;
	poll_ends += !(flags & IORING_CQE_F_MORE);
}

static int poll_often(__attribute__((unused)) void *arg)
{
	struct eddy_op op;
	struct io_uring_sqe *sqe;
	int fds[2];

	stream_pair(fds);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	polls = poll_ends = 0;
	for (int i = 0; i < 50; i++) {
		int before = polls;

		sqe = eddy_op_begin(&op, polled);
		io_uring_prep_poll_multishot(sqe, fds[0], POLLIN);
		eddy_op_start(&op, sqe);
		for (int n = 0; n < 1000 && polls == before; n++)
			eddy_sleep(0);
		/* Some are over without anybody's asking. */
		ends += !eddy_op_is_started(&op);
		eddy_op_cancel(&op);
		while (eddy_op_is_started(&op))
			eddy_sleep(0);
	}
	EXPECT_EQ(poll_ends, 50);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

Test(chaos_io, multishots_end_early)
{
	run_under("1,ends", poll_often, NULL);
	cr_expect(ends > 5 && ends < 45, "%d", ends);
}

static int some_limits;

static void received_some(__attribute__((unused)) struct eddy_op *op, int result, unsigned flags)
{
	some_limits += result == 1 && !(flags & IORING_CQE_F_MORE);
	eddy_buffers_give_back(NULL, flags);
}

/* One whose multishot has been taken away must not keep the limit. */
static int receive_some_often(__attribute__((unused)) void *arg)
{
	struct eddy_op op;
	int fds[2];

	EXPECT_EQ(eddy_buffers_prepare(), 0);
	stream_pair(fds);
	for (int i = 0; i < 50; i++) {
		struct io_uring_sqe *sqe = eddy_op_begin(&op, received_some);

		EXPECT_EQ(write(fds[1], "x", 1), 1);
		eddy_buffers_prep_recv_some(NULL, sqe, fds[0], 1);
		eddy_op_start(&op, sqe);
		while (eddy_op_is_started(&op))
			eddy_sleep(0);
	}
	close(fds[0]);
	close(fds[1]);
	return 0;
}

Test(chaos_io, limits_end_with_the_multishot)
{
	run_under("1,ends", receive_some_often, NULL);
	cr_expect_eq(some_limits, 50);
}

static int try_often(void *arg)
{
	int *fates = arg, fds[2];
	char bytes[100] = "";

	stream_pair(fds);
	for (int i = 0; i < 100; i++) {
		ssize_t r = eddy_try_send(fds[0], bytes, sizeof(bytes), 0);

		EXPECT(r == -EAGAIN || (r > 0 && r <= (ssize_t)sizeof(bytes)));
		fates[r < 0 ? 0 : r < (ssize_t)sizeof(bytes) ? 1 : 2]++;
	}
	close(fds[0]);
	close(fds[1]);
	return 0;
}

Test(chaos_io, sends_that_do_not_wait_move_less_or_nothing)
{
	int fates[3] = { 0 };

	run_under("1,delay,short", try_often, fates);
	cr_expect(fates[0] > 5 && fates[1] > 5 && fates[2] > 5, "%d %d %d", fates[0], fates[1],
		  fates[2]);
}

/* Whether it is still held back, or is in the kernel, or done: it ends. */
static int cancel_at_once(__attribute__((unused)) void *arg)
{
	struct eddy_op op;
	int fds[2];

	stream_pair(fds);
	for (int i = 0; i < 200; i++) {
		struct io_uring_sqe *sqe = eddy_op_begin(&op, polled);

		io_uring_prep_poll_add(sqe, fds[0], POLLIN);
		eddy_op_start(&op, sqe);
		if (i % 2)
			eddy_sleep(0);
		eddy_op_cancel(&op);
		for (int n = 0; n < 1000 && eddy_op_is_started(&op); n++)
			eddy_sleep(0);
		EXPECT(!eddy_op_is_started(&op));
		EXPECT_EQ(poll_result, -ECANCELED);
	}
	close(fds[0]);
	close(fds[1]);
	return 0;
}

Test(chaos_io, what_is_held_back_is_cancelled)
{
	run_under_seeds(3, "shuffle,delay", cancel_at_once, NULL);
}

/* Twice what is held at once, many times what the queues hold. */
static int many_at_once(__attribute__((unused)) void *arg)
{
	static struct eddy_op many[2 * EDDYI_CHAOS_CQES];

	polls = 0;
	for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
		struct io_uring_sqe *sqe = eddy_op_begin(&many[i], polled);

		io_uring_prep_nop(sqe);
		eddy_op_start(&many[i], sqe);
	}
	for (int i = 0; i < 1000 && polls < 2 * EDDYI_CHAOS_CQES; i++)
		eddy_sleep(0);
	EXPECT_EQ(polls, 2 * EDDYI_CHAOS_CQES);
	EXPECT_EQ(eddyi_loop()->ops, eddyi_loop()->own_ops);
	return 0;
}

Test(chaos_io, more_than_is_held)
{
	setenv("EDDY_CHAOS", "3", 1);
	expect_run(&(struct eddy_loop_options){ .sq_entries = 4 }, many_at_once, NULL);
}

/* The two completions of a send without copying come turns apart. */
static int send_without_copying(__attribute__((unused)) void *arg)
{
	static char bytes[16 * 1024], in[sizeof(bytes)];
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, 1), peer = tcp_connect(&addr);
	int fd = accept(listener, NULL, NULL);

	for (int i = 0; i < 20; i++) {
		struct eddy_op op;
		struct io_uring_sqe *sqe = eddy_op_begin_await(&op);

		io_uring_prep_rw(IORING_OP_SEND_ZC, sqe, fd, bytes, sizeof(bytes), 0);
		sqe->msg_flags = MSG_WAITALL;
		EXPECT_EQ(eddy_op_await(&op, sqe), sizeof(bytes));
		EXPECT(op.flags & IORING_CQE_F_NOTIF);
		EXPECT(!eddy_op_is_started(&op));
		EXPECT_EQ(recv(peer, in, sizeof(in), MSG_WAITALL), sizeof(in));
	}
	close(fd);
	close(peer);
	close(listener);
	return 0;
}

Test(chaos_io, a_notification_is_awaited_however_late)
{
	run_under_seeds(5, "delay", send_without_copying, NULL);
}

/* --- errors */

static int fail_somehow(__attribute__((unused)) void *arg)
{
	struct open_how how = { .flags = O_RDWR | O_CREAT | O_TRUNC, .mode = 0600 };
	char path[] = "/tmp/eddy-chaos-XXXXXX";
	int fds[2], fd = mkstemp(path);
	struct eddy_op op;

	close(fd);
	stream_pair(fds);
	for (int i = 0; i < 100; i++) {
		struct io_uring_sqe *sqe;
		ssize_t r;

		fd = eddy_openat2(AT_FDCWD, path, &how);
		EXPECT(fd >= 0 || fd == -EMFILE || fd == -ECANCELED);
		if (fd >= 0) {
			r = eddy_write(fd, "x", 1, 0);
			EXPECT(r == 1 || r == -ENOSPC || r == -ECANCELED);
			failed += r < 0;
			EXPECT_EQ(eddy_close(fd), 0);
		}
		failed += fd < 0;
		sqe = eddy_op_begin_await(&op);
		io_uring_prep_nop(sqe);
		r = eddy_op_await(&op, sqe);
		EXPECT(r == 0 || r == -ENOMEM || r == -ECANCELED);
		failed += r < 0;
		EXPECT_EQ(eddy_shutdown(fds[0], SHUT_RD), 0);
	}
	unlink(path);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

Test(chaos_io, calls_fail_and_clean_up_does_not)
{
	run_under_seeds(2, "eintr,errors", fail_somehow, NULL);
	cr_expect_gt(failed, 5);
}
