/* timeline.h: the process's timeline. */
#ifndef EDDYI_TIMELINE_H
#define EDDYI_TIMELINE_H

/* Start a timeline if the environment requests it, once per process. */
void eddyi_timeline_begin(void);

#endif
