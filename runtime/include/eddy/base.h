/* eddy/base.h: the definitions that every eddy header shares.
 *
 * Conventions of the whole library:
 *    - An int result is 0 or -errno, an ssize_t is a count or -errno. `errno` itself is never set.
 *    - Time is uint64_t nanoseconds (`5 * EDDY_SECOND`), sizes are bytes (`16 * EDDY_KIB`).
 *    - Options are a pointer to a const struct. A zero field takes its default, NULL all of them.
 *    - A function that lets other tasks run before it returns says so, in a sentence that begins
 *      with "Suspends" or "May suspend". All others never suspend. Unless it says otherwise, only
 *      tasks may call a function that suspends.
 *    - A channel, scope, op or timer belongs to the first loop that uses it, until that loop ends.
 *      No other loop or thread may use it. Functions that any thread may call say so.
 *    - `where`, the last parameter of some functions, is the place of the call, for messages. A
 *      macro of the function's name fills it in. A call through a pointer passes NULL.
 *    - A function that ends an object, and takes only a pointer to it, has no `where`, so that
 *      EDDY_AUTO() and function pointers can use it. Messages then name no place.
 *    - A programming error aborts with file and line, in release builds as well. Bad input is an
 *      error that is returned.
 */
#ifndef EDDY_BASE_H
#define EDDY_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
/* eddy/io.h and eddy/signal.h need these two types, which <signal.h> omits under -std=c11. Only
 * internal headers of glibc define them then; other versions may need other headers. */
#if defined(__STRICT_ANSI__) && defined(__GLIBC__)
#include <bits/types/sigset_t.h>
#include <bits/types/siginfo_t.h>
#endif

#ifdef __cplusplus
#define EDDY_BEGIN_DECLS extern "C" {
#define EDDY_END_DECLS }
#else
#define EDDY_BEGIN_DECLS
#define EDDY_END_DECLS
#endif

/* Attributes of declarations: EDDY_API exports from the library, EDDY_PRINTF() checks a format and
 * its arguments as for printf(3). */
#define EDDY_API __attribute__((visibility("default")))
#define EDDY_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))

/* Expand to this place in the source, a string such as "file.c:12". */
#define EDDY_HERE EDDYI_HERE(__FILE__, __LINE__)
#define EDDYI_HERE(file, line) EDDYI_HERE_(file, line)
#define EDDYI_HERE_(file, line) file ":" #line

/* Call `fn(&variable)` when the variable goes out of scope: `EDDY_AUTO(eddy_chan_deinit) struct
 * eddy_chan chan`. */
#define EDDY_AUTO(fn) __attribute__((cleanup(fn)))

/* A node of a doubly linked list, embedded in structures that the caller allocates. */
struct eddy_node {
	struct eddy_node *next;
	struct eddy_node *prev;
};

/* Make a list of strings for options, ending with NULL. It lives as long as the enclosing block.
 * Not available in C++. */
#define EDDY_LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

#define EDDY_US UINT64_C(1000)
#define EDDY_MS UINT64_C(1000000)
#define EDDY_SECOND UINT64_C(1000000000)
#define EDDY_NEVER UINT64_MAX

#define EDDY_KIB ((uint64_t)1 << 10)
#define EDDY_MIB ((uint64_t)1 << 20)
#define EDDY_GIB ((uint64_t)1 << 30)

#endif
