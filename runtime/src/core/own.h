/* own.h: checks that each primitive is used on one loop only, the first that used it.
 *
 * Public functions make this check first. A macro with the function's name passes the place of the
 * call as the last parameter, `where`. Definitions put the name in parentheses to avoid expanding
 * that macro.
 *
 * A function that ends an object and takes only a pointer to it is usable with EDDY_AUTO() and so
 * has no `where`. Its macro calls the twin eddyi_…, which has.
 */
#ifndef EDDYI_OWN_H
#define EDDYI_OWN_H

#include "loop.h"

/* The slow paths, if this thread's loop is not known to be `*owner`. */
void eddyi_own_slowly(unsigned *owner, const char *what, const char *where);
void eddyi_own_made_slowly(unsigned *owner, const struct eddy_node *list, const char *what,
			   const char *init, const char *where);

/* Panic: an object of all zero bytes is used. `init` is the function that makes one. */
_Noreturn void eddyi_own_not_made(const char *what, const char *init, const char *where);

/* Check that this thread's loop has the id `*owner`. An object without a loop (0), or whose loop
 * has ended, is taken over by this loop; without a running loop, as before eddy_run(), it stays
 * free. Panics if the object belongs to another loop. `what` names it, with an article. */
static inline void eddyi_own(unsigned *owner, const char *what, const char *where)
{
	const struct eddy_loop *loop = eddyi_this_loop;

	if (__builtin_expect(!loop || __atomic_load_n(owner, __ATOMIC_RELAXED) != loop->id, 0))
		eddyi_own_slowly(owner, what, where);
}

/* eddyi_own() for an object that has to be initialised: `list` in it is NULL before that. Objects
 * that this loop has used before are not checked again. */
static inline void eddyi_own_made(unsigned *owner, const struct eddy_node *list, const char *what,
				  const char *init, const char *where)
{
	const struct eddy_loop *loop = eddyi_this_loop;

	if (__builtin_expect(!loop || __atomic_load_n(owner, __ATOMIC_RELAXED) != loop->id, 0))
		eddyi_own_made_slowly(owner, list, what, init, where);
}

/* Define the public function eddy_…, without `where`, in terms of its twin. */
#define EDDYI_WITHOUT_WHERE(name, type)                                                            \
	void(eddy_##name)(type * it)                                                               \
	{                                                                                          \
		eddyi_##name(it, NULL);                                                            \
	}

#endif
