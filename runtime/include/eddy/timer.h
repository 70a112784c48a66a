/* eddy/timer.h: completion functions at a time. Most code wants eddy_sleep() or a scope's timeout.
 *
 * A timer fires once at its own time. A timeout is one of many that share one duration, such as
 * the idle limit of ten thousand connections: arming and touching it cost a few stores.
 * All of it belongs to one loop's thread, and the memory to the caller.
 */
#ifndef EDDY_TIMER_H
#define EDDY_TIMER_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_timer {
	uint64_t at_ns; /* monotonic; read-only while armed */
	void (*fire)(struct eddy_timer *timer);
	struct eddy_timer *child, *next, *prev; /* private: a pairing heap; prev: NULL when idle */
	unsigned loop;                          /* private: on which it is armed */
};

/* Call `timer->fire` on the loop's stack at `at_ns`. The timer must be idle. */
EDDY_API void eddy_timer_arm(struct eddy_timer *timer, uint64_t at_ns, const char *where);

/* Make the timer idle, whether it was armed or not. */
EDDY_API void eddy_timer_disarm(struct eddy_timer *timer);

/* Whether the timer is going to fire. */
static inline bool eddy_timer_is_armed(const struct eddy_timer *timer)
{
	return timer->prev != NULL;
}

/* All timeouts of one duration. */
struct eddy_timeout_queue {
	uint64_t duration_ns;
	struct eddy_node timeouts; /* private: in the order in which they were queued */
	struct eddy_timer timer;   /* private */
	unsigned loop;             /* private: the loop that it belongs to; 0: none yet */
};

struct eddy_timeout {
	struct eddy_node node;            /* private; node.next is NULL when idle */
	uint64_t since_ns;                /* private */
	struct eddy_timeout_queue *queue; /* private */
	void (*expire)(struct eddy_timeout *timeout);
};

/* Make a queue without timeouts; `duration_ns` is the time that each of them has. */
EDDY_API void eddy_timeout_queue_init(struct eddy_timeout_queue *queue, uint64_t duration_ns);

/* End the queue. No timeout is armed in it any more. */
EDDY_API void eddy_timeout_queue_deinit(struct eddy_timeout_queue *queue);

/* Call `timeout->expire` on the loop's stack when the queue's duration has passed without a touch.
 * An armed timeout moves over from the queue it was in. */
EDDY_API void eddy_timeout_arm(struct eddy_timeout *timeout, struct eddy_timeout_queue *queue,
			       const char *where);

/* Make the timeout idle, whether it was armed or not. */
EDDY_API void eddy_timeout_disarm(struct eddy_timeout *timeout);

/* Start the duration again: there was progress. An idle timeout stays idle. */
EDDY_API void eddy_timeout_touch(struct eddy_timeout *timeout, const char *where);

/* `where` is filled in: see eddy/base.h. */
EDDY_API void eddyi_timer_disarm(struct eddy_timer *timer, const char *where);
EDDY_API void eddyi_timeout_queue_deinit(struct eddy_timeout_queue *queue, const char *where);
EDDY_API void eddyi_timeout_disarm(struct eddy_timeout *timeout, const char *where);
#define eddy_timer_arm(...) eddy_timer_arm(__VA_ARGS__, EDDY_HERE)
#define eddy_timer_disarm(...) eddyi_timer_disarm(__VA_ARGS__, EDDY_HERE)
#define eddy_timeout_queue_deinit(...) eddyi_timeout_queue_deinit(__VA_ARGS__, EDDY_HERE)
#define eddy_timeout_arm(...) eddy_timeout_arm(__VA_ARGS__, EDDY_HERE)
#define eddy_timeout_disarm(...) eddyi_timeout_disarm(__VA_ARGS__, EDDY_HERE)
#define eddy_timeout_touch(...) eddy_timeout_touch(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
