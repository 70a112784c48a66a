/* Closes the output of a splice that another task waits for: so far for its input.
 * expect: signal ABRT
 * expect: stderr descriptor \d+ is closed while task "splicer" waits for it
 */
#include <eddy/io.h>
#include <eddy/scope.h>
#include <unistd.h>

static int from[2], to[2];

static int splicer(void *arg)
{
	(void)arg;
	return (int)eddy_splice(from[0], EDDY_OFFSET_NONE, to[1], EDDY_OFFSET_NONE, 1, 0);
}

static int root(void *arg)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "splicer", splicer, arg);
	eddy_sleep(0);
	return eddy_close(to[1]);
}

int main(void)
{
	return pipe(from) || pipe(to) ? 1 : eddy_run(NULL, root, NULL);
}
