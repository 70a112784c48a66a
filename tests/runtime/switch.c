#include "expect.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "switch.h"

#define STACK_SIZE (64 * 1024)

static struct eddyi_ctx thread, stacks[3];

static void make(struct eddyi_ctx *ctx, void (*entry)(void *arg), void *arg)
{
	eddyi_ctx_init(ctx, aligned_alloc(4096, STACK_SIZE), STACK_SIZE, entry, arg);
}

static void drop(struct eddyi_ctx *ctx)
{
	eddyi_ctx_deinit(ctx);
	free(ctx->low);
}

static void add(void *arg)
{
	int *sum = arg;

	for (int i = 1;; i++) {
		*sum += i;
		eddyi_ctx_switch(&stacks[0], &thread, false);
	}
}

Test(switch, goes_on_where_it_stopped)
{
	int sum = 0;

	eddyi_ctx_init_thread(&thread);
	make(&stacks[0], add, &sum);
	for (int i = 0; i < 1000; i++)
		eddyi_ctx_switch(&thread, &stacks[0], false);
	cr_expect_eq(sum, 1000 * 1001 / 2);
	drop(&stacks[0]);
	eddyi_ctx_deinit(&thread);
}

static char path[64];

static void ring_of_stacks(void *arg)
{
	int self = (int)(intptr_t)arg, next = self + 1;

	for (;;) {
		strncat(path, &"abc"[self], 1);
		eddyi_ctx_switch(&stacks[self], next == 3 ? &thread : &stacks[next], false);
	}
}

Test(switch, from_stack_to_stack)
{
	eddyi_ctx_init_thread(&thread);
	for (intptr_t i = 0; i < 3; i++)
		make(&stacks[i], ring_of_stacks, (void *)i);
	for (int i = 0; i < 4; i++) {
		strcat(path, "-");
		eddyi_ctx_switch(&thread, &stacks[0], false);
	}
	cr_expect_str_eq(path, "-abc-abc-abc-abc");
	for (int i = 0; i < 3; i++)
		drop(&stacks[i]);
	eddyi_ctx_deinit(&thread);
}

/* More live values than a machine has registers that a call leaves alone. */
#define KEEP(n) long n = seed * 31 + __LINE__ * 7 + sizeof(#n)
__attribute__((noinline)) static long across(long seed, struct eddyi_ctx *from,
					     struct eddyi_ctx *to)
{
	KEEP(a);
	KEEP(b);
	KEEP(c);
	KEEP(d);
	KEEP(e);
	KEEP(f);
	KEEP(g);
	KEEP(h);
	KEEP(i);
	KEEP(j);
	KEEP(k);
	KEEP(l);
	double x = (double)seed * 1.5, y = (double)seed / 3;
	long before = a ^ b << 1 ^ c << 2 ^ d << 3 ^ e << 4 ^ f << 5 ^ g << 6 ^ h << 7 ^ i << 8 ^
		      j << 9 ^ k << 10 ^ l << 11;

	for (int n = 0; n < 3; n++) {
		eddyi_ctx_switch(from, to, false);
		a += n, b += n, c += n, d += n, e += n, f += n;
		a -= n, b -= n, c -= n, d -= n, e -= n, f -= n;
	}
	return (before == (a ^ b << 1 ^ c << 2 ^ d << 3 ^ e << 4 ^ f << 5 ^ g << 6 ^ h << 7 ^
			   i << 8 ^ j << 9 ^ k << 10 ^ l << 11)) &&
	       x == (double)seed * 1.5 && y == (double)seed / 3;
}

static bool kept_on_stack = true;

static void keeper(void *arg)
{
	(void)arg;
	for (long seed = 1000;; seed += 17)
		kept_on_stack &= across(seed, &stacks[0], &thread);
}

Test(switch, keeps_the_registers)
{
	bool kept = true;

	eddyi_ctx_init_thread(&thread);
	make(&stacks[0], keeper, NULL);
	for (long seed = 1; seed < 100; seed++)
		kept &= across(seed, &thread, &stacks[0]);
	cr_expect(kept);
	cr_expect(kept_on_stack);
	drop(&stacks[0]);
	eddyi_ctx_deinit(&thread);
}

static char text[64];
static uintptr_t frame;

static void print(void *arg)
{
	/* Aligned stores of the vector unit: they fault where the stack is crooked. */
	_Alignas(16) double values[4] = { 1, 2, 3, 4 };

	for (;;) {
		frame = (uintptr_t)values;
		snprintf(text, sizeof(text), "%.2f %s", *(double *)arg + values[3], "ok");
		eddyi_ctx_switch(&stacks[0], &thread, false);
	}
}

Test(switch, stack_is_aligned)
{
	double value = 0.25;

	eddyi_ctx_init_thread(&thread);
	make(&stacks[0], print, &value);
	for (int i = 0; i < 3; i++) {
		text[0] = 0;
		eddyi_ctx_switch(&thread, &stacks[0], false);
		cr_expect_str_eq(text, "4.25 ok");
		cr_expect_eq(frame % 16, 0);
	}
	drop(&stacks[0]);
	eddyi_ctx_deinit(&thread);
}

static int entered;

static void enter_once(void *arg)
{
	entered += *(int *)arg;
	eddyi_ctx_switch(&stacks[0], &thread, true);
}

Test(switch, stack_is_entered_afresh_after_a_reset)
{
	int one = 1, ten = 10;

	eddyi_ctx_init_thread(&thread);
	make(&stacks[0], enter_once, &one);
	eddyi_ctx_switch(&thread, &stacks[0], false);
	eddyi_ctx_reset(&stacks[0], enter_once, &ten);
	eddyi_ctx_switch(&thread, &stacks[0], false);
	cr_expect_eq(entered, 11);
	drop(&stacks[0]);
	eddyi_ctx_deinit(&thread);
}

Test(switch, makes_no_system_call)
{
#if defined(EDDYI_SWITCH_UCONTEXT)
	cr_skip_test("swapcontext makes one");
#else
	int sum = 0, status;
	pid_t child;

	if (IS_SLOW)
		cr_skip_test("needs a build without sanitizers");
	eddyi_ctx_init_thread(&thread);
	make(&stacks[0], add, &sum);
	eddyi_ctx_switch(&thread, &stacks[0], false);
	child = fork();
	if (child == 0) {
		/* From here on any call but read, write and exit kills. */
		prctl(PR_SET_SECCOMP, 1);
		for (int i = 0; i < 1000; i++)
			eddyi_ctx_switch(&thread, &stacks[0], false);
		syscall(SYS_exit, sum == 1001 * 1002 / 2 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	cr_expect_eq(status, 0);
	drop(&stacks[0]);
	eddyi_ctx_deinit(&thread);
#endif
}
