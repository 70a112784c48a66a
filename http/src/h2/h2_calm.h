/* h2_calm.h: the work that a client causes for nothing. Beyond a limit its connection ends. */
#ifndef EDDYI_H2_CALM_H
#define EDDYI_H2_CALM_H

#include "h2.h"

#include <eddy/loop.h>

/* Within EDDYI_H2_CALM_NS: streams that are reset or refused, pings, settings, priorities, empty
 * frames. One is allowed for each frame of DATA. */
#define EDDYI_H2_CALM_MAX 100
#define EDDYI_H2_CALM_NS (10 * EDDY_SECOND)
/* WINDOW_UPDATE and PRIORITY_UPDATE frames, and more of them for each frame of DATA. */
#define EDDYI_H2_UPDATES_MAX 1000
#define EDDYI_H2_UPDATES_PER_DATA 4
/* A larger frame of DATA counts as several of this size. */
#define EDDYI_H2_UPDATES_DATA (16 * EDDY_KIB)
/* Smaller frames of DATA count only if they have all that there is. */
#define EDDYI_H2_DATA_MIN 256

static inline void eddyi_h2_calm_count(struct eddyi_h2 *h2)
{
	if (eddy_loop_now() - h2->idle_since_ns > EDDYI_H2_CALM_NS) {
		h2->idle_since_ns = eddy_loop_now();
		h2->idle_work = 0;
	}
	if (++h2->idle_work > EDDYI_H2_CALM_MAX)
		h2->verdict = NGHTTP2_ENHANCE_YOUR_CALM;
}

/* Count a frame that opens a window, or changes a priority. */
static inline void eddyi_h2_calm_count_update(struct eddyi_h2 *h2)
{
	if (h2->updates++ > EDDYI_H2_UPDATES_MAX)
		h2->verdict = NGHTTP2_ENHANCE_YOUR_CALM;
}

/* Give credit for a frame of DATA, or for a response without a body. */
static inline void eddyi_h2_calm_forget(struct eddyi_h2 *h2, size_t len)
{
	h2->idle_work -= h2->idle_work > 0;
	h2->updates -= EDDYI_H2_UPDATES_PER_DATA * (int64_t)(1 + len / EDDYI_H2_UPDATES_DATA);
}

#endif
