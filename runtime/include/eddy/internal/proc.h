/* eddy/internal/proc.h: what the kernel shows below /proc; for eddy's own layers. */
#ifndef EDDY_INTERNAL_PROC_H
#define EDDY_INTERNAL_PROC_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* Read the beginning of the file of that path as a string; "" on failure. Return: its length,
 * -errno. */
EDDY_API EDDY_PRINTF(3, 4) ssize_t
	eddyi_proc_read(char *text, size_t size, const char *format, ...);

EDDY_END_DECLS

#endif
