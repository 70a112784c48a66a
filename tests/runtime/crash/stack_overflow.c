/* Runs off the end of a task's stack, into its guard.
 * expect: signal SEGV
 * expect: stderr fault in the guard of "digger"
 */
#include "loop.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static struct eddy_loop *loop;

__attribute__((noinline)) static int dig(int depth)
{
	char frame[30000];

	frame[0] = (char)depth;
	__asm__ volatile("" : : "r"(frame) : "memory");
	return depth ? dig(depth - 1) + frame[0] : 0;
}

static int digger(void *arg)
{
	(void)arg;
	return dig(100000);
}

static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

static void faulted(int number, siginfo_t *info, void *context)
{
	void *stack;

	(void)context;
	if (eddyi_stacks_find_guard(&loop->stacks, info->si_addr, &stack) &&
	    stack == loop->running->low) {
		say("fault in the guard of \"");
		say(loop->running->name);
		say("\"\n");
	}
	signal(number, SIG_DFL);
}

static int root(void *arg)
{
	static char memory[64 * 1024];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
	struct sigaction action = { .sa_sigaction = faulted, .sa_flags = SA_ONSTACK | SA_SIGINFO };
	struct eddy_scope scope;

	(void)arg;
	loop = eddyi_loop();
	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "digger", digger, NULL);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
