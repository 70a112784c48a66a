/* heap.h: a pairing heap of timers, the earliest on top. It never allocates. */
#ifndef EDDYI_HEAP_H
#define EDDYI_HEAP_H

#include <eddy/timer.h>

struct eddyi_heap {
	struct eddy_timer *top; /* NULL when empty */
	size_t count;
};

void eddyi_heap_insert(struct eddyi_heap *heap, struct eddy_timer *timer);
void eddyi_heap_remove(struct eddyi_heap *heap, struct eddy_timer *timer);

#endif
