/* yield: from one task to the next through the ready queue, scheduler included.
 *
 *     yield TASKS SECONDS
 */
#include "micro.h"

#include <eddy/runtime.h>

#define ROUNDS 10000

static unsigned long tasks;
static double seconds;
static bool over;

static int others(void *arg)
{
	(void)arg;
	while (!over)
		eddy_yield();
	return 0;
}

static int first(void *arg)
{
	unsigned long rounds = ROUNDS / tasks + 1;
	struct eddy_scope scope;
	struct micro micro;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	for (unsigned long i = 1; i < tasks; i++)
		if (eddy_scope_spawn(&scope, "yields", others, NULL) < 0)
			micro_die("spawn");
	eddy_yield();
	micro = micro_begin(seconds);
	do
		for (unsigned long i = 0; i < rounds; i++)
			eddy_yield();
	while (micro_goes_on(&micro, rounds * tasks));
	over = true;
	micro_print(&micro);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fputs("usage: yield TASKS SECONDS\n", stderr);
		return 2;
	}
	tasks = strtoul(argv[1], NULL, 10);
	seconds = strtod(argv[2], NULL);
	return eddy_run(NULL, first, NULL) ? 1 : 0;
}
