/* eddy/base.h: the few words that every eddy header shares.
 *
 * Conventions of the whole library:
 *   - an int result is 0 or -errno; a ssize_t is a count or -errno; `errno` itself is never set,
 *   - time is uint64_t nanoseconds (`5 * EDDY_SECOND`), sizes are bytes (`16 * EDDY_KIB`),
 *   - options are a pointer to a const struct in which zero is the default; NULL is all defaults,
 *   - a function that lets other tasks run before it returns says so, by a sentence that begins with "Suspends"
 *     or "May suspend"; all others never do. Only tasks call what suspends, unless it says otherwise,
 *   - a channel, a scope, an op, a timer: each belongs to one loop, the first that uses it, until that loop ends.
 *     Another loop, or a thread without one, must not use it. Functions that any thread may call say so,
 *   - `where`, the last parameter of some functions, is the place of the call, for messages. A macro of the
 *     function's name fills it in, so calls leave it out. A call through a pointer passes NULL,
 *   - a function that ends something and takes only a pointer to it has no such parameter: EDDY_AUTO() and pointers
 *     take it as it is, and messages then name no place,
 *   - a broken contract (a programmer's mistake) ends the process with file and line, also in
 *     release builds; bad input is an error that is returned.
 */
#ifndef EDDY_BASE_H
#define EDDY_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
/* For eddy/io.h and eddy/signal.h: under -std=c11 <signal.h> leaves these two out, whatever is included first. Only files of
 * glibc's own have them then, which are no interface of glibc's: a newer one may have to be asked elsewhere. */
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

/* Of declarations: part of the library's interface; takes a format and arguments as printf(3) does. */
#define EDDY_API __attribute__((visibility("default")))
#define EDDY_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))

/* This place in the source, as a string: "file.c:12". */
#define EDDY_HERE EDDYI_HERE(__FILE__, __LINE__)
#define EDDYI_HERE(file, line) EDDYI_HERE_(file, line)
#define EDDYI_HERE_(file, line) file ":" #line

/* Run `fn(&variable)` when the variable leaves its scope: `EDDY_AUTO(eddy_chan_deinit) struct eddy_chan chan`. */
#define EDDY_AUTO(fn) __attribute__((cleanup(fn)))

/* A place in a doubly linked list; part of structures that their user allocates. */
struct eddy_node {
	struct eddy_node *next;
	struct eddy_node *prev;
};

/* A list of strings for options, with a NULL behind the last; it lives as long as the block. C alone has it. */
#define EDDY_LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

#define EDDY_US UINT64_C(1000)
#define EDDY_MS UINT64_C(1000000)
#define EDDY_SECOND UINT64_C(1000000000)
#define EDDY_NEVER UINT64_MAX

#define EDDY_KIB ((uint64_t)1 << 10)
#define EDDY_MIB ((uint64_t)1 << 20)
#define EDDY_GIB ((uint64_t)1 << 30)

#endif
