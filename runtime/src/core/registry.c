#include "registry.h"

#include "loop.h"

#include <pthread.h>

static struct {
	pthread_mutex_t lock;
	struct eddy_node loops;
	unsigned last_id;
} registry = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.loops = { &registry.loops, &registry.loops },
};

void eddyi_registry_add(struct eddy_loop *loop)
{
	pthread_mutex_lock(&registry.lock);
	loop->id = ++registry.last_id;
	eddy_list_append(&registry.loops, &loop->registered);
	pthread_mutex_unlock(&registry.lock);
}

void eddyi_registry_remove(struct eddy_loop *loop)
{
	eddy_list_remove(&loop->registered);
}

void eddyi_registry_wake(unsigned id)
{
	struct eddy_node *node;

	pthread_mutex_lock(&registry.lock);
	for (node = registry.loops.next; node != &registry.loops; node = node->next) {
		struct eddy_loop *loop = eddy_of(node, struct eddy_loop, registered);

		if (loop->id == id)
			eddyi_loop_wake(loop);
	}
	pthread_mutex_unlock(&registry.lock);
}

struct eddy_node *eddyi_registry_lock(void)
{
	pthread_mutex_lock(&registry.lock);
	return &registry.loops;
}

void eddyi_registry_unlock(void)
{
	pthread_mutex_unlock(&registry.lock);
}

void eddyi_loop_unstick(struct eddy_loop *loop)
{
	loop->look_again_ns = 0;
	if (!loop->stuck)
		return;
	eddyi_registry_lock();
	loop->stuck = false;
	eddyi_registry_unlock();
}
