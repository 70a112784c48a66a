/* debug.h: EDDY_DEBUG, which reports mistakes of programs. */
#ifndef EDDYI_DEBUG_H
#define EDDYI_DEBUG_H

#include <eddy/internal/debug.h>

/* Read the variable, once a process. */
void eddyi_debug_begin(void);

#endif
