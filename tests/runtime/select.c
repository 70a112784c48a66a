#include "select_rig.h"

#include <eddy/internal/loop.h>
#include <eddy/io.h>
#include <poll.h>

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
	eddyi_task_before_suspend(set_it, &event);
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
			case_poll(fds[0], POLLIN),
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
			case_poll(fds[0], POLLIN),
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
