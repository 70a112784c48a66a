/* Tries to lock a mutex that it holds: no -EBUSY.
 * expect: signal ABRT
 * expect: stderr mutex_tried_by_holder.c:[0-9]+: task "main" locks a mutex that it holds
 */
#include <eddy/mutex.h>
#include <eddy/task.h>

static int root(void *arg)
{
	eddy_mutex_init(arg);
	eddy_mutex_lock(arg);
	return eddy_mutex_try_lock(arg);
}

int main(void)
{
	struct eddy_mutex mutex;

	return eddy_run(NULL, root, &mutex);
}
