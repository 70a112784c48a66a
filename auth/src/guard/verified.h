/* verified.h: a cache of valid tokens, one for each loop and app.
 *
 * Invariants:
 * 1. An entry is a token that was valid with keys of its version. It is found from the time it was
 *    added until its `exp`; outside of that (the clock was set back, or it expired) the token is
 *    verified again. Other requirements on claims do not change while an app runs.
 * 2. A token is stored in one set of WAYS entries, in place of the least recently used.
 * 3. Look-up uses a keyed hash of the end of the token, its signature, and then compares the whole
 *    token in constant time: timing reveals nothing about cached tokens.
 */
#ifndef EDDYI_VERIFIED_H
#define EDDYI_VERIFIED_H

#include <eddy/jwt.h>

struct eddyi_verified;

/* Get this loop's cache for the app with this unique number; it is created with `max` entries.
 * Return: NULL on allocation failure, or if the kernel has no random numbers yet. */
struct eddyi_verified *eddyi_verified_here(unsigned app, unsigned max);

/* Find a token by its text, and the version of the keys that verified it. `now_ns` is since 1970.
 * Never suspends. Return: a reference; NULL if it is not cached. */
struct eddy_jwt *eddyi_verified_find(struct eddyi_verified *verified, struct eddy_str text,
				     uint64_t now_ns, unsigned *ret_version);

/* Add a token that is valid now, replacing an entry with the same text. */
void eddyi_verified_put(struct eddyi_verified *verified, struct eddy_jwt *token, uint64_t now_ns,
			unsigned version);

#endif
