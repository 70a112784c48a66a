/* Invariants:
 * 1. A timer's children (child, then next of each) fire no earlier than the timer.
 * 2. prev is the left sibling, or the parent for a first child. For the top it is the timer itself,
 *    so prev == NULL means "in no heap".
 */
#include "heap.h"

/* Make the later of two tops the first child of the earlier. */
static struct eddy_timer *meld(struct eddy_timer *a, struct eddy_timer *b)
{
	struct eddy_timer *later;

	if (!a)
		return b;
	if (!b)
		return a;
	if (b->at_ns < a->at_ns) {
		later = a;
		a = b;
	} else {
		later = b;
	}
	later->prev = a;
	later->next = a->child;
	if (a->child)
		a->child->prev = later;
	a->child = later;
	a->next = NULL;
	return a;
}

/* Meld siblings into one heap: in pairs from the left, then the pairs from the right. */
static struct eddy_timer *meld_siblings(struct eddy_timer *first)
{
	struct eddy_timer *pairs = NULL, *top = NULL;

	while (first) {
		struct eddy_timer *a = first, *b = first->next, *pair;

		first = b ? b->next : NULL;
		a->next = NULL;
		if (b)
			b->next = NULL;
		pair = meld(a, b);
		pair->next = pairs;
		pairs = pair;
	}
	while (pairs) {
		struct eddy_timer *next = pairs->next;

		pairs->next = NULL;
		top = meld(top, pairs);
		pairs = next;
	}
	return top;
}

static void set_top(struct eddyi_heap *heap, struct eddy_timer *top)
{
	heap->top = top;
	if (top)
		top->prev = top;
}

void eddyi_heap_insert(struct eddyi_heap *heap, struct eddy_timer *timer)
{
	timer->child = timer->next = NULL;
	heap->count++;
	set_top(heap, meld(heap->top, timer));
}

void eddyi_heap_remove(struct eddyi_heap *heap, struct eddy_timer *timer)
{
	struct eddy_timer *children = meld_siblings(timer->child);

	heap->count--;
	if (timer == heap->top) {
		set_top(heap, children);
	} else {
		if (timer->prev->child == timer)
			timer->prev->child = timer->next;
		else
			timer->prev->next = timer->next;
		if (timer->next)
			timer->next->prev = timer->prev;
		set_top(heap, meld(heap->top, children));
	}
	timer->child = timer->next = timer->prev = NULL;
}
