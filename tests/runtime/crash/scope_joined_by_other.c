/* Joins a scope that another task began.
 * expect: signal ABRT
 * expect: stderr scope_joined_by_other.c:[0-9]+: a scope is joined by a task that did not begin it, at [./a-z_]*scope_joined_by_other.c:[0-9]+
 */
#include <eddy/scope.h>

static int joiner(void *arg)
{
	return eddy_scope_join(arg);
}

static int root(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "joiner", joiner, &scope);
	return eddy_scope_join(&scope);
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
