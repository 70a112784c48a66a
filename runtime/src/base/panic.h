/* panic.h: ends the process on a programming error, also in release builds. */
#ifndef EDDYI_PANIC_H
#define EDDYI_PANIC_H

#include <eddy/base.h>

/* Print a message to stderr and abort. */
_Noreturn EDDY_PRINTF(3, 4) void eddyi_panic(const char *file, int line, const char *format, ...);

/* eddyi_panic() for a call at `where` (EDDY_HERE); NULL: through a pointer, or by EDDY_AUTO(). */
_Noreturn EDDY_PRINTF(2, 3) void eddyi_panic_at(const char *where, const char *format, ...);

/* Hooks, set once, to the same value from all threads. `under` returns the EDDY_CHAOS text of this
 * thread's loop, or NULL; `last` quickly writes buffered output before the process ends. */
extern const char *(*eddyi_panic_under)(void);
extern void (*eddyi_panic_last)(void);

#define eddyi_assert(condition, ...)                                                               \
	do {                                                                                       \
		if (__builtin_expect(!(condition), 0))                                             \
			eddyi_panic(__FILE__, __LINE__, __VA_ARGS__);                              \
	} while (0)

#endif
