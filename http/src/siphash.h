/* siphash.h: a hash that nobody can predict who does not know the secret. */
#ifndef EDDYI_SIPHASH_H
#define EDDYI_SIPHASH_H

#include <eddy/str.h>

/* SipHash-2-4 of the bytes (Aumasson and Bernstein, 2012). */
uint64_t eddyi_siphash(struct eddy_str bytes, const uint64_t secret[2]);

#endif
