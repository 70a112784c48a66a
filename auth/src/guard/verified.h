/* verified.h: tokens that were found good: those of one loop, for one app.
 *
 * Invariants:
 * 1. An entry stands for a token that was good by the keys of its version, between the time that it was put and its
 *    `exp`. What is asked for before that (the clock was set back) or behind it is not found: then all is looked
 *    at anew. What else its claims must be does not change while an app lives.
 * 2. A set of WAYS entries holds what falls to it; the one that was not asked for longest makes room.
 * 3. A token is found by a keyed hash of its end, which is its signature, and then compared as a whole, in a time
 *    that does not depend on where it differs: nobody learns of a token that he does not have.
 */
#ifndef EDDYI_VERIFIED_H
#define EDDYI_VERIFIED_H

#include <eddy/jwt.h>

struct eddyi_verified;

/* Those of this loop for the app that has this number, which no other app ever had; `max` entries, once they
 * are made. Return: NULL when memory is out, or the kernel has no random numbers yet. */
struct eddyi_verified *eddyi_verified_here(unsigned app, unsigned max);

/* Find the one of this text, and the version of the keys that it was verified by. `now_ns` is since 1970. Never
 * suspends. Return: a reference; NULL when there is none. */
struct eddy_jwt *eddyi_verified_find(struct eddyi_verified *verified, struct eddy_str text,
				     uint64_t now_ns, unsigned *ret_version);

/* Keep one that is good now, in place of what has its text. */
void eddyi_verified_put(struct eddyi_verified *verified, struct eddy_jwt *token, uint64_t now_ns,
			unsigned version);

#endif
