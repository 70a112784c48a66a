/* spawn: an empty task from its start to its end.
 *
 *     spawn eddy|together|pthread|makecontext SECONDS
 *
 * "eddy": spawn, run, finish and join one task at a time, on a stack of the pool; "together": spawn 32,
 * then join them all. "pthread": pthread_create and pthread_join. "makecontext": getcontext,
 * makecontext and the swapcontext there and back, on a stack that is there already.
 */
#include "micro.h"

#include <eddy/runtime.h>
#include <pthread.h>
#include <string.h>
#include <ucontext.h>

#define ROUNDS 32

static double seconds;
static struct micro micro;
static unsigned long calls;

static int empty(void *arg)
{
	(void)arg;
	calls++;
	return 0;
}

static int one_by_one(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	micro = micro_begin(seconds);
	do {
		for (int i = 0; i < ROUNDS; i++) {
			eddy_scope_spawn(&scope, "empty", empty, NULL);
			eddy_scope_join(&scope);
		}
	} while (micro_goes_on(&micro, ROUNDS));
	micro_print(&micro);
	return eddy_scope_end(&scope);
}

static int together(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	micro = micro_begin(seconds);
	do {
		for (int i = 0; i < ROUNDS; i++)
			eddy_scope_spawn(&scope, "empty", empty, NULL);
		eddy_scope_join(&scope);
	} while (micro_goes_on(&micro, ROUNDS));
	micro_print(&micro);
	return eddy_scope_end(&scope);
}

static void *thread(void *arg)
{
	calls++;
	return arg;
}

static int threads(void)
{
	pthread_t id;

	micro = micro_begin(seconds);
	do {
		for (int i = 0; i < ROUNDS; i++) {
			if (pthread_create(&id, NULL, thread, NULL) != 0)
				micro_die("pthread_create");
			pthread_join(id, NULL);
		}
	} while (micro_goes_on(&micro, ROUNDS));
	micro_print(&micro);
	return 0;
}

static void context_main(void)
{
	calls++;
}

static int contexts(void)
{
	static char stack[64 * 1024];
	ucontext_t home, context;

	micro = micro_begin(seconds);
	do {
		for (int i = 0; i < ROUNDS; i++) {
			getcontext(&context);
			context.uc_stack.ss_sp = stack;
			context.uc_stack.ss_size = sizeof(stack);
			context.uc_link = &home;
			makecontext(&context, context_main, 0);
			swapcontext(&home, &context);
		}
	} while (micro_goes_on(&micro, ROUNDS));
	micro_print(&micro);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fputs("usage: spawn eddy|together|pthread|makecontext SECONDS\n", stderr);
		return 2;
	}
	seconds = strtod(argv[2], NULL);
	if (strcmp(argv[1], "eddy") == 0)
		return eddy_run(NULL, one_by_one, NULL) ? 1 : 0;
	if (strcmp(argv[1], "together") == 0)
		return eddy_run(NULL, together, NULL) ? 1 : 0;
	return strcmp(argv[1], "pthread") == 0 ? threads() : contexts();
}
