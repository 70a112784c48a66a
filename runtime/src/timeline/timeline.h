/* timeline.h: the process's timeline, as a guest of each loop. */
#ifndef EDDYI_TIMELINE_H
#define EDDYI_TIMELINE_H

#include "tapes.h"

struct eddy_loop;

/* A loop begins. The first one of the process starts a timeline if the environment requests it. */
void eddyi_timeline_begin(struct eddy_loop *loop);

/* The loop ends. Blocks until its marks are written, for a second at most. */
void eddyi_timeline_end(struct eddy_loop *loop);

/* Start or stop recording as the current slice requires. */
void eddyi_timeline_look(struct eddy_loop *loop);

/* Once a turn, after entering the kernel. */
static inline void eddyi_timeline_turn(struct eddy_loop *loop)
{
	if (eddyi_timeline_has_begun())
		eddyi_timeline_look(loop);
}

#endif
