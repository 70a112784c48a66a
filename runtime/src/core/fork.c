/* A ring belongs to the thread that made it. A child shares the memory of its queues, so the
 * child's entries would be the parent's. The child's only thread therefore has no loop. */
#include "fork.h"

#include "loop.h"
#include "registry.h"

#include <pthread.h>

static struct eddy_node *loops; /* list of the locked registry */

static void before(void)
{
	loops = eddyi_registry_lock();
}

static void in_child(void)
{
	eddyi_loop_was_forked |= !eddy_list_is_empty(loops);
	eddyi_this_loop = NULL;
	eddyi_registry_unlock();
}

static void watch(void)
{
	pthread_atfork(before, eddyi_registry_unlock, in_child);
}

void eddyi_fork_watch(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch);
}
