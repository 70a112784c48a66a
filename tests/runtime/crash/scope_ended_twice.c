/* Ends a scope explicitly and by EDDY_AUTO().
 * expect: signal ABRT
 * expect: stderr : a scope is ended twice, begun at [./a-z_]*scope_ended_twice.c:11
 */
#include <eddy/scope.h>

static int forgetful(void)
{
	EDDY_AUTO(eddy_scope_end) struct eddy_scope inner;

	eddy_scope_begin(&inner, NULL);
	return eddy_scope_end(&inner);
}

static int root(void *arg)
{
	struct eddy_scope outer;

	(void)arg;
	eddy_scope_begin(&outer, NULL);
	forgetful();
	return eddy_scope_end(&outer);
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
