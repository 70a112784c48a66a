/* panic.h: ends the process on a programming error, also in release builds. */
#ifndef EDDYI_PANIC_H
#define EDDYI_PANIC_H

#include <eddy/base.h>

/* Print a message to stderr and abort. `where` is the place of the call (EDDY_HERE). NULL: the call was
 * made through a pointer or by EDDY_AUTO(), or has no `where`; a second line tells its place by the
 * stack. `function` checks the contract, and is named instead of `where` if it is public; NULL: none. */
_Noreturn EDDY_PRINTF(3, 4) void eddyi_panic_of(const char *where, const char *function,
						const char *format, ...);
#define eddyi_panic_at(where, ...) eddyi_panic_of(where, NULL, __VA_ARGS__)

/* Call the functions of eddyi_at_panic(), once a process. */
void eddyi_panic_last(bool in_handler);

/* Hooks, set once, to the same value from all threads. `under` returns the EDDY_CHAOS text of this
 * thread's loop, `label` what its running task works on; both return NULL for none. */
extern const char *(*eddyi_panic_under)(void);
extern const char *(*eddyi_panic_label)(void);

/* Check the contract of a call without `where`, and of one with it. */
#define eddyi_assert(condition, ...)                                                               \
	do {                                                                                       \
		if (__builtin_expect(!(condition), 0))                                             \
			eddyi_panic_of(NULL, __func__, __VA_ARGS__);                               \
	} while (0)
#define eddyi_assert_at(where, condition, ...)                                                     \
	do {                                                                                       \
		if (__builtin_expect(!(condition), 0))                                             \
			eddyi_panic_at(where, __VA_ARGS__);                                        \
	} while (0)

/* Panic because of a bug in eddy or the kernel: names this line. */
#define eddyi_panic(...) eddyi_panic_at(EDDY_HERE, __VA_ARGS__)

#endif
