/* panic.h: ends the process on a programming error, also in release builds. */
#ifndef EDDYI_PANIC_H
#define EDDYI_PANIC_H

#include <eddy/base.h>

/* Print a message to stderr and abort. `where` is the place of the call (EDDY_HERE). NULL: the call was
 * made through a pointer or by EDDY_AUTO(); its place is taken from the stack. */
_Noreturn EDDY_PRINTF(2, 3) void eddyi_panic_at(const char *where, const char *format, ...);

/* eddyi_panic_at() for calls without `where`: the public function and its caller are taken from the
 * stack. If that fails, `function` is named, which checks the contract; "" for none. */
_Noreturn EDDY_PRINTF(2, 3) void eddyi_panic_in(const char *function, const char *format, ...);

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
			eddyi_panic_in(__func__, __VA_ARGS__);                                     \
	} while (0)
#define eddyi_assert_at(where, condition, ...)                                                     \
	do {                                                                                       \
		if (__builtin_expect(!(condition), 0))                                             \
			eddyi_panic_at(where, __VA_ARGS__);                                        \
	} while (0)

/* Panic because of a bug in eddy or the kernel: names this line. */
#define eddyi_panic(...) eddyi_panic_at(EDDY_HERE, __VA_ARGS__)

#endif
