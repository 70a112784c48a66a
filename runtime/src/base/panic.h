/* panic.h: a broken contract ends the process, in release builds too. */
#ifndef EDDYI_PANIC_H
#define EDDYI_PANIC_H

#include <eddy/base.h>

/* Say what is wrong on stderr and abort. */
_Noreturn EDDY_PRINTF(3, 4) void eddyi_panic(const char *file, int line, const char *format, ...);

/* The same, of a call that was made at `where` as EDDY_HERE has it; NULL: through a pointer, or by EDDY_AUTO(). */
_Noreturn EDDY_PRINTF(2, 3) void eddyi_panic_at(const char *where, const char *format, ...);

/* Set by those who have something to say of it, once, to the same from every thread. What the loop of this thread runs under,
 * as in EDDY_CHAOS, or NULL; and what is still to be written before the process is gone, if that takes no long time. */
extern const char *(*eddyi_panic_under)(void);
extern void (*eddyi_panic_last)(void);

#define eddyi_assert(condition, ...)                                                               \
	do {                                                                                       \
		if (__builtin_expect(!(condition), 0))                                             \
			eddyi_panic(__FILE__, __LINE__, __VA_ARGS__);                              \
	} while (0)

#endif
