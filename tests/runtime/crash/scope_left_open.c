/* Returns from a task without ending a scope.
 * expect: signal ABRT
 * expect: stderr scope_left_open.c:12: task "careless" returned inside the scope that it begins here: call eddy_scope_end\(\) on every path
 */
#include <eddy/scope.h>

static int careless(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	return 0;
}

int main(void)
{
	return eddy_run(&(struct eddy_loop_options){ .name = "careless" }, careless, NULL);
}
