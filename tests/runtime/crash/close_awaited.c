/* Closes a descriptor that another task waits for.
 * expect: signal ABRT
 * expect: stderr descriptor \d+ is closed while task "reader" waits for it
 */
#include <eddy/io.h>
#include <eddy/scope.h>
#include <unistd.h>

static int fds[2];

static int reader(void *arg)
{
	return (int)eddy_read(fds[0], arg, 1, EDDY_OFFSET_NONE);
}

static int root(void *arg)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "reader", reader, arg);
	eddy_sleep(0);
	return eddy_close(fds[0]);
}

int main(void)
{
	char byte;

	return pipe(fds) ? 1 : eddy_run(NULL, root, &byte);
}
