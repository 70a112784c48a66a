/* Ends a channel that another task waits for.
 * expect: signal ABRT
 * expect: stderr chan_ends_awaited.c:[0-9]+: a channel is deinitialised while a task waits for it
 */
#include <eddy/chan.h>
#include <eddy/scope.h>

static int reader(void *arg)
{
	char byte;

	return eddy_chan_recv(arg, &byte);
}

static int root(void *arg)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "reader", reader, arg);
	eddy_sleep(0);
	eddy_chan_deinit(arg);
	return 0;
}

int main(void)
{
	struct eddy_chan chan;

	eddy_chan_init(&chan, 1, 0);
	return eddy_run(NULL, root, &chan);
}
