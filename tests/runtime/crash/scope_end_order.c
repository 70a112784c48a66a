/* Ends the outer of two scopes first.
 * expect: signal ABRT
 * expect: stderr scope_end_order.c:13: the scope that begins here is still open as its outer one is ended, at [./a-z_]*scope_end_order.c:14: 
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
