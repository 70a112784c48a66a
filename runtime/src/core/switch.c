/* Entering and switching stacks, with their annotations.
 *
 * A stack is entered once through makecontext(3). Later switches use one of three implementations,
 * chosen by -Dswitch: a few instructions of assembly, _setjmp/_longjmp, or swapcontext, which makes
 * two system calls each time. Signal masks and the floating-point environment belong to the thread
 * and are not switched.
 */
/* It mistakes a _longjmp between stacks for a smashed stack. */
#undef _FORTIFY_SOURCE

#include "switch.h"

#include "config.h"
#include "base/panic.h"

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>
#if EDDYI_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if EDDYI_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#if EDDYI_HAVE_VALGRIND
#include <valgrind/memcheck.h>
#endif

/* Enter a fresh stack. This replaces the running stack, which the caller has saved. */
static void enter(void *arg)
{
	setcontext(arg);
	eddyi_panic("setcontext failed: the stack is too small");
}

#if defined(EDDYI_SWITCH_ASM)

__attribute__((used)) const char eddyi_switch[] = "asm";

/* eddyi_swap(save, sp): push the registers that the ABI preserves, store the stack pointer in
 * *save, switch to the stack at sp and continue where it stopped. eddyi_leave(save, fn, arg): save
 * in the same way, then call fn(arg), which never returns.
 *
 * Invariants for stack walkers:
 * 1. At the `sp` of a suspended stack are the registers as eddyi_push_all pushes them, whichever of
 *    the two saved it (eddy-gdb.py reads them).
 * 2. The CFI is right at every instruction: right after the stack pointer changes, the same rules
 *    describe the caller on the other stack. */
#if defined(__x86_64__)

/* A jump instead of `ret` avoids a misprediction: 3.8 ns instead of 13.4. Its target follows a call
 * and has no `endbr64`; `notrack` allows that under indirect branch tracking. */
__asm__(".macro eddyi_push reg\n"
	"	pushq %\\reg\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %\\reg, 0\n"
	".endm\n"
	".macro eddyi_pop reg\n"
	"	popq %\\reg\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %\\reg\n"
	".endm\n"
	".macro eddyi_push_all\n"
	"	eddyi_push rbp\n"
	"	eddyi_push rbx\n"
	"	eddyi_push r12\n"
	"	eddyi_push r13\n"
	"	eddyi_push r14\n"
	"	eddyi_push r15\n"
	".endm\n"
	".text\n"
	".p2align 4\n"
	".hidden eddyi_swap\n"
	".globl eddyi_swap\n"
	".type eddyi_swap, @function\n"
	"eddyi_swap:\n"
	".cfi_startproc\n"
	"	eddyi_push_all\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	eddyi_pop r15\n"
	"	eddyi_pop r14\n"
	"	eddyi_pop r13\n"
	"	eddyi_pop r12\n"
	"	eddyi_pop rbx\n"
	"	eddyi_pop rbp\n"
	"	popq %rcx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_register %rip, %rcx\n"
	"	notrack jmpq *%rcx\n"
	".cfi_endproc\n"
	".size eddyi_swap, .-eddyi_swap\n"
	".p2align 4\n"
	".hidden eddyi_leave\n"
	".globl eddyi_leave\n"
	".type eddyi_leave, @function\n"
	"eddyi_leave:\n"
	".cfi_startproc\n"
	"	eddyi_push_all\n"
	"	movq %rsp, (%rdi)\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	movq %rdx, %rdi\n"
	"	callq *%rsi\n"
	"	ud2\n"
	".cfi_endproc\n"
	".size eddyi_leave, .-eddyi_leave\n");

#elif defined(__aarch64__)

__asm__(".macro eddyi_push one, two, at\n"
	"	stp \\one, \\two, [sp, #\\at]\n"
	"	.cfi_rel_offset \\one, \\at\n"
	"	.cfi_rel_offset \\two, \\at + 8\n"
	".endm\n"
	".macro eddyi_push_all\n"
	"	sub sp, sp, #160\n"
	"	.cfi_adjust_cfa_offset 160\n"
	"	eddyi_push x19, x20, 0\n"
	"	eddyi_push x21, x22, 16\n"
	"	eddyi_push x23, x24, 32\n"
	"	eddyi_push x25, x26, 48\n"
	"	eddyi_push x27, x28, 64\n"
	"	eddyi_push x29, x30, 80\n"
	"	eddyi_push d8, d9, 96\n"
	"	eddyi_push d10, d11, 112\n"
	"	eddyi_push d12, d13, 128\n"
	"	eddyi_push d14, d15, 144\n"
	".endm\n"
	".macro eddyi_pop one, two, at\n"
	"	ldp \\one, \\two, [sp, #\\at]\n"
	"	.cfi_restore \\one\n"
	"	.cfi_restore \\two\n"
	".endm\n"
	".text\n"
	".p2align 4\n"
	".hidden eddyi_swap\n"
	".globl eddyi_swap\n"
	".type eddyi_swap, %function\n"
	"eddyi_swap:\n"
	".cfi_startproc\n"
	"	eddyi_push_all\n"
	"	mov x2, sp\n"
	"	str x2, [x0]\n"
	"	mov sp, x1\n"
	"	eddyi_pop x19, x20, 0\n"
	"	eddyi_pop x21, x22, 16\n"
	"	eddyi_pop x23, x24, 32\n"
	"	eddyi_pop x25, x26, 48\n"
	"	eddyi_pop x27, x28, 64\n"
	"	eddyi_pop x29, x30, 80\n"
	"	eddyi_pop d8, d9, 96\n"
	"	eddyi_pop d10, d11, 112\n"
	"	eddyi_pop d12, d13, 128\n"
	"	eddyi_pop d14, d15, 144\n"
	"	add sp, sp, #160\n"
	"	.cfi_adjust_cfa_offset -160\n"
	"	br x30\n"
	".cfi_endproc\n"
	".size eddyi_swap, .-eddyi_swap\n"
	".p2align 4\n"
	".hidden eddyi_leave\n"
	".globl eddyi_leave\n"
	".type eddyi_leave, %function\n"
	"eddyi_leave:\n"
	".cfi_startproc\n"
	"	eddyi_push_all\n"
	"	mov x3, sp\n"
	"	str x3, [x0]\n"
	"	mov x0, x2\n"
	"	blr x1\n"
	"	brk #1\n"
	".cfi_endproc\n"
	".size eddyi_leave, .-eddyi_leave\n");

#else
#error "no assembly for this machine: configure with -Dswitch=setjmp"
#endif

void eddyi_leave(void **save, void (*fn)(void *arg), void *arg);

static void swap_fresh(struct eddyi_ctx *from, ucontext_t *context)
{
	eddyi_leave(&from->sp, enter, context);
}

#elif defined(EDDYI_SWITCH_SETJMP)

__attribute__((used)) const char eddyi_switch[] = "setjmp";

/* Not inlined: setjmp returns twice. */
__attribute__((noinline)) void eddyi_swap(void **save, void *sp)
{
	jmp_buf here;

	*save = &here;
	if (_setjmp(here) == 0)
		_longjmp(sp, 1);
}

__attribute__((noinline)) static void swap_fresh(struct eddyi_ctx *from, ucontext_t *context)
{
	jmp_buf here;

	from->sp = &here;
	if (_setjmp(here) == 0)
		enter(context);
}

#else

__attribute__((used)) const char eddyi_switch[] = "ucontext";

/* Not inlined: a ucontext_t of 1 KiB must not enlarge the callers' frames. */
__attribute__((noinline)) static void swap_to(void **save, ucontext_t *to)
{
	ucontext_t here;

	/* With a stack set, AddressSanitizer would forget its state of that memory. */
	here.uc_stack = (stack_t){ 0 };
	*save = &here;
	swapcontext(&here, to);
}

void eddyi_swap(void **save, void *sp)
{
	ucontext_t *to = sp;

	/* Keep the thread's current signal mask, not the saved one. */
	pthread_sigmask(SIG_BLOCK, NULL, &to->uc_sigmask);
	swap_to(save, to);
}

static void swap_fresh(struct eddyi_ctx *from, ucontext_t *context)
{
	(void)enter;
	swap_to(&from->sp, context);
}

#endif

/* The thread's own stack, to which tasks return. */
static _Thread_local struct eddyi_ctx *thread_ctx;

#if EDDYI_TSAN
/* TSan does not see liburing unmap a ring, and the next thread's ring may get the same address. So
 * all that a loop did happens before all that later loops do. */
static char loops_end;
#endif

static void arrive(void *fake_stack)
{
#if EDDYI_ASAN
	const void *low;
	size_t size;

	__sanitizer_finish_switch_fiber(fake_stack, &low, &size);
	if (thread_ctx && !thread_ctx->low) {
		/* A task's stack is first entered from the thread's own. */
		thread_ctx->low = (void *)low;
		thread_ctx->size = size;
	}
#else
	(void)fake_stack;
#endif
}

/* End of the stack for stack walkers: the frame of makecontext below it is no caller. */
#if defined(__GCC_HAVE_DWARF2_CFI_ASM) && defined(__x86_64__)
#define NO_CALLER() __asm__ volatile(".cfi_undefined %rip")
#elif defined(__GCC_HAVE_DWARF2_CFI_ASM) && defined(__aarch64__)
#define NO_CALLER() __asm__ volatile(".cfi_undefined x30")
#else
#define NO_CALLER() (void)0
#endif

static void main_of_stack(unsigned high, unsigned low)
{
	struct eddyi_ctx *ctx = (void *)(uintptr_t)((uint64_t)high << 32 | low);
	void (*entry)(void *arg) = ctx->entry;

	NO_CALLER();
	arrive(NULL);
	ctx->entry = NULL;
	entry(ctx->arg);
	eddyi_panic("the entry function of a stack returned");
}

/* Always inlined: TSan would attribute its return to the other stack. */
static inline __attribute__((always_inline)) void
leave(struct eddyi_ctx *from, struct eddyi_ctx *to, bool from_ends, void **fake_stack)
{
#if EDDYI_ASAN
	__sanitizer_start_switch_fiber(from_ends ? NULL : fake_stack, to->low, to->size);
	/* At the end of `from`, its fake stack is gone, and with it perhaps the variable. */
	if (!from_ends)
		from->fiber = *fake_stack;
#else
	(void)from_ends;
	(void)fake_stack;
#endif
#if EDDYI_TSAN
	__tsan_switch_to_fiber(to->fiber, 0);
#endif
	(void)from;
	(void)to;
}

/* Not inlined: a ucontext_t of 1 KiB must not enlarge the frame of the hot path. */
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
	leave(from, to, from_ends, &fake_stack);
	swap_fresh(from, &context);
	arrive(fake_stack);
}

void eddyi_ctx_switch(struct eddyi_ctx *from, struct eddyi_ctx *to, bool from_ends)
{
	void *fake_stack = NULL;

	if (__builtin_expect(to->entry != NULL, 0)) {
		switch_fresh(from, to, from_ends);
		return;
	}
	leave(from, to, from_ends, &fake_stack);
	eddyi_swap(&from->sp, to->sp);
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
	/* It may be used again, for a context at another place. */
	VALGRIND_MAKE_MEM_UNDEFINED(ctx->low, ctx->size);
#endif
}
