/* 01_tasks: two tasks take turns on one thread.
 *
 *     $ 01_tasks
 *     tick 1
 *     tock 1
 *     tick 2
 *     tock 2
 *     tick 3
 *     tock 3
 */
#include <eddy/runtime.h>
#include <stdio.h>

static int count(void *name)
{
	for (int i = 1; i <= 3; i++) {
		printf("%s %d\n", (const char *)name, i);
		eddy_sleep(20 * EDDY_MS);
	}
	return 0;
}

static int run(void *arg)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "tick", count, "tick");
	eddy_scope_spawn(&scope, "tock", count, "tock");
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

int main(void)
{
	return eddy_main(run, NULL);
}
