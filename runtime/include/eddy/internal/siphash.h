/* eddy/siphash.h: a keyed hash, which untrusted peers can't predict, for tables that they fill. */
#ifndef EDDY_SIPHASH_H
#define EDDY_SIPHASH_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

/* Compute SipHash-2-4 of `bytes` (Aumasson and Bernstein, 2012). Never suspends. */
EDDY_API uint64_t eddyi_siphash(struct eddy_str bytes, const uint64_t secret[2]);

EDDY_END_DECLS

#endif
