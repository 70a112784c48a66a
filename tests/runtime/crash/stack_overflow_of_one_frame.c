/* One frame that is larger than the guard and what lies below it: an access at its far end would go by the guard, into
 * the stack of another. Whoever builds against the runtime gets code that probes.
 * expect: signal SEGV
 * expect: stderr eddy: stack overflow in task "leaper" \(#3, spawned at tests/runtime/crash/stack_overflow_of_one_frame\.c:[0-9]+\)
 */
#include <eddy/scope.h>

__attribute__((noinline)) static int leap(void)
{
	char frame[200 * EDDY_KIB];

	frame[0] = 1;
	__asm__ volatile("" : : "r"(frame) : "memory");
	return frame[0];
}

static int neighbour(void *arg)
{
	(void)arg;
	return eddy_sleep(EDDY_MS);
}

static int leaper(void *arg)
{
	(void)arg;
	return leap();
}

static int root(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "neighbour", neighbour, NULL);
	eddy_scope_spawn(&scope, "leaper", leaper, NULL);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

int main(void)
{
	return eddy_run(&(struct eddy_loop_options){ .stack_size = 128 * EDDY_KIB }, root, NULL);
}
