/* Unlocks what another task is writing.
 * expect: signal ABRT
 * expect: stderr a lock is unlocked by task "main", and written by "writer"
 */
#include <eddy/rwlock.h>
#include <eddy/scope.h>

static int writer(void *arg)
{
	eddy_rwlock_write_lock(arg);
	return eddy_sleep(EDDY_SECOND);
}

static int root(void *arg)
{
	struct eddy_scope scope;

	eddy_rwlock_init(arg);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "writer", writer, arg);
	eddy_sleep(0);
	eddy_rwlock_write_unlock(arg);
	return 0;
}

int main(void)
{
	struct eddy_rwlock lock;

	return eddy_run(NULL, root, &lock);
}
