/* timeline.h: the one timeline of the process. */
#ifndef EDDYI_TIMELINE_H
#define EDDYI_TIMELINE_H

/* Start as the environment asks for it, once in the life of the process. */
void eddyi_timeline_begin(void);

#endif
