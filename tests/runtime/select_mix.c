/* Everything at once, against a model. */
#include "cases.h"
#include "expect.h"

#include <eddy/io.h>
#include <stdlib.h>
#include <string.h>

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
		return case_recv(mix.pairs[draw() % PAIRS][0], picked->bytes, 1 + draw() % 16);
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

Test(select_mix, nothing_is_lost_or_doubled)
{
	int rounds = IS_SLOW ? 15 : 80;

	expect_run(NULL, mix_rounds, &rounds);
}

Test(select_mix, nothing_is_lost_or_doubled_by_an_unkind_kernel)
{
	int rounds = IS_SLOW ? 4 : 15;

	for (int i = 1; i <= 3; i++) {
		char seed[16];

		snprintf(seed, sizeof(seed), "%d", i);
		setenv("EDDY_CHAOS", seed, 1);
		expect_run(NULL, mix_rounds, &rounds);
	}
}
