/* A function begins a scope and forgets it; its caller ends its own.
 * expect: signal ABRT
 * expect: stderr ^eddy: [./a-z_]*scope_forgotten.c:14: the scope that begins here is still open as its outer one is ended, at [./a-z_]*scope_forgotten.c:25: call eddy_scope_end\(\) on every path, innermost first \(in GET /forgets\)\n$
 */
#include <eddy/internal/debug.h>
#include <eddy/scope.h>
#include <string.h>

static __attribute__((noinline)) int forget(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	return 0;
}

/* Another one has the memory of that scope by then. */
static __attribute__((noinline)) int overwrite(struct eddy_scope *outer)
{
	volatile char bytes[4096];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 'x';
	return eddy_scope_end(outer) + (bytes[7] == 0);
}

static int root(void *arg)
{
	struct eddy_scope outer;

	eddyi_task_set_label("GET /forgets");
	eddy_scope_begin(&outer, NULL);
	forget(arg);
	return overwrite(&outer);
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
