/* Also a program of its own, for machines that have no Criterion: see machines.py. */
#ifdef EDDY_TEST_ALONE
#include "alone.h"
#else
#include "expect.h"
#endif

#include <execinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "core/switch.h"

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

/* registers_across(from, to, in, out): load what a call must leave alone from `in`, switch, and store what
 * is there afterwards to `out`. */
#if defined(__x86_64__)
#define REGISTERS 6
__asm__(".text\n"
	".type registers_across, @function\n"
	"registers_across:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	pushq %rcx\n"
	"	movq 0(%rdx), %rbx\n"
	"	movq 8(%rdx), %rbp\n"
	"	movq 16(%rdx), %r12\n"
	"	movq 24(%rdx), %r13\n"
	"	movq 32(%rdx), %r14\n"
	"	movq 40(%rdx), %r15\n"
	"	xorl %edx, %edx\n"
	"	call eddyi_ctx_switch\n"
	"	popq %rcx\n"
	"	movq %rbx, 0(%rcx)\n"
	"	movq %rbp, 8(%rcx)\n"
	"	movq %r12, 16(%rcx)\n"
	"	movq %r13, 24(%rcx)\n"
	"	movq %r14, 32(%rcx)\n"
	"	movq %r15, 40(%rcx)\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size registers_across, .-registers_across\n");
#elif defined(__aarch64__)
#define REGISTERS 19 /* x19 to x28, x29, d8 to d15 */
__asm__(".macro every_register do, base\n"
	"	\\do x19, x20, [\\base, #0]\n"
	"	\\do x21, x22, [\\base, #16]\n"
	"	\\do x23, x24, [\\base, #32]\n"
	"	\\do x25, x26, [\\base, #48]\n"
	"	\\do x27, x28, [\\base, #64]\n"
	"	\\do d8, d9, [\\base, #88]\n"
	"	\\do d10, d11, [\\base, #104]\n"
	"	\\do d12, d13, [\\base, #120]\n"
	"	\\do d14, d15, [\\base, #136]\n"
	".endm\n"
	".text\n"
	".type registers_across, %function\n"
	"registers_across:\n"
	"	sub sp, sp, #176\n"
	"	every_register stp, sp\n"
	"	str x29, [sp, #80]\n"
	"	stp x30, x3, [sp, #152]\n"
	"	every_register ldp, x2\n"
	"	ldr x29, [x2, #80]\n"
	"	mov w2, #0\n"
	"	bl eddyi_ctx_switch\n"
	"	ldp x30, x3, [sp, #152]\n"
	"	every_register stp, x3\n"
	"	str x29, [x3, #80]\n"
	"	every_register ldp, sp\n"
	"	ldr x29, [sp, #80]\n"
	"	add sp, sp, #176\n"
	"	ret\n"
	".size registers_across, .-registers_across\n");
#endif

#ifdef REGISTERS
void registers_across(struct eddyi_ctx *from, struct eddyi_ctx *to, const uint64_t *in,
		      uint64_t *out);

static bool registers_stay(struct eddyi_ctx *from, struct eddyi_ctx *to, uint64_t seed)
{
	uint64_t in[REGISTERS], out[REGISTERS] = { 0 };

	for (unsigned i = 0; i < REGISTERS; i++)
		in[i] = (seed + i) * UINT64_C(0x9e3779b97f4a7c15);
	registers_across(from, to, in, out);
	return memcmp(in, out, sizeof(in)) == 0;
}

static void other_registers(void *arg)
{
	(void)arg;
	for (uint64_t seed = 1 << 20;; seed += 100)
		kept_on_stack &= registers_stay(&stacks[0], &thread, seed);
}

Test(switch, keeps_every_register_that_a_call_keeps)
{
	bool kept = true;

	eddyi_ctx_init_thread(&thread);
	make(&stacks[0], other_registers, NULL);
	for (uint64_t i = 0; i < 100; i++)
		kept &= registers_stay(&thread, &stacks[0], i * 100);
	cr_expect(kept);
	cr_expect(kept_on_stack);
	drop(&stacks[0]);
	eddyi_ctx_deinit(&thread);
}
#endif

__attribute__((noinline)) static long sum_below(long depth)
{
	volatile long here[16];

	here[depth % 16] = depth;
	eddyi_ctx_switch(&stacks[0], &thread, false);
	if (depth == 0)
		return 0;
	return sum_below(depth - 1) + here[depth % 16];
}

static void recurse(void *arg)
{
	*(long *)arg = sum_below(100);
	eddyi_ctx_switch(&stacks[0], &thread, true);
}

Test(switch, at_every_depth)
{
	long sum = 0;

	eddyi_ctx_init_thread(&thread);
	make(&stacks[0], recurse, &sum);
	for (int i = 0; i < 102; i++)
		eddyi_ctx_switch(&thread, &stacks[0], false);
	cr_expect_eq(sum, 100 * 101 / 2);
	drop(&stacks[0]);
	eddyi_ctx_deinit(&thread);
}

#define MANY 500
static struct eddyi_ctx crowd[MANY];
static int passed_on;

static void pass_on(void *arg)
{
	struct eddyi_ctx *self = arg, *next = self + 1 == crowd + MANY ? &thread : self + 1;
	double third = (double)(self - crowd) / 3;

	for (int round = 0;; round++) {
		passed_on += (int)(third * 3 + 0.5) == self - crowd;
		eddyi_ctx_switch(self, next, round == 2);
	}
}

Test(switch, through_many_stacks)
{
	if (IS_SLOW)
		cr_skip_test("needs a build without sanitizers");
	eddyi_ctx_init_thread(&thread);
	for (int i = 0; i < MANY; i++)
		make(&crowd[i], pass_on, &crowd[i]);
	for (int i = 0; i < 3; i++)
		eddyi_ctx_switch(&thread, &crowd[0], false);
	cr_expect_eq(passed_on, 3 * MANY);
	for (int i = 0; i < MANY; i++)
		drop(&crowd[i]);
	eddyi_ctx_deinit(&thread);
}

static void *seen[64], *entry_called_from;
static int seen_count;

/* Through a switch: what is above the entry function has been suspended once. */
__attribute__((noinline)) static int look_back(int depth)
{
	if (depth > 0)
		return look_back(depth - 1) + 1;
	eddyi_ctx_switch(&stacks[0], &thread, false);
	seen_count = backtrace(seen, 64);
	return 0;
}

static void trace(void *arg)
{
	entry_called_from = __builtin_return_address(0);
	*(int *)arg = look_back(5);
	eddyi_ctx_switch(&stacks[0], &thread, true);
}

Test(switch, backtrace_ends_at_the_entry)
{
	int depth = 0;

	eddyi_ctx_init_thread(&thread);
	make(&stacks[0], trace, &depth);
	for (int i = 0; i < 2; i++)
		eddyi_ctx_switch(&thread, &stacks[0], false);
	cr_expect_eq(depth, 5);
	cr_expect(seen_count >= 3 && seen_count < 20);
	cr_expect(seen[seen_count - 1] == entry_called_from);
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
	int sum = 0, status;
	pid_t child;

	if (strcmp(eddyi_switch, "ucontext") == 0)
		cr_skip_test("swapcontext makes one");
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
}
