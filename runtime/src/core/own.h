/* own.h: each primitive belongs to one loop, the first that uses it.
 *
 * Public functions check it by their own first statement; their last parameter `where` is the place of
 * the call, which a macro of the function's name fills in. Definitions have their names in parentheses, so
 * that they are none of that macro's calls.
 *
 * A function that ends something and takes only a pointer to it is for EDDY_AUTO() as well, so it has no `where`.
 * The macro of its name calls its twin eddyi_…, which has.
 */
#ifndef EDDYI_OWN_H
#define EDDYI_OWN_H

#include "loop.h"

/* What eddyi_own() does where the loop of this thread is not known to be `*owner`. */
void eddyi_own_slowly(unsigned *owner, const char *what, const char *where);

/* Make sure that this thread's loop is the one with the number `*owner`. A thing that has no loop yet
 * (0), or whose loop has ended, belongs to this one from now on; without a loop, as before
 * eddy_run(), to none. Panics when it belongs to another one. `what` it is, with its article. */
static inline void eddyi_own(unsigned *owner, const char *what, const char *where)
{
	const struct eddy_loop *loop = eddyi_this_loop;

	if (__builtin_expect(!loop || __atomic_load_n(owner, __ATOMIC_RELAXED) != loop->id, 0))
		eddyi_own_slowly(owner, what, where);
}

/* Define the public function eddy_…, which knows no place, by its twin. */
#define EDDYI_WITHOUT_WHERE(name, type)                                                            \
	void(eddy_##name)(type * it)                                                               \
	{                                                                                          \
		eddyi_##name(it, NULL);                                                            \
	}

#endif
