/* eddy/base.h: the definitions that every eddy header shares.
 *
 * Conventions of the whole library (terms: docs/guide/README.md):
 *    - An int result is 0 or -errno, an ssize_t is a count or -errno. `errno` itself is never set.
 *    - Time is uint64_t nanoseconds (`5 * EDDY_SECOND`), sizes are bytes (`16 * EDDY_KIB`).
 *    - Options are pointers to const structs. A zero field has its default; NULL: all defaults.
 *    - A function that lets other tasks run before it returns says so, in a sentence that begins
 *      with "Suspends" or "May suspend". All others never suspend. Calling one that suspends
 *      outside of a task is a programming error, unless its comment says otherwise.
 *    - A loop is a thread with one io_uring (the ring); an op is one io_uring operation. A channel,
 *      scope, op or timer belongs to the first loop that uses it; no other thread may use it until
 *      that loop has ended. Functions that any thread may call say so.
 *    - `where`, the last parameter of some functions, is the source line of the call, for dumps and
 *      error messages. A macro of the same name adds it. A call through a pointer passes NULL.
 *    - A function that ends an object has no `where`, so that EDDY_AUTO() and function pointers can
 *      use it.
 *    - Functions that end an object (…_deinit, …_close, …_end) do nothing for one of all zero bytes,
 *      and …_free() does nothing for NULL. Any other use of an object of all zero bytes is a
 *      programming error, unless the function's comment says otherwise.
 *    - A programming error aborts with file and line, or with the name of the function, also in
 *      release builds. Bad input does not.
 */
#ifndef EDDY_BASE_H
#define EDDY_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
/* eddy/io.h and eddy/signal.h need these two types, which <signal.h> omits under -std=c11. glibc
 * then defines them only in internal headers, whose names may change. */
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

/* Attributes of declarations: EDDY_API exports a function from the library, EDDY_PRINTF() checks a
 * format and its arguments as for printf(3), EDDY_CHECKED warns if a result is ignored. */
#define EDDY_API __attribute__((visibility("default")))
#define EDDY_CHECKED __attribute__((warn_unused_result))
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

/* Make a NULL-terminated array of strings, for fields of options. It lives as long as the enclosing
 * block. Not available in C++. */
#define EDDY_LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Times in nanoseconds. In options that name it, EDDY_NEVER means no limit; 0 is the default. */
#define EDDY_US UINT64_C(1000)
#define EDDY_MS UINT64_C(1000000)
#define EDDY_SECOND UINT64_C(1000000000)
#define EDDY_NEVER UINT64_MAX

#define EDDY_KIB ((uint64_t)1 << 10)
#define EDDY_MIB ((uint64_t)1 << 20)
#define EDDY_GIB ((uint64_t)1 << 30)

#endif
