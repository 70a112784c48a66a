/* verified.h: tokens that were found good, by their SHA-256: those of one loop, for one app.
 *
 * Invariants:
 * 1. An entry stands for a token whose signature was good by the keys of its version. Claims are looked at each
 *    time: a token that is found may have expired.
 * 2. A set of WAYS entries holds what falls to it; the one that was not asked for longest makes room.
 */
#ifndef EDDYI_VERIFIED_H
#define EDDYI_VERIFIED_H

#include <eddy/jwt.h>

#define EDDYI_DIGEST_SIZE 32

struct eddyi_verified;

/* Compute what a token is found by. Never suspends. */
void eddyi_verified_digest(struct eddy_str token, unsigned char ret_digest[EDDYI_DIGEST_SIZE]);

/* Those of this loop for the app that has this number, which no other app ever had; `max` entries, once they
 * are made. Return: NULL when memory is out. */
struct eddyi_verified *eddyi_verified_here(unsigned app, unsigned max);

/* Find one, and the version of the keys that it was verified by. Return: a reference; NULL when there is none. */
struct eddy_jwt *eddyi_verified_find(struct eddyi_verified *verified,
				     const unsigned char digest[EDDYI_DIGEST_SIZE],
				     unsigned *ret_version);

/* Keep one, in place of what has its digest. */
void eddyi_verified_put(struct eddyi_verified *verified,
			const unsigned char digest[EDDYI_DIGEST_SIZE], unsigned version,
			struct eddy_jwt *token);

#endif
