/* Timers: the loop's pairing heap, and queues of timeouts. */
#include "own.h"

/* The heap, the earliest timer on top. It never allocates.
 *
 * Invariants:
 * 1. A timer's children (child, then next of each) fire no earlier than the timer.
 * 2. prev is the left sibling, or the parent for a first child. For the top it is the timer itself,
 *    so prev == NULL means "in no heap".
 */
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

void(eddy_timer_arm)(struct eddy_timer *timer, uint64_t at_ns, const char *where)
{
	struct eddy_loop *loop;

	if (__builtin_expect(eddy_timer_is_armed(timer), 0)) {
		eddyi_own(&timer->loop, "a timer", where);
		eddyi_panic_at(where, "a timer is armed twice");
	}
	loop = eddyi_loop_at(where);
	timer->at_ns = loop->firing && at_ns <= loop->now_ns ? loop->now_ns + 1 : at_ns;
	timer->loop = loop->id;
	eddyi_heap_insert(&loop->timers, timer);
}

void eddyi_timer_disarm(struct eddy_timer *timer, const char *where)
{
	if (!eddy_timer_is_armed(timer))
		return;
	eddyi_own(&timer->loop, "a timer", where);
	eddyi_heap_remove(&eddyi_loop_at(where)->timers, timer);
}

EDDYI_WITHOUT_WHERE(timer_disarm, struct eddy_timer)

/* Queues of timeouts with equal duration, which expire in the order they were last armed or
 * touched.
 *
 * Invariants:
 * 1. A queue is ordered by since_ns.
 * 2. Its timer is armed while the queue is not empty, for the end of its head or earlier. Touching
 *    or disarming the head leaves the timer as it is: it then fires early once and is armed again.
 */
static uint64_t end_of(const struct eddy_timeout *timeout)
{
	return eddyi_time_after(timeout->since_ns, timeout->queue->duration_ns);
}

static void queue_fire(struct eddy_timer *timer)
{
	struct eddy_timeout_queue *queue = eddy_of(timer, struct eddy_timeout_queue, timer);
	uint64_t now = eddy_loop_now();

	while (!eddy_list_is_empty(&queue->timeouts)) {
		struct eddy_node *node = queue->timeouts.next;
		struct eddy_timeout *timeout = eddy_of(node, struct eddy_timeout, node);

		if (end_of(timeout) > now) {
			/* An expired timeout may have armed a later one, and the timer with it. */
			eddy_timer_disarm(timer);
			eddy_timer_arm(timer, end_of(timeout));
			return;
		}
		eddy_list_remove(node);
		timeout->expire(timeout);
	}
}

void eddy_timeout_queue_init(struct eddy_timeout_queue *queue, uint64_t duration_ns)
{
	*queue = (struct eddy_timeout_queue){
		.duration_ns = duration_ns,
		.timer = { .fire = queue_fire },
	};
	eddy_list_init(&queue->timeouts);
}

void eddyi_timeout_queue_deinit(struct eddy_timeout_queue *queue, const char *where)
{
	if (!queue->timeouts.next)
		return;
	eddyi_own(&queue->loop, "a timeout queue", where);
	eddyi_assert_at(where, eddy_list_is_empty(&queue->timeouts),
			"a timeout queue ends while timeouts are pending");
	eddy_timer_disarm(&queue->timer);
}

EDDYI_WITHOUT_WHERE(timeout_queue_deinit, struct eddy_timeout_queue)

static void take_out(struct eddy_timeout *timeout, const char *where)
{
	if (!timeout->node.next)
		return;
	eddyi_own(&timeout->queue->loop, "a timeout", where);
	eddy_list_remove(&timeout->node);
}

void(eddy_timeout_arm)(struct eddy_timeout *timeout, struct eddy_timeout_queue *queue,
		       const char *where)
{
	eddyi_own_made(&queue->loop, &queue->timeouts, "a timeout", "eddy_timeout_queue_init",
		       where);
	take_out(timeout, where);
	timeout->since_ns = eddy_loop_now();
	timeout->queue = queue;
	eddy_list_append(&queue->timeouts, &timeout->node);
	if (!eddy_timer_is_armed(&queue->timer))
		eddy_timer_arm(&queue->timer, end_of(timeout));
}

void eddyi_timeout_disarm(struct eddy_timeout *timeout, const char *where)
{
	take_out(timeout, where);
}

EDDYI_WITHOUT_WHERE(timeout_disarm, struct eddy_timeout)

void(eddy_timeout_touch)(struct eddy_timeout *timeout, const char *where)
{
	if (timeout->node.next)
		(eddy_timeout_arm)(timeout, timeout->queue, where);
}
