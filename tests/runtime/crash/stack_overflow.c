/* Runs off the end of a task's stack, into its guard.
 * expect: signal SEGV
 * expect: stderr eddy: stack overflow in task "digger" \(#2, spawned at tests/runtime/crash/stack_overflow\.c:[0-9]+\): its stack has 128 KiB; give it more by \.stack_size of eddy_loop_options or eddy_server_options, or run deep code by eddy_on_loop_stack\(\)\n$
 */
#include <eddy/scope.h>

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

static int root(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "digger", digger, NULL);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

int main(void)
{
	return eddy_run(&(struct eddy_loop_options){ .stack_size = 128 * EDDY_KIB }, root, NULL);
}
