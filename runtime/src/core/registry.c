#include "registry.h"

#include "loop.h"

#include <pthread.h>

/* eddy-gdb.py finds the loops by it, so it keeps its name when the library is linked with LTO. */
__attribute__((used)) struct eddyi_registry {
	pthread_mutex_t lock;
	struct eddy_node loops;
	unsigned last_id;
} eddyi_registry = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.loops = { &eddyi_registry.loops, &eddyi_registry.loops },
};

void eddyi_registry_add(struct eddy_loop *loop)
{
	pthread_mutex_lock(&eddyi_registry.lock);
	loop->id = ++eddyi_registry.last_id;
	eddy_list_append(&eddyi_registry.loops, &loop->registered);
	pthread_mutex_unlock(&eddyi_registry.lock);
}

void eddyi_registry_remove(struct eddy_loop *loop)
{
	eddy_list_remove(&loop->registered);
}

void eddyi_registry_wake(unsigned id)
{
	struct eddy_node *node;

	pthread_mutex_lock(&eddyi_registry.lock);
	for (node = eddyi_registry.loops.next; node != &eddyi_registry.loops; node = node->next) {
		struct eddy_loop *loop = eddy_of(node, struct eddy_loop, registered);

		if (loop->id == id)
			eddyi_loop_wake(loop);
	}
	pthread_mutex_unlock(&eddyi_registry.lock);
}

struct eddy_node *eddyi_registry_lock(void)
{
	pthread_mutex_lock(&eddyi_registry.lock);
	return &eddyi_registry.loops;
}

void eddyi_registry_unlock(void)
{
	pthread_mutex_unlock(&eddyi_registry.lock);
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
