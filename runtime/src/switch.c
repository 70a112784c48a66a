/* Entry, switch and annotations of stacks.
 *
 * A stack is entered once through makecontext(3), and then switched to and from by one of three
 * means, chosen by -Dswitch: a few instructions of assembly, _setjmp/_longjmp, or swapcontext
 * (which makes a system call each time). Signal masks and the floating-point environment are the
 * thread's and are not switched.
 */
/* Takes a _longjmp between stacks for a smashed one. */
#undef _FORTIFY_SOURCE

#include "switch.h"

#include "config.h"
#include "panic.h"

#include <stdint.h>
#if EDDYI_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if EDDYI_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#if EDDYI_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#endif

/* The way into a fresh stack: `enter` replaces the running stack for good, so whoever calls it has
 * saved itself before. */
static void enter(void *arg)
{
	setcontext(arg);
	eddyi_panic(__FILE__, __LINE__, "setcontext failed: the stack is too small");
}

#if defined(EDDYI_SWITCH_ASM) && defined(__x86_64__)

/* eddyi_swap(save, sp): push what the ABI wants kept, leave the stack pointer in *save, take over
 * the stack at sp and go on where it stopped. The jump instead of a `ret` keeps the return
 * predictor out of it: 3.8 ns against 13.4.
 * eddyi_leave(save, fn, arg): the same leave, then call fn(arg), which never returns. */
__asm__(".text\n"
	".p2align 4\n"
	".hidden eddyi_swap\n"
	".globl eddyi_swap\n"
	".type eddyi_swap, @function\n"
	"eddyi_swap:\n"
	".cfi_startproc\n"
	"	pushq %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %r12\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %r13\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %r14\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %r15\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	popq %rcx\n"
	"	jmpq *%rcx\n"
	".cfi_endproc\n"
	".size eddyi_swap, .-eddyi_swap\n"
	".p2align 4\n"
	".hidden eddyi_leave\n"
	".globl eddyi_leave\n"
	".type eddyi_leave, @function\n"
	"eddyi_leave:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	subq $8, %rsp\n"
	"	movq %rdx, %rdi\n"
	"	callq *%rsi\n"
	"	ud2\n"
	".size eddyi_leave, .-eddyi_leave\n");

#elif defined(EDDYI_SWITCH_ASM) && defined(__aarch64__)

__asm__(".text\n"
	".p2align 4\n"
	".hidden eddyi_swap\n"
	".globl eddyi_swap\n"
	".type eddyi_swap, %function\n"
	"eddyi_swap:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp, #0]\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x2, sp\n"
	"	str x2, [x0]\n"
	"	mov sp, x1\n"
	"	ldp x19, x20, [sp, #0]\n"
	"	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n"
	"	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	br x30\n"
	".size eddyi_swap, .-eddyi_swap\n"
	".p2align 4\n"
	".hidden eddyi_leave\n"
	".globl eddyi_leave\n"
	".type eddyi_leave, %function\n"
	"eddyi_leave:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp, #0]\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x3, sp\n"
	"	str x3, [x0]\n"
	"	mov x0, x2\n"
	"	blr x1\n"
	"	brk #1\n"
	".size eddyi_leave, .-eddyi_leave\n");

#elif defined(EDDYI_SWITCH_ASM)
#error "no assembly for this machine: configure with -Dswitch=setjmp"
#endif

#if defined(EDDYI_SWITCH_ASM)

void eddyi_swap(void **save, void *sp);
void eddyi_leave(void **save, void (*fn)(void *arg), void *arg);

static void swap(struct eddyi_ctx *from, struct eddyi_ctx *to)
{
	eddyi_swap(&from->sp, to->sp);
}

static void swap_fresh(struct eddyi_ctx *from, struct eddyi_ctx *to, ucontext_t *context)
{
	(void)to;
	eddyi_leave(&from->sp, enter, context);
}

#elif defined(EDDYI_SWITCH_SETJMP)

/* Not inlined: setjmp returns twice. */
__attribute__((noinline)) static void swap(struct eddyi_ctx *from, struct eddyi_ctx *to)
{
	if (_setjmp(from->jump) == 0)
		_longjmp(to->jump, 1);
}

__attribute__((noinline)) static void swap_fresh(struct eddyi_ctx *from, struct eddyi_ctx *to,
						 ucontext_t *context)
{
	(void)to;
	if (_setjmp(from->jump) == 0)
		enter(context);
}

#else

static void swap(struct eddyi_ctx *from, struct eddyi_ctx *to)
{
	swapcontext(&from->context, &to->context);
}

static void swap_fresh(struct eddyi_ctx *from, struct eddyi_ctx *to, ucontext_t *context)
{
	(void)enter;
	(void)to;
	swapcontext(&from->context, context);
}

#endif

/* The thread's own stack: where tasks go back to. */
static _Thread_local struct eddyi_ctx *thread_ctx;

#if EDDYI_TSAN
/* liburing unmaps a ring behind TSan's back, and the next thread's may come to lie there: what a loop
 * did before its end is taken to have happened before what later loops do. */
static char loops_end;
#endif

static void arrive(void *fake_stack)
{
#if EDDYI_ASAN
	const void *low;
	size_t size;

	__sanitizer_finish_switch_fiber(fake_stack, &low, &size);
	if (thread_ctx && !thread_ctx->low) {
		/* The first arrival on any task's stack comes from the thread's. */
		thread_ctx->low = (void *)low;
		thread_ctx->size = size;
	}
#else
	(void)fake_stack;
#endif
}

static void main_of_stack(unsigned high, unsigned low)
{
	struct eddyi_ctx *ctx = (void *)(uintptr_t)((uint64_t)high << 32 | low);
	void (*entry)(void *arg) = ctx->entry;

	arrive(NULL);
	ctx->entry = NULL;
	entry(ctx->arg);
	eddyi_panic(__FILE__, __LINE__, "the entry function of a stack returned");
}

/* Always inlined: TSan would take its return for one from the other stack. */
static inline __attribute__((always_inline)) void leave(struct eddyi_ctx *to, bool from_ends,
							void **fake_stack)
{
#if EDDYI_ASAN
	__sanitizer_start_switch_fiber(from_ends ? NULL : fake_stack, to->low, to->size);
#else
	(void)from_ends;
	(void)fake_stack;
#endif
#if EDDYI_TSAN
	__tsan_switch_to_fiber(to->fiber, 0);
#endif
	(void)to;
}

/* Not inlined: a ucontext_t is a KiB that the hot path below does not want in its frame. */
__attribute__((noinline)) static void switch_fresh(struct eddyi_ctx *from, struct eddyi_ctx *to,
						   bool from_ends)
{
	uint64_t address = (uintptr_t)to;
	void *fake_stack = NULL;
	ucontext_t context;

	getcontext(&context);
	context.uc_stack.ss_sp = to->low;
	context.uc_stack.ss_size = to->size;
	context.uc_link = NULL;
	makecontext(&context, (void (*)(void))main_of_stack, 2, (unsigned)(address >> 32),
		    (unsigned)address);
	leave(to, from_ends, &fake_stack);
	swap_fresh(from, to, &context);
	arrive(fake_stack);
}

void eddyi_ctx_switch(struct eddyi_ctx *from, struct eddyi_ctx *to, bool from_ends)
{
	void *fake_stack = NULL;

	if (__builtin_expect(to->entry != NULL, 0)) {
		switch_fresh(from, to, from_ends);
		return;
	}
	leave(to, from_ends, &fake_stack);
	swap(from, to);
	arrive(fake_stack);
}

void eddyi_ctx_init(struct eddyi_ctx *ctx, void *low, size_t size, void (*entry)(void *arg),
		    void *arg)
{
	ctx->low = low;
	ctx->size = size;
	ctx->entry = entry;
	ctx->arg = arg;
#if EDDYI_TSAN
	ctx->fiber = __tsan_create_fiber(0);
#endif
#if EDDYI_HAVE_VALGRIND
	ctx->valgrind_id = VALGRIND_STACK_REGISTER(low, (char *)low + size);
#endif
}

void eddyi_ctx_init_thread(struct eddyi_ctx *ctx)
{
	ctx->entry = NULL;
	ctx->low = NULL;
	ctx->size = 0;
	thread_ctx = ctx;
#if EDDYI_TSAN
	ctx->fiber = __tsan_get_current_fiber();
	__tsan_acquire(&loops_end);
#endif
}

void eddyi_ctx_reset(struct eddyi_ctx *ctx, void (*entry)(void *arg), void *arg)
{
#if EDDYI_ASAN
	__asan_unpoison_memory_region(ctx->low, ctx->size);
#endif
	ctx->entry = entry;
	ctx->arg = arg;
}

void eddyi_ctx_deinit(struct eddyi_ctx *ctx)
{
	if (ctx == thread_ctx) {
#if EDDYI_TSAN
		__tsan_release(&loops_end);
#endif
		thread_ctx = NULL;
		return;
	}
#if EDDYI_ASAN
	__asan_unpoison_memory_region(ctx->low, ctx->size);
#endif
#if EDDYI_TSAN
	__tsan_destroy_fiber(ctx->fiber);
#endif
#if EDDYI_HAVE_VALGRIND
	VALGRIND_STACK_DEREGISTER(ctx->valgrind_id);
#endif
}
