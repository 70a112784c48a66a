#include <eddy/select.h>

#include "expect.h"

#include <eddy/io.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Lets the kernel finish what it can, and dispatches none of it. */
static void let_complete(void)
{
	eddyi_loop_enter(eddyi_loop());
	eddyi_loop_enter(eddyi_loop());
}

/* --- what is ready at once */

TASK_TEST(select, takes_one_of_what_is_ready)
{
	struct eddy_chan a, b;
	struct eddy_event event;
	int item = 7, got[2] = { 0 };

	eddy_chan_init(&a, sizeof(int), 1);
	eddy_chan_init(&b, sizeof(int), 1);
	eddy_event_init(&event);
	for (int i = 0; i < 20; i++) {
		struct eddy_case cases[] = {
			eddy_case_chan_recv(&a, &got[0]),
			eddy_case_chan_recv(&b, &got[1]),
			eddy_case_event(&event),
			{ 0 },
		};

		eddy_chan_try_send(&a, &item);
		eddy_chan_try_send(&b, &item);
		EXPECT_EQ(eddy_select(cases, 4), 1);
		EXPECT_EQ(a.count + b.count, 1);
		EXPECT_EQ(cases[0].ready, a.count == 0);
		EXPECT_EQ(cases[1].ready, b.count == 0);
		EXPECT_EQ(got[a.count], 7);
		EXPECT(!cases[2].ready && !cases[3].ready);
	}
	eddy_chan_deinit(&a);
	eddy_chan_deinit(&b);
	return 0;
}

TASK_TEST(select, each_kind_alone)
{
	struct eddy_chan chan;
	struct eddy_event event;
	struct eddy_case one;
	int item = 5, got = 0;

	eddy_chan_init(&chan, sizeof(int), 1);
	eddy_event_init(&event);
	one = eddy_case_chan_send(&chan, &item);
	EXPECT_EQ(eddy_select(&one, 1), 1);
	EXPECT(one.ready);
	EXPECT_EQ(one.result, 0);
	EXPECT_EQ(chan.count, 1);
	one = eddy_case_chan_recv(&chan, &got);
	EXPECT_EQ(eddy_select(&one, 1), 1);
	EXPECT_EQ(got, 5);
	eddy_chan_close(&chan);
	EXPECT_EQ(eddy_select(&one, 1), 1);
	EXPECT(one.ready);
	EXPECT_EQ(one.result, -EPIPE);
	one = eddy_case_chan_send(&chan, &item);
	EXPECT_EQ(eddy_select(&one, 1), 1);
	EXPECT_EQ(one.result, -EPIPE);
	eddy_event_set(&event);
	one = eddy_case_event(&event);
	EXPECT_EQ(eddy_select(&one, 1), 1);
	EXPECT(one.ready);
	one = eddy_case_at(1);
	EXPECT_EQ(eddy_select(&one, 1), 1);
	EXPECT(one.ready);
	EXPECT_EQ(eddyi_loop()->ops, eddyi_loop()->own_ops);
	eddy_chan_deinit(&chan);
	return 0;
}

TASK_TEST(select, time)
{
	uint64_t before = eddy_now();
	struct eddy_case cases[] = {
		eddy_case_after(EDDY_NEVER),
		eddy_case_after(2 * EDDY_MS),
		eddy_case_at(before + EDDY_SECOND * 100),
	};

	EXPECT_EQ(eddy_select(cases, 3), 1);
	EXPECT(cases[1].ready);
	EXPECT_EQ(cases[1].result, 0);
	EXPECT(eddy_now() >= before + 2 * EDDY_MS);
	EXPECT(!eddy_timer_is_armed(&cases[0].timer));
	EXPECT(!eddy_timer_is_armed(&cases[2].timer));
	return 0;
}

/* --- waiting */

/* A select over two channels, an event, a socket and, far away, a time. */
struct selector {
	struct eddy_chan *in, *out;
	struct eddy_event *event;
	int fd, listener;
	struct eddy_case cases[6];
	int in_item, out_item;
	char bytes[8];
	int result, runs;
};

static int run_selector(void *arg)
{
	struct selector *s = arg;

	memset(s->cases, 0, sizeof(s->cases));
	if (s->in)
		s->cases[0] = eddy_case_chan_recv(s->in, &s->in_item);
	if (s->out)
		s->cases[1] = eddy_case_chan_send(s->out, &s->out_item);
	if (s->event)
		s->cases[2] = eddy_case_event(s->event);
	if (s->fd)
		s->cases[3] = eddy_case_recv(s->fd, s->bytes, sizeof(s->bytes), 0);
	if (s->listener)
		s->cases[4] = eddy_case_accept(s->listener);
	s->cases[5] = eddy_case_after(100 * EDDY_SECOND);
	s->result = eddy_select(s->cases, 6);
	s->runs++;
	return 0;
}

struct rig {
	struct eddy_chan in, out;
	struct eddy_event event;
	struct eddy_scope scope;
	struct selector selector;
	struct sockaddr_in addr;
	int fds[2], listener;
};

/* Everything there is, and a select that waits for it. */
static void rig_up(struct rig *rig)
{
	eddy_chan_init(&rig->in, sizeof(int), 0);
	eddy_chan_init(&rig->out, sizeof(int), 0);
	eddy_event_init(&rig->event);
	stream_pair(rig->fds);
	rig->listener = tcp_listen(&rig->addr, 4);
	rig->selector = (struct selector){
		.in = &rig->in,
		.out = &rig->out,
		.event = &rig->event,
		.fd = rig->fds[0],
		.listener = rig->listener,
		.out_item = 33,
	};
	eddy_scope_begin(&rig->scope, NULL);
	eddy_scope_spawn(&rig->scope, "selector", run_selector, &rig->selector);
	expect_turns(2);
	EXPECT_EQ(rig->selector.runs, 0);
	EXPECT_EQ(eddyi_loop()->ops, eddyi_loop()->own_ops + 2);
}

static void expect_ready(struct rig *rig, const char *wanted)
{
	EXPECT_EQ(rig->selector.runs, 1);
	for (int i = 0; i < 6; i++)
		EXPECT_EQ(rig->selector.cases[i].ready, wanted[i] == '1');
}

/* Nothing of the select is left anywhere. */
static void rig_down(struct rig *rig)
{
	EXPECT_EQ(eddyi_loop()->ops, eddyi_loop()->own_ops);
	EXPECT(eddy_list_is_empty(&rig->event.waiters));
	eddy_chan_deinit(&rig->in);
	eddy_chan_deinit(&rig->out);
	close(rig->fds[0]);
	close(rig->fds[1]);
	close(rig->listener);
}

TASK_TEST(select, waits_for_an_item)
{
	struct rig rig;
	int item = 4;

	rig_up(&rig);
	EXPECT_EQ(eddy_chan_try_send(&rig.in, &item), 0);
	/* It is claimed: nobody finds it in another queue, and all of those may end. */
	EXPECT_EQ(eddy_chan_try_send(&rig.in, &item), -EAGAIN);
	EXPECT_EQ(eddy_chan_try_recv(&rig.out, &item), -EAGAIN);
	EXPECT(eddy_list_is_empty(&rig.event.waiters));
	EXPECT_EQ(eddy_scope_join(&rig.scope), 0);
	EXPECT_EQ(rig.selector.result, 1);
	EXPECT_EQ(rig.selector.in_item, 4);
	expect_ready(&rig, "100000");
	rig_down(&rig);
	return eddy_scope_end(&rig.scope);
}

TASK_TEST(select, waits_for_a_receiver)
{
	struct rig rig;
	int item = 0;

	rig_up(&rig);
	EXPECT_EQ(eddy_chan_recv(&rig.out, &item), 0);
	EXPECT_EQ(item, 33);
	EXPECT_EQ(eddy_scope_join(&rig.scope), 0);
	EXPECT_EQ(rig.selector.result, 1);
	expect_ready(&rig, "010000");
	rig_down(&rig);
	return eddy_scope_end(&rig.scope);
}

TASK_TEST(select, waits_for_an_event)
{
	struct rig rig;

	rig_up(&rig);
	eddy_event_set(&rig.event);
	EXPECT_EQ(eddy_scope_join(&rig.scope), 0);
	EXPECT_EQ(rig.selector.result, 1);
	expect_ready(&rig, "001000");
	rig_down(&rig);
	return eddy_scope_end(&rig.scope);
}

TASK_TEST(select, waits_for_an_op)
{
	struct rig rig;
	int item = 1;

	rig_up(&rig);
	EXPECT_EQ(write(rig.fds[1], "abc", 3), 3);
	EXPECT_EQ(eddy_scope_join(&rig.scope), 0);
	EXPECT_EQ(rig.selector.result, 1);
	expect_ready(&rig, "000100");
	EXPECT_EQ(rig.selector.cases[3].result, 3);
	EXPECT_EQ(memcmp(rig.selector.bytes, "abc", 3), 0);
	EXPECT_EQ(eddy_chan_try_send(&rig.in, &item), -EAGAIN);
	rig_down(&rig);
	return eddy_scope_end(&rig.scope);
}

TASK_TEST(select, closed_channels)
{
	struct rig rig;

	rig_up(&rig);
	eddy_chan_close(&rig.out);
	eddy_chan_close(&rig.in);
	EXPECT_EQ(eddy_scope_join(&rig.scope), 0);
	EXPECT_EQ(rig.selector.result, 1);
	expect_ready(&rig, "010000");
	EXPECT_EQ(rig.selector.cases[1].result, -EPIPE);
	rig_down(&rig);
	return eddy_scope_end(&rig.scope);
}

/* --- losers that succeeded */

TASK_TEST(select, an_accepted_connection_is_not_lost)
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

TASK_TEST(select, a_connection_that_was_not_accepted_stays)
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

TASK_TEST(select, received_bytes_are_not_lost)
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
TASK_TEST(select, bytes_are_received_or_left_alone)
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

/* --- cancellation */

TASK_TEST(select, cancelled)
{
	struct rig rig;
	int item = 4;

	rig_up(&rig);
	eddy_scope_cancel(&rig.scope);
	/* At the same turn, before it has run. */
	EXPECT_EQ(eddy_chan_try_send(&rig.in, &item), -EAGAIN);
	EXPECT_EQ(eddy_chan_try_recv(&rig.out, &item), -EAGAIN);
	eddy_event_set(&rig.event);
	EXPECT_EQ(eddy_scope_end(&rig.scope), -ECANCELED);
	EXPECT_EQ(rig.selector.result, -ECANCELED);
	expect_ready(&rig, "000000");
	rig_down(&rig);
	return 0;
}

TASK_TEST(select, what_was_handed_over_beats_cancellation)
{
	struct rig rig;
	int item = 4;

	rig_up(&rig);
	EXPECT_EQ(eddy_chan_try_send(&rig.in, &item), 0);
	eddy_scope_cancel(&rig.scope);
	EXPECT_EQ(eddy_scope_end(&rig.scope), -ECANCELED);
	EXPECT_EQ(rig.selector.result, 1);
	EXPECT_EQ(rig.selector.in_item, 4);
	expect_ready(&rig, "100000");
	rig_down(&rig);
	return 0;
}

TASK_TEST(select, what_the_kernel_did_beats_cancellation)
{
	int before = open_descriptors(), peer;
	struct rig rig;

	rig_up(&rig);
	peer = tcp_connect(&rig.addr);
	EXPECT_EQ(write(rig.fds[1], "bytes", 5), 5);
	let_complete();
	eddy_scope_cancel(&rig.scope);
	EXPECT_EQ(eddy_scope_end(&rig.scope), -ECANCELED);
	EXPECT_EQ(rig.selector.result, 2);
	expect_ready(&rig, "000110");
	EXPECT_EQ(rig.selector.cases[3].result, 5);
	EXPECT_EQ(close(rig.selector.cases[4].result), 0);
	close(peer);
	rig_down(&rig);
	EXPECT_EQ(open_descriptors(), before);
	return 0;
}

TASK_TEST(select, inside_a_cancelled_scope)
{
	struct eddy_scope scope;
	struct eddy_chan chan;
	struct eddy_case one;
	int item = 1;

	eddy_chan_init(&chan, sizeof(int), 1);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	one = eddy_case_chan_send(&chan, &item);
	EXPECT_EQ(eddy_select(&one, 1), -ECANCELED);
	EXPECT(!one.ready);
	EXPECT_EQ(chan.count, 0);
	eddy_chan_deinit(&chan);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	return 0;
}

TASK_TEST(select, of_nothing_waits_for_cancellation)
{
	struct eddy_scope scope;
	struct eddy_case none = { 0 };

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = EDDY_MS });
	EXPECT_EQ(eddy_select(&none, 1), -ECANCELED);
	EXPECT_EQ(eddy_select(NULL, 0), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
	return 0;
}

/* --- ops of all sorts */

TASK_TEST(select, losing_ops_have_let_go)
{
	int fds[2];

	stream_pair(fds);
	for (int i = 0; i < 50; i++) {
		char bytes[64];
		struct eddy_case cases[] = {
			eddy_case_recv(fds[0], bytes, sizeof(bytes), 0),
			eddy_case_read(fds[0], bytes, sizeof(bytes), EDDY_OFFSET_NONE),
			eddy_case_poll(fds[0], POLLIN),
			eddy_case_after(i % 2 ? 1 : 50 * EDDY_US),
			eddy_case_op(),
		};

		io_uring_prep_poll_add(&cases[4].sqe, fds[1], POLLIN);
		EXPECT_EQ(eddy_select(cases, 5), 1);
		EXPECT(cases[3].ready);
		EXPECT_EQ(eddyi_loop()->ops, eddyi_loop()->own_ops);
	}
	close(fds[0]);
	close(fds[1]);
	return 0;
}

TASK_TEST(select, prepared_ops_can_be_used_again)
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

TASK_TEST(select, zero_copy_send)
{
	static char bytes[32768], got[sizeof(bytes)];
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, 1), peer = tcp_connect(&addr);
	int fd = accept(listener, NULL, NULL);
	struct eddy_case cases[2] = { eddy_case_op(), eddy_case_poll(listener, POLLIN) };
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

TASK_TEST(select, failed_ops_are_ready)
{
	struct eddy_case cases[] = { eddy_case_accept(-1), eddy_case_after(EDDY_NEVER) };

	EXPECT_EQ(eddy_select(cases, 2), 1);
	EXPECT(cases[0].ready);
	EXPECT_EQ(cases[0].result, -EBADF);
	return 0;
}

TASK_TEST(select, descriptor_closed_meanwhile)
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

/* --- each other */

static int both_ways(void *arg)
{
	struct eddy_chan *chan = arg;
	int got = 0, item = 1;
	struct eddy_case cases[] = {
		eddy_case_chan_recv(chan, &got),
		eddy_case_chan_send(chan, &item),
	};

	EXPECT_EQ(eddy_select(cases, 2), 1);
	EXPECT_EQ(cases[0].result | cases[1].result, 0);
	EXPECT_EQ(got, cases[0].ready);
	return cases[0].ready;
}

static int received;

static int counted_both_ways(void *arg)
{
	int r = both_ways(arg);

	received += r;
	return 0;
}

TASK_TEST(select, both_ways_on_one_channel_meets_another_and_not_itself)
{
	struct eddy_chan chan;
	struct eddy_scope scope;

	eddy_chan_init(&chan, sizeof(int), 0);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 9; i++)
		eddy_scope_spawn(&scope, "both", counted_both_ways, &chan);
	expect_turns(3);
	/* The ninth has nobody. */
	EXPECT_EQ(scope.running, 1);
	EXPECT(!eddy_list_is_empty(&chan.senders));
	EXPECT(!eddy_list_is_empty(&chan.receivers));
	counted_both_ways(&chan);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(received, 5);
	eddy_chan_deinit(&chan);
	return eddy_scope_end(&scope);
}

static void set_it(void *arg)
{
	eddy_event_set(arg);
}

TASK_TEST(select, ready_right_before_it_suspends)
{
	struct eddy_event event;
	struct eddy_case cases[2];

	eddy_event_init(&event);
	cases[0] = eddy_case_event(&event);
	cases[1] = eddy_case_after(100 * EDDY_SECOND);
	eddy_task_before_suspend(set_it, &event);
	EXPECT_EQ(eddy_select(cases, 2), 1);
	EXPECT(cases[0].ready);
	return 0;
}

/* --- fairness */

TASK_TEST(select, what_is_always_ready_starves_nothing)
{
	struct eddy_chan chan;
	struct eddy_event event;
	int fds[2], item, chosen[3] = { 0 };

	stream_pair(fds);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	eddy_chan_init(&chan, sizeof(int), 0);
	eddy_chan_close(&chan);
	eddy_event_init(&event);
	eddy_event_set(&event);
	for (int i = 0; i < 300; i++) {
		struct eddy_case cases[] = {
			eddy_case_chan_recv(&chan, &item),
			eddy_case_event(&event),
			eddy_case_poll(fds[0], POLLIN),
		};
		int r = eddy_select(cases, 3);

		EXPECT(r == 1 || (r == 2 && cases[2].ready));
		for (int n = 0; n < 3; n++)
			chosen[n] += cases[n].ready;
	}
	for (int n = 0; n < 3; n++)
		EXPECT(chosen[n] > 50);
	eddy_chan_deinit(&chan);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* What was ready when the select looked may be gone when the ops have had their turn. */
static int takes_it_away(void *arg)
{
	int item;

	EXPECT_EQ(eddy_chan_try_recv(arg, &item), 0);
	return 0;
}

TASK_TEST(select, what_is_gone_after_the_ops_had_their_turn)
{
	int fds[2], peeked = 0;

	stream_pair(fds);
	for (int i = 0; i < 100 && peeked < 5; i++) {
		struct eddy_chan chan;
		struct eddy_scope scope;
		int got = 0, item = 2;
		struct eddy_case cases[] = {
			eddy_case_poll(fds[0], POLLIN),
			eddy_case_chan_recv(&chan, &got),
			eddy_case_after(EDDY_MS),
		};

		eddy_chan_init(&chan, sizeof(int), 1);
		eddy_chan_try_send(&chan, &item);
		eddy_scope_begin(&scope, NULL);
		eddy_scope_spawn(&scope, "takes it away", takes_it_away, &chan);
		EXPECT_EQ(eddy_select(cases, 3), 1);
		if (!cases[1].ready) {
			EXPECT(cases[2].ready);
			peeked++;
		} else {
			eddy_chan_try_send(&chan, &item);
		}
		EXPECT_EQ(eddy_scope_join(&scope), 0);
		EXPECT_EQ(eddy_scope_end(&scope), 0);
		eddy_chan_deinit(&chan);
	}
	EXPECT_EQ(peeked, 5);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* --- everything at once, against a model */

#define WORKERS 6
#define CHANS 3
#define PAIRS 2
#define VALUES 20000

static struct {
	struct eddy_chan chans[CHANS];
	struct eddy_event event;
	int pairs[PAIRS][2];
	unsigned seed;
	int next;
	char state[VALUES]; /* 0 unsent, 1 on its way, 2 received, 3 taken back */
	long written, read;
	int several;
	bool stopping;
} mix;

static unsigned draw(void)
{
	mix.seed = mix.seed * 1103515245 + 12345;
	return mix.seed >> 16;
}

struct picked {
	int value;
	char bytes[16];
};

static struct eddy_case draw_case(struct picked *picked)
{
	picked->value = -1;
	switch (draw() % 8) {
	case 0:
	case 1:
	case 2:
		return eddy_case_chan_recv(&mix.chans[draw() % CHANS], &picked->value);
	case 3:
	case 4:
		if (mix.next == VALUES)
			break;
		picked->value = mix.next++;
		mix.state[picked->value] = 1;
		return eddy_case_chan_send(&mix.chans[draw() % CHANS], &picked->value);
	case 5:
		return eddy_case_recv(mix.pairs[draw() % PAIRS][0], picked->bytes, 1 + draw() % 16,
				      0);
	case 6:
		return eddy_case_event(&mix.event);
	default:
		return eddy_case_after(draw() % 2 ? 0 : draw() % 64 * EDDY_US);
	}
	return (struct eddy_case){ 0 };
}

/* The kinds of cases, by what they are made of. */
static bool is_op(const struct eddy_case *one)
{
	return one->sqe.opcode == IORING_OP_RECV;
}

static bool is_send(const struct eddy_case *one, const struct picked *picked)
{
	return one->entry.item && one->entry.item == &picked->value && mix.next > picked->value &&
	       picked->value >= 0 && mix.state[picked->value] == 1 && one->kind == 2;
}

static bool is_recv(const struct eddy_case *one)
{
	return one->entry.item && one->kind == 1;
}

static void check_case(const struct eddy_case *one, const struct picked *picked)
{
	if (is_op(one)) {
		if (one->ready && one->result > 0)
			mix.read += one->result;
	} else if (is_send(one, picked)) {
		if (!one->ready || one->result < 0)
			mix.state[picked->value] = 3;
		/* Else it stays 1 until it has been received. */
	} else if (is_recv(one) && one->ready && one->result == 0) {
		EXPECT(picked->value >= 0 && picked->value < mix.next);
		EXPECT(mix.state[picked->value] == 1);
		mix.state[picked->value] = 2;
	} else if (is_recv(one)) {
		EXPECT_EQ(picked->value, -1);
	}
}

static int worker(void *arg)
{
	(void)arg;
	for (;;) {
		struct eddy_case cases[5];
		struct picked picked[5];
		unsigned count = 1 + draw() % 5;
		int r, ready = 0, not_ops = 0;

		for (unsigned i = 0; i < count; i++)
			cases[i] = draw_case(&picked[i]);
		r = eddy_select(cases, count);
		for (unsigned i = 0; i < count; i++) {
			check_case(&cases[i], &picked[i]);
			ready += cases[i].ready;
			not_ops += cases[i].ready && !is_op(&cases[i]);
		}
		EXPECT_EQ(r, ready ? ready : -ECANCELED);
		EXPECT(not_ops <= 1);
		mix.several += ready > 1;
		if (r < 0)
			return 0;
	}
}

/* Writes bytes, sets and clears the event, and has the kernel complete things at odd moments. */
static int stirrer(void *arg)
{
	(void)arg;
	while (!mix.stopping) {
		switch (draw() % 4) {
		case 0: {
			ssize_t len = 1 + draw() % 20;

			EXPECT_EQ(write(mix.pairs[draw() % PAIRS][1], "twenty bytes of text", len),
				  len);
			mix.written += len;
			break;
		}
		case 1:
			eddy_event_set(&mix.event);
			eddy_event_clear(&mix.event);
			break;
		case 2:
			eddyi_loop_enter(eddyi_loop());
			break;
		default:
			break;
		}
		if (draw() % 3 == 0 ? eddy_sleep(0) : eddy_yield())
			return 0;
	}
	return 0;
}

/* A received value may be noted before its sender is told; only at the end all is known. */
static void mix_check(void)
{
	char rest[512];

	for (int i = 0; i < PAIRS; i++) {
		ssize_t len;

		while ((len = recv(mix.pairs[i][0], rest, sizeof(rest), MSG_DONTWAIT)) > 0)
			mix.read += len;
	}
	EXPECT_EQ(mix.read, mix.written);
	for (int i = 0; i < CHANS; i++) {
		int value;

		while (eddy_chan_try_recv(&mix.chans[i], &value) == 0) {
			EXPECT_EQ(mix.state[value], 1);
			mix.state[value] = 2;
		}
	}
	for (int i = 0; i < mix.next; i++)
		EXPECT(mix.state[i] == 2 || mix.state[i] == 3);
	EXPECT(eddy_list_is_empty(&mix.event.waiters));
	EXPECT_EQ(eddyi_loop()->ops, eddyi_loop()->own_ops);
}

static void mix_round(void)
{
	struct eddy_scope scope, inner;

	memset(mix.state, 0, sizeof(mix.state));
	mix.next = 0;
	mix.written = mix.read = 0;
	mix.stopping = false;
	eddy_event_init(&mix.event);
	for (size_t i = 0; i < CHANS; i++)
		eddy_chan_init(&mix.chans[i], sizeof(int), i);
	for (int i = 0; i < PAIRS; i++)
		stream_pair(mix.pairs[i]);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "stirrer", stirrer, NULL);
	eddy_scope_begin(&inner, NULL);
	for (intptr_t i = 0; i < WORKERS; i++)
		eddy_scope_spawn(i % 2 ? &scope : &inner, "worker", worker, NULL);
	for (unsigned i = 5 + draw() % 40; i; i--)
		eddy_sleep(0);
	eddy_scope_end(&inner);
	for (unsigned i = draw() % 20; i; i--)
		eddy_sleep(0);
	mix.stopping = true;
	eddy_scope_end(&scope);
	mix_check();
	for (size_t i = 0; i < CHANS; i++)
		eddy_chan_deinit(&mix.chans[i]);
	for (int i = 0; i < PAIRS; i++) {
		close(mix.pairs[i][0]);
		close(mix.pairs[i][1]);
	}
}

static int mix_rounds(void *arg)
{
	int before = open_descriptors();

	for (int i = 0; i < *(int *)arg; i++) {
		mix.seed = (unsigned)i;
		mix_round();
		if (expect_failed) {
			fprintf(stderr, "seed %d\n", i);
			return 0;
		}
	}
	EXPECT(mix.several > 0);
	EXPECT_EQ(open_descriptors(), before);
	return 0;
}

Test(select, nothing_is_lost_or_doubled)
{
	int rounds = IS_SLOW ? 15 : 80;

	expect_run(NULL, mix_rounds, &rounds);
}

Test(select, nothing_is_lost_or_doubled_by_an_unkind_kernel)
{
	int rounds = IS_SLOW ? 4 : 15;

	for (int i = 1; i <= 3; i++) {
		char seed[16];

		snprintf(seed, sizeof(seed), "%d", i);
		setenv("EDDY_CHAOS", seed, 1);
		expect_run(NULL, mix_rounds, &rounds);
	}
}

/* Nobody is told that an op was interrupted. */
static int interrupted(__attribute__((unused)) void *arg)
{
	int fds[2];

	stream_pair(fds);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	for (int i = 0; i < 200; i++) {
		struct eddy_case cases[] = {
			eddy_case_poll(fds[0], POLLIN),
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

Test(select, interrupted_ops_are_made_again)
{
	setenv("EDDY_CHAOS", "1,eintr", 1);
	expect_run(NULL, interrupted, NULL);
}
