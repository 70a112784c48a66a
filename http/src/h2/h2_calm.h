/* h2_calm.h: the work that a client causes for nothing: streams that it resets or that are refused,
 * pings, settings, priorities, empty frames. Beyond a limit its connection ends. */
#ifndef EDDYI_H2_CALM_H
#define EDDYI_H2_CALM_H

#include "h2.h"

#include <eddy/loop.h>

#define EDDYI_H2_CALM_MAX 100
#define EDDYI_H2_CALM_NS (10 * EDDY_SECOND)

/* Count a frame that led to nothing. */
static inline void eddyi_h2_calm_count(struct eddyi_h2 *h2)
{
	if (eddy_loop_now() - h2->idle_since_ns > EDDYI_H2_CALM_NS) {
		h2->idle_since_ns = eddy_loop_now();
		h2->idle_work = 0;
	}
	if (++h2->idle_work > EDDYI_H2_CALM_MAX)
		h2->verdict = NGHTTP2_ENHANCE_YOUR_CALM;
}

/* The client takes a part of a response. */
static inline void eddyi_h2_calm_forget(struct eddyi_h2 *h2)
{
	h2->idle_work = 0;
}

#endif
