#include "chaos/chaos.h"
#include "seeds.h"

#include <eddy/file.h>
#include <eddy/log.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

/* --- what the environment says */

static unsigned modes_of(const char *text)
{
	uint64_t seed = 0;
	unsigned modes = 0;

	cr_expect_eq(eddyi_chaos_parse(text, &seed, &modes), 0, "%s", text);
	return modes;
}

Test(chaos, modes)
{
	uint64_t seed;
	unsigned modes;

	cr_expect_eq(eddyi_chaos_parse("0x10", &seed, &modes), 0);
	cr_expect_eq(seed, 16);
	cr_expect_eq(eddyi_chaos_parse("18446744073709551615", &seed, &modes), 0);
	cr_expect_eq(seed, UINT64_MAX);
	cr_expect_eq(modes_of("1"), EDDYI_CHAOS_BENIGN);
	cr_expect_eq(modes_of("1,errors"), EDDYI_CHAOS_BENIGN | EDDYI_CHAOS_ERRORS);
	cr_expect_eq(modes_of("1,short,eintr"), EDDYI_CHAOS_SHORT | EDDYI_CHAOS_EINTR);
	cr_expect_eq(modes_of("1,shuffle,errors"), EDDYI_CHAOS_SHUFFLE | EDDYI_CHAOS_ERRORS);
	cr_expect_eq(modes_of("1,delay,nobufs,ends"),
		     EDDYI_CHAOS_DELAY | EDDYI_CHAOS_NOBUFS | EDDYI_CHAOS_ENDS);
}

static char told[512];

static void note_record(const struct eddy_record *record, __attribute__((unused)) void *arg)
{
	if (record->level == EDDY_LOG_ERROR)
		snprintf(told, sizeof(told), "%.*s", (int)record->message.len, record->message.ptr);
}

static int nothing(__attribute__((unused)) void *arg)
{
	return 0;
}

Test(chaos, what_is_not_understood_is_said)
{
	static const char *const bad[] = { "x",
					   "-1",
					   " 1",
					   "1,",
					   "1,all",
					   "1 short",
					   ",",
					   "1,short,,delay",
					   "1,Short",
					   "1x",
					   "18446744073709551616" };

	setenv("EDDY_LOG", "debug", 1);
	eddy_log_subscribe(note_record, NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		told[0] = 0;
		setenv("EDDY_CHAOS", bad[i], 1);
		cr_expect_eq(eddy_run(NULL, nothing, NULL), -EINVAL, "%s", bad[i]);
		cr_expect(strstr(told, bad[i]), "%s", told);
		cr_expect(strstr(told, "SEED[,MODE...]"), "%s", told);
		cr_expect(strstr(eddy_ring_advice(-EINVAL), "SEED[,MODE...]"));
	}
	setenv("EDDY_CHAOS", "1", 1);
	cr_expect_eq(eddy_run(NULL, nothing, NULL), 0);
	cr_expect(!strstr(eddy_ring_advice(-EINVAL), "EDDY_CHAOS"));
}

static int has_chaos(__attribute__((unused)) void *arg)
{
	return eddyi_chaos_is_on(eddyi_loop());
}

Test(chaos, is_there_when_asked_for)
{
	unsetenv("EDDY_CHAOS");
	cr_expect_eq(eddy_run(NULL, has_chaos, NULL), 0);
	setenv("EDDY_CHAOS", "", 1);
	cr_expect_eq(eddy_run(NULL, has_chaos, NULL), 0);
	setenv("EDDY_CHAOS", "5", 1);
	cr_expect_eq(eddy_run(NULL, has_chaos, NULL), 1);
}

#define COUNT 40

static struct eddy_op ops[COUNT];
static char order[COUNT + 1];
static int done_count;

/* As the first loop of a process: that is part of what the numbers come from. */
static void be_the_first(void)
{
	struct eddy_loop *loop = eddyi_loop();

	loop->id = 1;
	eddyi_chaos_begin(loop);
	done_count = 0;
}

static void nop_done(struct eddy_op *op, int result, __attribute__((unused)) unsigned flags)
{
	EXPECT_EQ(result, 0);
	order[done_count++] = (char)('0' + (op - ops));
}

static int start_nops(__attribute__((unused)) void *arg)
{
	be_the_first();
	for (int i = 0; i < COUNT; i++) {
		struct io_uring_sqe *sqe = eddy_op_begin(&ops[i], nop_done);

		io_uring_prep_nop(sqe);
		eddy_op_start(&ops[i], sqe);
	}
	for (int i = 0; i < 1000 && done_count < COUNT; i++)
		eddy_sleep(0);
	EXPECT_EQ(done_count, COUNT);
	return 0;
}

static int note_self(void *arg)
{
	order[done_count++] = (char)('0' + (intptr_t)arg);
	return 0;
}

static int spawn_many(__attribute__((unused)) void *arg)
{
	struct eddy_scope scope;

	be_the_first();
	eddy_scope_begin(&scope, NULL);
	for (intptr_t i = 0; i < COUNT; i++)
		EXPECT_EQ(eddy_scope_spawn(&scope, "one", note_self, (void *)i), 0);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	return eddy_scope_end(&scope);
}

static void order_under(const char *chaos, eddy_task_fn *fn, char *ret_order)
{
	run_under(chaos, fn, NULL);
	memcpy(ret_order, order, sizeof(order));
}

static void expect_shuffled_and_replayed(eddy_task_fn *fn)
{
	char plain[COUNT + 1], first[COUNT + 1], again[COUNT + 1], other[COUNT + 1];

	order_under("", fn, plain);
	order_under("7", fn, first);
	order_under("7", fn, again);
	order_under("8", fn, other);
	for (int i = 1; i < COUNT; i++)
		cr_expect(plain[i - 1] < plain[i], "%s", plain);
	cr_expect_str_eq(again, first);
	cr_expect_str_neq(first, plain);
	cr_expect_str_neq(first, other);
}

Test(chaos, completions_are_shuffled_and_a_seed_replays)
{
	expect_shuffled_and_replayed(start_nops);
}

Test(chaos, ready_tasks_are_shuffled_and_a_seed_replays)
{
	expect_shuffled_and_replayed(spawn_many);
}

static int yield_behind_others(__attribute__((unused)) void *arg)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int round = 0; round < 20; round++) {
		done_count = 0;
		for (intptr_t i = 0; i < COUNT; i++)
			eddy_scope_spawn(&scope, "one", note_self, (void *)i);
		EXPECT_EQ(eddy_yield(), 0);
		EXPECT_EQ(done_count, COUNT);
	}
	return eddy_scope_end(&scope);
}

Test(chaos, yield_keeps_its_promise)
{
	run_under_seeds(5, "shuffle", yield_behind_others, NULL);
}

/* Accepted descriptors come in the order of their numbers, as long as none is closed. */
static struct eddy_op accept_op;
static int accepted_fds[COUNT], accepted_count;

static void accepted(__attribute__((unused)) struct eddy_op *op, int result, unsigned flags)
{
	if (result >= 0)
		accepted_fds[accepted_count++] = result;
	else
		EXPECT(!(flags & IORING_CQE_F_MORE));
}

static int accept_many(__attribute__((unused)) void *arg)
{
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, COUNT), peers[COUNT];
	struct io_uring_sqe *sqe = eddy_op_begin(&accept_op, accepted);

	accepted_count = 0;
	for (int i = 0; i < COUNT; i++)
		peers[i] = tcp_connect(&addr);
	io_uring_prep_multishot_accept(sqe, listener, NULL, NULL, SOCK_CLOEXEC);
	eddy_op_start(&accept_op, sqe);
	for (int i = 0; i < 1000 && accepted_count < COUNT; i++)
		eddy_sleep(0);
	eddy_op_cancel(&accept_op);
	while (eddy_op_is_started(&accept_op))
		eddy_sleep(0);
	EXPECT_EQ(accepted_count, COUNT);
	for (int i = 0; i < accepted_count; i++) {
		if (i)
			EXPECT(accepted_fds[i] > accepted_fds[i - 1]);
		close(accepted_fds[i]);
		close(peers[i]);
	}
	close(listener);
	return 0;
}

Test(chaos, a_multishot_stays_in_order)
{
	run_under_seeds(20, "shuffle,delay", accept_many, NULL);
}
