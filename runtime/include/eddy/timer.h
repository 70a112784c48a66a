/* eddy/timer.h: call a function at a given time. Most code uses eddy_sleep() or a scope's timeout.
 *
 * A timer fires once at its own time. A timeout is one of many that share a duration, such as the
 * idle limit of ten thousand connections: arming and touching it cost a few stores. Both belong to
 * one loop. The caller owns their memory.
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

/* Call `timer->fire` at `at_ns`, on the loop's own stack. The timer must be idle. */
EDDY_API void eddy_timer_arm(struct eddy_timer *timer, uint64_t at_ns, const char *where);

/* Disarm the timer. Does nothing if it is idle. */
EDDY_API void eddy_timer_disarm(struct eddy_timer *timer);

/* Check whether the timer is armed. */
static inline bool eddy_timer_is_armed(const struct eddy_timer *timer)
{
	return timer->prev != NULL;
}

/* A queue of all timeouts with one duration. */
struct eddy_timeout_queue {
	uint64_t duration_ns;
	struct eddy_node timeouts; /* private: in the order in which they were armed or touched */
	struct eddy_timer timer;   /* private */
	unsigned loop;             /* private: the owning loop; 0 before the first use */
};

struct eddy_timeout {
	struct eddy_node node;            /* private; node.next is NULL when idle */
	uint64_t since_ns;                /* private */
	struct eddy_timeout_queue *queue; /* private */
	void (*expire)(struct eddy_timeout *timeout);
};

/* Make an empty queue, whose timeouts expire after `duration_ns`. */
EDDY_API void eddy_timeout_queue_init(struct eddy_timeout_queue *queue, uint64_t duration_ns);

/* End a queue of timeouts. None may be armed in it any more. */
EDDY_API void eddy_timeout_queue_deinit(struct eddy_timeout_queue *queue);

/* Call `timeout->expire` on the loop's own stack, when the queue's duration has passed without
 * eddy_timeout_touch(). A timeout that is armed moves from its queue to this one. */
EDDY_API void eddy_timeout_arm(struct eddy_timeout *timeout, struct eddy_timeout_queue *queue,
			       const char *where);

/* Disarm the timeout. Does nothing if it is idle. */
EDDY_API void eddy_timeout_disarm(struct eddy_timeout *timeout);

/* Restart the duration of an armed timeout, after progress. Does nothing if it is idle. */
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
