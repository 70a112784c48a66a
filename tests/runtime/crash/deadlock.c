/* Two tasks receive from each other, and nobody sends. One that has ended left its stack in the pool,
 * and with it a timer of the runtime's own; a thread of the pool is there, and idle.
 * expect: signal ABRT
 * expect: stderr ^eddy: deadlock: all tasks wait for each other, and nothing else can wake one: .*\neddy: loop 1 "main" .*: 3 tasks, 1 pooled; 0 ops, 0 of them without a task; 0 timers\n
 * expect: stderr └─ #1 "main" \(eddy_run\(\)\), stack [0-9]+ KiB: scope join, for [0-9]+ ms\n
 * expect: stderr ├─ #2 "left" \(tests/runtime/crash/deadlock.c:[0-9]+\), stack [0-9]+ KiB: chan recv 0x[0-9a-f]+ \(0 of 0 items\), for [0-9]+ ms\n
 * expect: stderr └─ #3 "right" .*: chan recv 0x[0-9a-f]+ \(0 of 0 items\), for [0-9]+ ms\n
 * expect: stderr \neddy: deadlock, see above\n$
 */
#include <eddy/chan.h>
#include <eddy/offload.h>
#include <eddy/scope.h>

static struct eddy_chan to_left, to_right;

static int left(void *arg)
{
	int item;

	(void)arg;
	eddy_chan_recv(&to_left, &item);
	return eddy_chan_send(&to_right, &item);
}

static int right(void *arg)
{
	int item;

	(void)arg;
	eddy_chan_recv(&to_right, &item);
	return eddy_chan_send(&to_left, &item);
}

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

static int outside(void *arg)
{
	return eddy_offload(nothing, arg);
}

static int root(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	eddy_chan_init(&to_left, sizeof(int), 0);
	eddy_chan_init(&to_right, sizeof(int), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "left", left, NULL);
	eddy_scope_spawn(&scope, "right", right, NULL);
	eddy_scope_spawn(&scope, "outside", outside, NULL);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
