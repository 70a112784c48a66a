/* All functions called in the handler are safe there: it reads this thread's own loop only, which
 * is consistent enough wherever a task's fault interrupted it (see eddyi_stacks_find_guard). */
#include "fault.h"

#include "loop.h"
#include "wait.h"
#include "base/frame.h"
#include "base/out.h"

#include <eddy/internal/debug.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

/* For a handler's own frames, in addition to the state that the processor saves. */
#define HANDLER_STACK (64 * EDDY_KIB)
/* A pointer read from freed request memory (http/src/text/arena.c). */
#define POISON UINT64_C(0xdddddddddddddddd)

/* Set by eddyi_fault_know_stack(). Initial-exec: access in a handler must not allocate. */
static _Thread_local struct {
	const char *low; /* NULL: unknown */
	size_t size, guard_size;
} own_stack __attribute__((tls_model("initial-exec")));

void eddyi_fault_know_stack(void)
{
	pthread_attr_t attr;
	void *low;

	if (pthread_getattr_np(pthread_self(), &attr))
		return;
	if (pthread_attr_getstack(&attr, &low, &own_stack.size) == 0 &&
	    pthread_attr_getguardsize(&attr, &own_stack.guard_size) == 0)
		own_stack.low = low;
	pthread_attr_destroy(&attr);
}

static bool is_in_own_guard(const char *address)
{
	return own_stack.low && address < own_stack.low &&
	       (size_t)(own_stack.low - address) <= own_stack.guard_size;
}

static void say_task(struct eddyi_out *out, const struct eddy_task *task)
{
	eddyi_out(out, "task \"");
	eddyi_out_name(out, task->name);
	eddyi_out(out, "\" (#%llu, ", (unsigned long long)task->id);
	if (task->label)
		eddyi_out(out, "%s)", task->label);
	else
		eddyi_out(out, "spawned at %s)", eddyi_place(task->where));
}

static void say_overflow(struct eddyi_out *out, const struct eddy_loop *loop,
			 const struct eddy_task *task)
{
	eddyi_out(out, "eddy: stack overflow in ");
	say_task(out, task);
	eddyi_out(out,
		  ": its stack has %zu KiB; give it more by .stack_size of eddy_loop_options or "
		  "eddy_server_options, or run deep code by eddy_on_loop_stack()\n",
		  loop->stacks.size / EDDY_KIB);
}

/* Check for a register near POISON. */
static bool has_poison(const ucontext_t *context)
{
#if defined(__x86_64__)
	for (int i = REG_R8; i <= REG_RSP; i++)
		if ((uint64_t)context->uc_mcontext.gregs[i] >> 16 == POISON >> 16)
			return true;
#elif defined(__aarch64__)
	for (int i = 0; i < 31; i++)
		if (context->uc_mcontext.regs[i] >> 16 == POISON >> 16)
			return true;
#else
	(void)context;
#endif
	return false;
}

static void say_fault(struct eddyi_out *out, int signo, const void *address,
		      const ucontext_t *context)
{
	const struct eddy_loop *loop = eddy_loop_self();
	const struct eddy_task *task = loop ? loop->running : NULL;
	char thread[16] = "";
	void *stack;

	if (task && eddyi_stacks_find_guard(&loop->stacks, address, &stack) && stack == task->low) {
		say_overflow(out, loop, task);
		return;
	}
	if (!loop && is_in_own_guard(address)) {
		eddyi_out(out,
			  "eddy: stack overflow in an offloaded function: its thread's stack has "
			  "%zu KiB; give it more by ulimit -s\n",
			  own_stack.size / EDDY_KIB);
		return;
	}
	prctl(PR_GET_NAME, thread);
	if (!loop && strcmp(thread, "eddy-offload") != 0)
		return;
	eddyi_out(out, "eddy: %s at %p in ", signo == SIGSEGV ? "SIGSEGV" : "SIGBUS", address);
	if (task) {
		say_task(out, task);
	} else if (loop && loop->on_stack.task) {
		say_task(out, loop->on_stack.task);
		eddyi_out(out, ", on its loop's stack");
	} else if (loop) {
		eddyi_out(out, "a completion function of loop \"");
		eddyi_out_name(out, loop->name);
		eddyi_out(out, "\"");
	} else {
		eddyi_out(out, "an offloaded function");
	}
	if (eddyi_debug_checking() && has_poison(context))
		eddyi_out(out, ": a pointer was read from memory that has been freed, as that of a "
			       "request that has been answered; EDDY_DEBUG fills it with 0xdd");
	eddyi_out(out, "\n");
}

static void faulted(int signo, siginfo_t *info, void *context)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	struct eddyi_out out = { .fd = STDERR_FILENO };

	if (info->si_code > 0)
		say_fault(&out, signo, info->si_addr, context);
	eddyi_out_flush(&out);
	eddyi_panic_last(true);
	/* A fault: the instruction faults again and the process dies there, as a core dump then
	 * shows. A signal that was sent has to be raised again. */
	sigaction(signo, &action, NULL);
	if (info->si_code <= 0)
		raise(signo);
}

static void watch(void)
{
	static const int signos[] = { SIGSEGV, SIGBUS };
	struct sigaction action = { .sa_sigaction = faulted, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct sigaction before;

	eddyi_frame_prepare();
	for (size_t i = 0; i < sizeof(signos) / sizeof(signos[0]); i++)
		if (sigaction(signos[i], NULL, &before) == 0 && !(before.sa_flags & SA_SIGINFO) &&
		    before.sa_handler == SIG_DFL)
			sigaction(signos[i], &action, NULL);
}

void eddyi_fault_watch(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch);
}

static size_t handler_stack_size(void)
{
	long saved = sysconf(_SC_MINSIGSTKSZ);

	return HANDLER_STACK + (saved > 0 ? (size_t)saved : 0);
}

void *eddyi_fault_stack_give(void)
{
	size_t size = handler_stack_size();
	stack_t stack;
	void *memory;

	if (sigaltstack(NULL, &stack) < 0 || !(stack.ss_flags & SS_DISABLE))
		return NULL;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	stack = (stack_t){ .ss_sp = memory, .ss_size = size };
	if (sigaltstack(&stack, NULL) < 0) {
		munmap(memory, size);
		return NULL;
	}
	return memory;
}

void eddyi_fault_stack_drop(void *memory)
{
	stack_t stack;

	if (!memory)
		return;
	/* The program may have replaced it by its own. */
	if (sigaltstack(NULL, &stack) == 0 && stack.ss_sp == memory)
		sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
	munmap(memory, handler_stack_size());
}
