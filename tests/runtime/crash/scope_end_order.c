/* Ends the outer of two scopes first.
 * expect: signal ABRT
 * expect: stderr a scope must be ended by the task that began it, innermost first
 */
#include <eddy/scope.h>

static int root(void *arg)
{
	struct eddy_scope outer, inner;

	(void)arg;
	eddy_scope_begin(&outer, NULL);
	eddy_scope_begin(&inner, NULL);
	return eddy_scope_end(&outer);
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
