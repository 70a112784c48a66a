/* eddy/internal/panic.h: broken contracts; for eddy's own layers. */
#ifndef EDDY_INTERNAL_PANIC_H
#define EDDY_INTERNAL_PANIC_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* Call `fn` once if the process ends by a broken contract or a memory fault, after its message has
 * been written: to write what is still buffered. At most 16 functions; the same one counts once.
 * Any thread may call it. `fn` runs on the thread that failed, in whatever state that is,
 * `in_handler` of a signal or not: it tries locks instead of waiting for them, allocates nothing,
 * and returns within about 200 ms. */
EDDY_API void eddyi_at_panic(void (*fn)(bool in_handler));

/* Abort if there is no running task, in the name of the public function `function`. */
EDDY_API void eddyi_require_task(const char *function);

EDDY_END_DECLS

#endif
