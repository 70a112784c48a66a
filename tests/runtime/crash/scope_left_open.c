/* Returns from a task without ending a scope.
 * expect: signal ABRT
 * expect: stderr task "careless" returned inside a scope that it had begun
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
