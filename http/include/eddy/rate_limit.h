/* eddy/rate_limit.h: a rate limit filter (middleware): requests beyond it get 429.
 *
 *     eddy_app_use_rate_limit(app, &(struct eddy_rate_limit_options){ .count = 20, .burst = 50 });
 *
 * A token bucket for each key holds `burst` requests and refills at `count` in each `per_ns`. If it
 * is empty, the response is 429 with retry-after (RFC 6585 section 4). All loops of the process
 * share the buckets.
 */
#ifndef EDDY_RATE_LIMIT_H
#define EDDY_RATE_LIMIT_H

#include <eddy/req.h>

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

/* A rate and its keys. A zero field other than `count` takes its default. Copied. */
struct eddy_rate_limit_options {
	uint32_t count;    /* requests */
	uint64_t per_ns;   /* in this time; default 1 s */
	uint32_t burst;    /* requests at once; default `count` */
	uint32_t keys_max; /* keys kept, of 16 bytes each; default 65,536, at most 2^28 */
	/* The field whose value is the key, such as "x-api-key". An earlier filter must have
	 * validated it, since each new value gets a full bucket. Default, and if the field is
	 * missing: the client's address (eddy/peer.h), of IPv6 its first 64 bits. */
	const char *header;
	/* Make the key instead; requests with an empty key are not limited. Must not suspend. */
	struct eddy_str (*key)(struct eddy_req *req);
};

/* Limit the rate of requests. Each call has buckets of its own. Beyond `keys_max` keys, those with
 * the fullest buckets are forgotten first. eddy_app_run() reports a count of 0, more than one
 * request in a ns, and a bucket that takes over a year to fill. */
EDDY_API void eddy_app_use_rate_limit(union eddy_target target,
				      const struct eddy_rate_limit_options *options);

EDDY_END_DECLS

#endif
