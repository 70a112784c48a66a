/* Tests of eddy/select.h: cases that are operations, and what becomes of those that lose. */
#include "select_rig.h"

#include <eddy/io.h>
#include <poll.h>

/* --- losers that succeeded */

TASK_TEST(select_op, an_accepted_connection_is_not_lost)
{
	int before = open_descriptors(), peer, item = 4;
	struct rig rig;
	char byte = 0;

	rig_up(&rig);
	peer = tcp_connect(&rig.addr);
	let_complete();
	/* The kernel has accepted; the loop has not seen it, and the channel is first. */
	EXPECT_EQ(eddy_chan_try_send(&rig.in, &item), 0);
	EXPECT_EQ(eddy_scope_join(&rig.scope), 0);
	EXPECT_EQ(rig.selector.result, 2);
	expect_ready(&rig, "100010");
	EXPECT_EQ(rig.selector.in_item, 4);
	EXPECT_EQ(write(peer, "x", 1), 1);
	EXPECT_EQ(eddy_recv(rig.selector.cases[4].result, &byte, 1, 0), 1);
	EXPECT_EQ(byte, 'x');
	close(rig.selector.cases[4].result);
	close(peer);
	rig_down(&rig);
	EXPECT_EQ(open_descriptors(), before);
	return eddy_scope_end(&rig.scope);
}

TASK_TEST(select_op, a_connection_that_was_not_accepted_stays)
{
	int before = open_descriptors(), peer, fd, item = 4;
	struct rig rig;

	rig_up(&rig);
	EXPECT_EQ(eddy_chan_try_send(&rig.in, &item), 0);
	EXPECT_EQ(eddy_scope_join(&rig.scope), 0);
	expect_ready(&rig, "100000");
	peer = tcp_connect(&rig.addr);
	fd = eddy_accept(rig.listener, NULL, NULL);
	EXPECT(fd >= 0);
	close(fd);
	close(peer);
	rig_down(&rig);
	EXPECT_EQ(open_descriptors(), before);
	return eddy_scope_end(&rig.scope);
}

TASK_TEST(select_op, received_bytes_are_not_lost)
{
	struct rig rig;
	char rest[8];

	rig_up(&rig);
	EXPECT_EQ(write(rig.fds[1], "bytes", 5), 5);
	let_complete();
	eddy_event_set(&rig.event);
	EXPECT_EQ(eddy_scope_join(&rig.scope), 0);
	EXPECT_EQ(rig.selector.result, 2);
	expect_ready(&rig, "001100");
	EXPECT_EQ(rig.selector.cases[3].result, 5);
	EXPECT_EQ(memcmp(rig.selector.bytes, "bytes", 5), 0);
	EXPECT_EQ(recv(rig.fds[0], rest, sizeof(rest), MSG_DONTWAIT), -1);
	rig_down(&rig);
	return eddy_scope_end(&rig.scope);
}

/* Whichever way the race ends: the bytes are in the case or still in the socket. */
TASK_TEST(select_op, bytes_are_received_or_left_alone)
{
	for (int i = 0; i < (IS_SLOW ? 20 : 100); i++) {
		struct rig rig;
		char rest[8];
		ssize_t got;

		rig_up(&rig);
		EXPECT_EQ(write(rig.fds[1], "bytes", 5), 5);
		if (i % 3 == 1)
			eddyi_loop_enter(eddyi_loop());
		eddy_event_set(&rig.event);
		EXPECT_EQ(eddy_scope_join(&rig.scope), 0);
		EXPECT_EQ(rig.selector.result, 1 + rig.selector.cases[3].ready);
		got = rig.selector.cases[3].result;
		if (got < 5)
			got += recv(rig.fds[0], rest, sizeof(rest), MSG_DONTWAIT);
		EXPECT_EQ(got, 5);
		EXPECT_EQ(recv(rig.fds[0], rest, sizeof(rest), MSG_DONTWAIT), -1);
		rig_down(&rig);
		EXPECT_EQ(eddy_scope_end(&rig.scope), 0);
	}
	return 0;
}

/* --- ops of all sorts */

TASK_TEST(select_op, losing_ops_have_let_go)
{
	int fds[2];

	stream_pair(fds);
	for (int i = 0; i < 50; i++) {
		char bytes[64];
		struct eddy_case cases[] = {
			case_recv(fds[0], bytes, sizeof(bytes)),
			case_poll(fds[0], POLLIN),
			eddy_case_after(i % 2 ? 1 : 50 * EDDY_US),
			eddy_case_op(),
		};

		io_uring_prep_poll_add(&cases[3].sqe, fds[1], POLLIN);
		EXPECT_EQ(eddy_select(cases, 4), 1);
		EXPECT(cases[2].ready);
		EXPECT_EQ(eddyi_loop()->ops, eddyi_loop()->own_ops);
	}
	close(fds[0]);
	close(fds[1]);
	return 0;
}

TASK_TEST(select_op, prepared_ops_can_be_used_again)
{
	struct eddy_case cases[2] = { eddy_case_op(), { 0 } };
	int fds[2];
	char byte;

	stream_pair(fds);
	io_uring_prep_poll_add(&cases[0].sqe, fds[0], POLLIN);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(write(fds[1], "x", 1), 1);
		EXPECT_EQ(eddy_select(cases, 2), 1);
		EXPECT(cases[0].ready);
		EXPECT_EQ(cases[0].result, POLLIN);
		EXPECT_EQ(read(fds[0], &byte, 1), 1);
		cases[1] = eddy_case_after(0);
		EXPECT_EQ(eddy_select(cases, 2), 1);
		EXPECT(!cases[0].ready && cases[1].ready);
		cases[1] = (struct eddy_case){ 0 };
	}
	close(fds[0]);
	close(fds[1]);
	return 0;
}

TASK_TEST(select_op, zero_copy_send)
{
	static char bytes[32768], got[sizeof(bytes)];
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, 1), peer = tcp_connect(&addr);
	int fd = accept(listener, NULL, NULL);
	struct eddy_case cases[2] = { eddy_case_op(), case_poll(listener, POLLIN) };
	size_t len = 0;

	memset(bytes, 'z', sizeof(bytes));
	io_uring_prep_rw(IORING_OP_SEND_ZC, &cases[0].sqe, fd, bytes, sizeof(bytes), 0);
	EXPECT_EQ(eddy_select(cases, 2), 1);
	EXPECT(cases[0].ready);
	EXPECT(cases[0].result > 0);
	EXPECT_EQ(eddyi_loop()->ops, eddyi_loop()->own_ops);
	memset(bytes, '!', sizeof(bytes));
	while (len < (size_t)cases[0].result) {
		ssize_t r = read(peer, got + len, sizeof(got) - len);

		EXPECT(r > 0);
		if (r <= 0)
			break;
		len += (size_t)r;
	}
	EXPECT(!memchr(got, '!', len));
	close(fd);
	close(peer);
	close(listener);
	return 0;
}

TASK_TEST(select_op, failed_ops_are_ready)
{
	struct eddy_case cases[] = { case_accept(-1), eddy_case_after(EDDY_NEVER) };

	EXPECT_EQ(eddy_select(cases, 2), 1);
	EXPECT(cases[0].ready);
	EXPECT_EQ(cases[0].result, -EBADF);
	return 0;
}

TASK_TEST(select_op, descriptor_closed_meanwhile)
{
	struct rig rig;

	rig_up(&rig);
	EXPECT_EQ(eddy_close(rig.listener), 0);
	EXPECT_EQ(eddy_scope_join(&rig.scope), 0);
	EXPECT_EQ(rig.selector.result, 1);
	expect_ready(&rig, "000010");
	EXPECT_EQ(rig.selector.cases[4].result, -ECANCELED);
	rig.listener = -1;
	rig_down(&rig);
	return eddy_scope_end(&rig.scope);
}

/* --- interrupted */

/* Nobody is told that an op was interrupted. */
static int interrupted(__attribute__((unused)) void *arg)
{
	int fds[2];

	stream_pair(fds);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	for (int i = 0; i < 200; i++) {
		struct eddy_case cases[] = {
			case_poll(fds[0], POLLIN),
			eddy_case_after(100 * EDDY_SECOND),
		};

		EXPECT_EQ(eddy_select(cases, 2), 1);
		EXPECT(cases[0].ready);
		EXPECT_EQ(cases[0].result, POLLIN);
	}
	close(fds[0]);
	close(fds[1]);
	return 0;
}

Test(select_op, interrupted_ops_are_made_again)
{
	setenv("EDDY_CHAOS", "1,eintr", 1);
	expect_run(NULL, interrupted, NULL);
}
