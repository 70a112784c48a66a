#include <eddy/internal/loop.h>
#include <eddy/chan.h>

#include "expect.h"

#include <string.h>

/* A task that sends or receives numbers and notes what came of it. */
struct user {
	struct eddy_chan *chan;
	int from, count; /* to send */
	int results[8], items[8];
	int done;
};

static int send_some(void *arg)
{
	struct user *user = arg;

	for (int i = 0; i < user->count; i++) {
		int item = user->from + i;
		int r = eddy_chan_send(user->chan, &item);

		if (user->done < 8)
			user->results[user->done] = r;
		user->done++;
	}
	return 0;
}

static int recv_some(void *arg)
{
	struct user *user = arg;

	for (int i = 0; i < user->count; i++) {
		int item = -1, r = eddy_chan_recv(user->chan, &item);

		if (user->done < 8) {
			user->results[user->done] = r;
			user->items[user->done] = item;
		}
		user->done++;
	}
	return 0;
}

TASK_TEST(chan, buffers_and_says_when_it_is_full)
{
	struct eddy_chan chan;
	int item;

	EXPECT_EQ(eddy_chan_init(&chan, sizeof(int), 3), 0);
	EXPECT_EQ(eddy_chan_try_recv(&chan, &item), -EAGAIN);
	/* Around the buffer's end, several times. */
	for (int i = 0; i < 10; i += 2) {
		for (int n = i; n < i + 3; n++)
			EXPECT_EQ(eddy_chan_send(&chan, &n), 0);
		EXPECT_EQ(chan.count, 3);
		EXPECT_EQ(eddy_chan_try_send(&chan, &i), -EAGAIN);
		for (int n = i; n < i + 3; n++) {
			EXPECT_EQ(eddy_chan_recv(&chan, &item), 0);
			EXPECT_EQ(item, n);
		}
		EXPECT_EQ(eddy_chan_try_send(&chan, &i), 0);
		EXPECT_EQ(eddy_chan_try_recv(&chan, &item), 0);
		EXPECT_EQ(item, i);
	}
	EXPECT_EQ(chan.count, 0);
	eddy_chan_deinit(&chan);
	EXPECT_EQ(eddy_chan_init(&chan, SIZE_MAX / 2, 3), -ENOMEM);
	return 0;
}

TASK_TEST(chan, items_of_any_size)
{
	struct {
		char text[37];
	} big = { "thirty-seven bytes, and no alignment" }, got;
	struct eddy_chan chan;

	EXPECT_EQ(eddy_chan_init(&chan, sizeof(big), 2), 0);
	for (int i = 0; i < 5; i++) {
		memset(&got, 0, sizeof(got));
		EXPECT_EQ(eddy_chan_send(&chan, &big), 0);
		EXPECT_EQ(eddy_chan_recv(&chan, &got), 0);
		EXPECT_EQ(strcmp(got.text, big.text), 0);
	}
	eddy_chan_deinit(&chan);
	/* Nothing but the fact that it was sent. */
	EXPECT_EQ(eddy_chan_init(&chan, 0, 2), 0);
	EXPECT_EQ(eddy_chan_try_send(&chan, NULL), 0);
	EXPECT_EQ(eddy_chan_try_send(&chan, NULL), 0);
	EXPECT_EQ(eddy_chan_try_send(&chan, NULL), -EAGAIN);
	EXPECT_EQ(eddy_chan_try_recv(&chan, NULL), 0);
	EXPECT_EQ(eddy_chan_try_recv(&chan, NULL), 0);
	EXPECT_EQ(eddy_chan_try_recv(&chan, NULL), -EAGAIN);
	eddy_chan_deinit(&chan);
	return 0;
}

TASK_TEST(chan, without_a_buffer_both_meet)
{
	struct eddy_chan chan;
	struct eddy_scope scope;
	struct user sender = { &chan, .from = 5, .count = 2 };
	int item;

	eddy_chan_init(&chan, sizeof(int), 0);
	eddy_scope_begin(&scope, NULL);
	item = 1;
	EXPECT_EQ(eddy_chan_try_send(&chan, &item), -EAGAIN);
	eddy_scope_spawn(&scope, "sender", send_some, &sender);
	expect_turns(2);
	EXPECT_EQ(sender.done, 0);
	EXPECT_EQ(eddy_chan_recv(&chan, &item), 0);
	EXPECT_EQ(item, 5);
	expect_turns(2);
	EXPECT_EQ(sender.done, 1);
	EXPECT_EQ(eddy_chan_try_recv(&chan, &item), 0);
	EXPECT_EQ(item, 6);
	EXPECT_EQ(eddy_chan_try_recv(&chan, &item), -EAGAIN);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(sender.done, 2);
	EXPECT_EQ(sender.results[0] | sender.results[1], 0);
	eddy_chan_deinit(&chan);
	return eddy_scope_end(&scope);
}

TASK_TEST(chan, receivers_are_served_in_order)
{
	struct eddy_chan chan;
	struct eddy_scope scope;
	struct user users[3];

	eddy_chan_init(&chan, sizeof(int), 1);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 3; i++) {
		users[i] = (struct user){ &chan, .count = 1 };
		eddy_scope_spawn(&scope, "receiver", recv_some, &users[i]);
	}
	expect_turns(1);
	/* Straight into their hands: the buffer stays empty. */
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(eddy_chan_try_send(&chan, &i), 0);
		EXPECT_EQ(chan.count, 0);
	}
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(users[i].results[0], 0);
		EXPECT_EQ(users[i].items[0], i);
	}
	eddy_chan_deinit(&chan);
	return eddy_scope_end(&scope);
}

TASK_TEST(chan, senders_are_served_in_order)
{
	struct eddy_chan chan;
	struct eddy_scope scope;
	struct user users[3];
	int item;

	eddy_chan_init(&chan, sizeof(int), 2);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 3; i++) {
		users[i] = (struct user){ &chan, .from = 10 * i, .count = 2 };
		eddy_scope_spawn(&scope, "sender", send_some, &users[i]);
	}
	expect_turns(2);
	EXPECT_EQ(users[0].done, 2);
	EXPECT_EQ(users[1].done, 0);
	EXPECT_EQ(users[2].done, 0);
	/* The first of those that wait takes the place that gets free, with its item behind the others. */
	for (int i = 0; i < 6; i++) {
		static const int wanted[] = { 0, 1, 10, 20, 11, 21 };

		EXPECT_EQ(eddy_chan_recv(&chan, &item), 0);
		EXPECT_EQ(item, wanted[i]);
		EXPECT_EQ(chan.count, i < 4 ? 2 : 5 - i);
		expect_turns(1);
	}
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	eddy_chan_deinit(&chan);
	return eddy_scope_end(&scope);
}

TASK_TEST(chan, close_with_receivers)
{
	struct eddy_chan chan;
	struct eddy_scope scope;
	struct user users[2] = { { &chan, .count = 2 }, { &chan, .count = 1 } };
	int item = 1;

	eddy_chan_init(&chan, sizeof(int), 1);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 2; i++)
		eddy_scope_spawn(&scope, "receiver", recv_some, &users[i]);
	expect_turns(1);
	eddy_chan_close(&chan);
	EXPECT(chan.closed);
	/* It may end before those that waited have run. */
	eddy_chan_deinit(&chan);
	eddy_chan_init(&chan, sizeof(int), 1);
	eddy_chan_close(&chan);
	eddy_chan_close(&chan);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(users[0].results[0], -EPIPE);
	EXPECT_EQ(users[0].results[1], -EPIPE);
	EXPECT_EQ(users[1].results[0], -EPIPE);
	EXPECT_EQ(users[1].items[0], -1);
	EXPECT_EQ(eddy_chan_send(&chan, &item), -EPIPE);
	EXPECT_EQ(eddy_chan_try_send(&chan, &item), -EPIPE);
	EXPECT_EQ(eddy_chan_try_recv(&chan, &item), -EPIPE);
	eddy_chan_deinit(&chan);
	return eddy_scope_end(&scope);
}

TASK_TEST(chan, close_with_senders_leaves_what_is_buffered)
{
	struct eddy_chan chan;
	struct eddy_scope scope;
	struct user users[2] = { { &chan, .from = 10, .count = 3 },
				 { &chan, .from = 20, .count = 2 } };
	int item;

	eddy_chan_init(&chan, sizeof(int), 2);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 2; i++)
		eddy_scope_spawn(&scope, "sender", send_some, &users[i]);
	expect_turns(1);
	EXPECT_EQ(users[0].done, 2);
	eddy_chan_close(&chan);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(users[0].results[1], 0);
	EXPECT_EQ(users[0].results[2], -EPIPE);
	EXPECT_EQ(users[1].results[0], -EPIPE);
	EXPECT_EQ(users[1].results[1], -EPIPE);
	for (int i = 10; i < 12; i++) {
		EXPECT_EQ(eddy_chan_recv(&chan, &item), 0);
		EXPECT_EQ(item, i);
	}
	EXPECT_EQ(eddy_chan_recv(&chan, &item), -EPIPE);
	eddy_chan_deinit(&chan);
	return eddy_scope_end(&scope);
}

TASK_TEST(chan, cancelled_waiters_take_nothing)
{
	struct eddy_chan in, out;
	struct eddy_scope scope;
	struct user receiver = { &in, .count = 2 }, sender = { &out, .from = 7, .count = 2 };
	int item = 3;

	eddy_chan_init(&in, sizeof(int), 1);
	eddy_chan_init(&out, sizeof(int), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "receiver", recv_some, &receiver);
	eddy_scope_spawn(&scope, "sender", send_some, &sender);
	expect_turns(1);
	eddy_scope_cancel(&scope);
	/* At the same turn, before they have run. */
	EXPECT_EQ(eddy_chan_try_send(&in, &item), 0);
	EXPECT_EQ(in.count, 1);
	EXPECT_EQ(eddy_chan_try_recv(&out, &item), -EAGAIN);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	/* A call inside a cancelled scope fails, also where it would not wait. */
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(receiver.results[i], -ECANCELED);
		EXPECT_EQ(sender.results[i], -ECANCELED);
	}
	EXPECT_EQ(in.count, 1);
	eddy_chan_deinit(&in);
	eddy_chan_deinit(&out);
	return 0;
}

TASK_TEST(chan, what_was_handed_over_beats_cancellation)
{
	struct eddy_chan in, out;
	struct eddy_scope scope;
	struct user receiver = { &in, .count = 2 }, sender = { &out, .from = 7, .count = 2 };
	int item = 3;

	eddy_chan_init(&in, sizeof(int), 0);
	eddy_chan_init(&out, sizeof(int), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "receiver", recv_some, &receiver);
	eddy_scope_spawn(&scope, "sender", send_some, &sender);
	expect_turns(1);
	EXPECT_EQ(eddy_chan_try_send(&in, &item), 0);
	EXPECT_EQ(eddy_chan_try_recv(&out, &item), 0);
	EXPECT_EQ(item, 7);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(receiver.results[0], 0);
	EXPECT_EQ(receiver.items[0], 3);
	EXPECT_EQ(receiver.results[1], -ECANCELED);
	EXPECT_EQ(sender.results[0], 0);
	EXPECT_EQ(sender.results[1], -ECANCELED);
	eddy_chan_deinit(&in);
	eddy_chan_deinit(&out);
	return 0;
}

static void close_it(void *arg)
{
	eddy_chan_close(arg);
}

/* What a task asked for to be done before it suspends may be what it is going to wait for. */
TASK_TEST(chan, closed_right_before_the_receiver_suspends)
{
	struct eddy_chan chan;
	int item;

	eddy_chan_init(&chan, sizeof(int), 0);
	eddyi_task_before_suspend(close_it, &chan);
	EXPECT_EQ(eddy_chan_recv(&chan, &item), -EPIPE);
	eddy_chan_deinit(&chan);
	return 0;
}

struct sends_on_time {
	struct eddy_timer timer;
	struct eddy_chan *chan;
};

static void send_on_time(struct eddy_timer *timer)
{
	int item = 9;

	EXPECT_EQ(eddy_chan_try_send(eddy_of(timer, struct sends_on_time, timer)->chan, &item), 0);
}

TASK_TEST(chan, sent_to_by_a_completion_function)
{
	struct eddy_chan chan;
	struct sends_on_time sends = { { .fire = send_on_time }, &chan };
	int item = 0;

	eddy_chan_init(&chan, sizeof(int), 0);
	eddy_timer_arm(&sends.timer, 0);
	EXPECT_EQ(eddy_chan_recv(&chan, &item), 0);
	EXPECT_EQ(item, 9);
	eddy_chan_deinit(&chan);
	return 0;
}

TASK_TEST(chan, waiters_say_what_they_wait_for)
{
	struct eddy_chan in, out;
	struct eddy_scope scope;
	struct user receiver = { &in, .count = 1 }, sender = { &out, .count = 1 };
	struct eddyi_waiter *waiter;

	eddy_chan_init(&in, sizeof(int), 0);
	eddy_chan_init(&out, sizeof(int), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "receiver", recv_some, &receiver);
	eddy_scope_spawn(&scope, "sender", send_some, &sender);
	expect_turns(1);
	waiter = eddy_of(scope.tasks.next->next, struct eddy_task, inside)->waiter;
	EXPECT_EQ(strcmp(waiter->what, "chan recv"), 0);
	EXPECT(waiter->on == &in);
	waiter = eddy_of(scope.tasks.next->next->next, struct eddy_task, inside)->waiter;
	EXPECT_EQ(strcmp(waiter->what, "chan send"), 0);
	EXPECT(waiter->on == &out);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	eddy_chan_deinit(&in);
	eddy_chan_deinit(&out);
	return 0;
}

/* --- everything at once, against a model */

#define WORKERS 8
#define VALUES 20000

static struct {
	struct eddy_chan chan;
	unsigned seed;
	int rounds;
	int next;                           /* the next value to be sent: they are all different */
	char state[VALUES];                 /* 0 unsent, 1 on its way, 2 received, 3 taken back */
	int last[WORKERS + 1][WORKERS + 1]; /* of each sender's values, what each receiver got last */
	int owner[VALUES];
	int got, sent;
} mix;

static unsigned draw(void)
{
	mix.seed = mix.seed * 1103515245 + 12345;
	return mix.seed >> 16;
}

static void note_received(int self, int value)
{
	int *last = &mix.last[self][mix.owner[value]];

	EXPECT(value >= 0 && value < mix.next);
	EXPECT_EQ(mix.state[value], 1);
	mix.state[value] = 2;
	/* What one task sends another receives in that order. */
	EXPECT(value > *last);
	*last = value;
	mix.got++;
}

static int send_or_recv(int self)
{
	int value = -1, r;

	if (draw() % 2) {
		if (mix.next == VALUES)
			return -ENOSPC;
		value = mix.next++;
		mix.owner[value] = self;
		mix.state[value] = 1;
		r = draw() % 4 ? eddy_chan_send(&mix.chan, &value) :
				 eddy_chan_try_send(&mix.chan, &value);
		if (r == 0)
			mix.sent++;
		else
			EXPECT_EQ(mix.state[value], 1);
		if (r < 0)
			mix.state[value] = 3;
	} else {
		r = draw() % 4 ? eddy_chan_recv(&mix.chan, &value) :
				 eddy_chan_try_recv(&mix.chan, &value);
		if (r == 0)
			note_received(self, value);
	}
	return r;
}

static int worker(void *arg)
{
	int self = (int)(intptr_t)arg;

	for (;;) {
		int r = send_or_recv(self);

		EXPECT(r == 0 || r == -EAGAIN || r == -ECANCELED || r == -EPIPE);
		if (r == -ECANCELED || r == -EPIPE)
			return 0;
		if (draw() % 8 == 0)
			eddy_yield();
	}
}

static void mix_round(size_t capacity)
{
	struct eddy_scope scopes[4];
	int value;

	memset(mix.state, 0, sizeof(mix.state));
	memset(mix.last, -1, sizeof(mix.last));
	mix.next = mix.got = mix.sent = 0;
	EXPECT_EQ(eddy_chan_init(&mix.chan, sizeof(int), capacity), 0);
	for (int i = 0; i < 4; i++)
		eddy_scope_begin(&scopes[i], NULL);
	for (intptr_t i = 0; i < WORKERS; i++)
		eddy_scope_spawn(&scopes[i % 4], "worker", worker, (void *)(i + 1));
	for (unsigned i = 5 + draw() % 50; i; i--)
		eddy_yield();
	/* The innermost workers are cancelled, then the others find it closed. */
	eddy_scope_cancel(&scopes[3]);
	if (draw() % 2)
		eddy_chan_close(&mix.chan);
	for (int i = 3; i >= 0; i--)
		eddy_scope_end(&scopes[i]);
	while (eddy_chan_try_recv(&mix.chan, &value) == 0)
		note_received(0, value);
	EXPECT_EQ(mix.got, mix.sent);
	for (int i = 0; i < mix.next; i++)
		EXPECT(mix.state[i] == 2 || mix.state[i] == 3);
	eddy_chan_deinit(&mix.chan);
}

TASK_TEST(chan, nothing_is_lost_or_doubled)
{
	int got = 0;

	for (int i = 0; i < (IS_SLOW ? 40 : 400); i++) {
		mix.seed = (unsigned)i;
		mix_round((size_t)i % 4);
		got += mix.got;
		if (expect_failed)
			return 0;
	}
	EXPECT(got > 1000);
	return 0;
}
