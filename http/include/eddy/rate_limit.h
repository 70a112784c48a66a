/* eddy/rate_limit.h: nobody asks more often than he may.
 *
 *     eddy_app_use_rate_limit(app, &(struct eddy_rate_limit_options){ .count = 20, .burst = 50 });
 *
 * Each key has a bucket of `burst` requests that fills at `count` in each `per_ns`; who finds it empty is
 * answered 429 with a retry-after (RFC 6585 section 4). One bucket counts for all loops of the process.
 */
#ifndef EDDY_RATE_LIMIT_H
#define EDDY_RATE_LIMIT_H

#include <eddy/req.h>

EDDY_BEGIN_DECLS

/* Every field but the first: 0 or NULL means its default. The strings are borrowed for as long as the app
 * lives. */
struct eddy_rate_limit_options {
	uint32_t count;    /* requests */
	uint64_t per_ns;   /* in this time; default 1 s */
	uint32_t burst;    /* requests at once; default `count` */
	uint32_t keys_max; /* remembered at a time, in 16 bytes each; default 65,536, at most 2^28 */
	/* The field whose value is the key, such as "x-api-key", where a filter in front of this one has
	 * checked it: each new value has a full bucket. Where it is missing, and by default, the address
	 * is the key (eddy/peer.h): an IPv6 one by its first 64 bits, which one customer has. */
	const char *header;
	/* Make the key, instead; one that is empty is not limited. Must not suspend. */
	struct eddy_str (*key)(struct eddy_req *req);
};

/* Limit what passes. When more keys than `keys_max` are in use at once, those whose buckets are fullest
 * are forgotten first. Each call has buckets of its own. A count of 0, more than one request
 * in a ns, and a bucket that takes over a year to fill are mistakes that run reports. */
EDDY_API void eddy_app_use_rate_limit(struct eddy_app *app,
				      const struct eddy_rate_limit_options *options);
EDDY_API void eddy_group_use_rate_limit(struct eddy_group *group,
					const struct eddy_rate_limit_options *options);
EDDY_API void eddy_route_use_rate_limit(struct eddy_route *route,
					const struct eddy_rate_limit_options *options);

EDDY_END_DECLS

#endif
