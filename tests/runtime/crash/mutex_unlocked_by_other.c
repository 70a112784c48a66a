/* Unlocks a mutex that another task holds.
 * expect: signal ABRT
 * expect: stderr mutex_unlocked_by_other.c:[0-9]+: task "main" unlocks a mutex that is held by "holder"
 */
#include <eddy/mutex.h>
#include <eddy/scope.h>

static int holder(void *arg)
{
	eddy_mutex_lock(arg);
	return eddy_sleep(EDDY_SECOND);
}

static int root(void *arg)
{
	struct eddy_scope scope;

	eddy_mutex_init(arg);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "holder", holder, arg);
	eddy_sleep(0);
	eddy_mutex_unlock(arg);
	return 0;
}

int main(void)
{
	struct eddy_mutex mutex;

	return eddy_run(NULL, root, &mutex);
}
