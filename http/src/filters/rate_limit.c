#include "buckets.h"
#include "exchange/exchange_state.h"

#include <eddy/internal/outside.h>
#include <eddy/layer.h>
#include <eddy/loop.h>
#include <eddy/peer.h>
#include <eddy/rate_limit.h>
#include <stdio.h>
#include <stdlib.h>

#define YEAR_NS (365 * 86400 * EDDY_SECOND)
#define KEYS_MAX (1U << 28)

enum key_kind {
	KEY_ADDRESS,
	KEY_FIELD,
	KEY_OF_PROGRAM,
};

struct limit {
	struct eddy_rate_limit_options options;
	struct eddyi_buckets buckets;
};

/* Get the client's address: of IPv6 the first 64 bits, since clients may choose the rest. */
static struct eddy_str address_of(const struct eddy_req *req)
{
	const struct eddy_peer *peer = eddy_req_peer(req);

	if (peer->addr.addr.any.sa_family == AF_INET6)
		return eddy_str((const char *)&peer->addr.addr.in6.sin6_addr, 8);
	return peer->text;
}

/* Return: the time to wait in nanoseconds; 0: none. A field's value that looks like an address does
 * not count for that address. */
static uint64_t take(struct limit *limit, struct eddy_req *req)
{
	struct eddy_str key = { 0 };
	uint64_t now = eddy_now();

	if (limit->options.key) {
		key = limit->options.key(req);
		return key.len ? eddyi_buckets_take(&limit->buckets, KEY_OF_PROGRAM, key, now) : 0;
	}
	if (limit->options.header)
		key = eddy_req_header(req, limit->options.header);
	if (key.len)
		return eddyi_buckets_take(&limit->buckets, KEY_FIELD, key, now);
	return eddyi_buckets_take(&limit->buckets, KEY_ADDRESS, address_of(req), now);
}

static int slow_down(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	struct limit *limit = eddy_next_data(next);
	uint64_t wait = take(limit, req);
	char seconds[24];
	int r;

	if (!wait)
		return eddy_next(next, req, res);
	snprintf(seconds, sizeof(seconds), "%llu",
		 (unsigned long long)((wait + EDDY_SECOND - 1) / EDDY_SECOND));
	r = eddy_res_set_z(res, "retry-after", seconds);
	return r < 0 ? r : 429;
}

/* Get random bytes for a table; without them the app can't run. */
static void draw(struct eddy_app *app, uint64_t secret[2])
{
	if (eddyi_random(secret, 2 * sizeof(*secret), 0) < 0)
		eddy_app_mistake(app, "can't limit rates: the kernel returns no random numbers");
}

static void make_buckets(struct eddy_app *app, struct limit *limit)
{
	const struct eddy_rate_limit_options *options = &limit->options;
	size_t count = eddyi_buckets_count(options->keys_max);
	struct eddyi_bucket *memory = eddy_app_alloc(app, count * sizeof(*memory));
	pthread_mutex_t *locks = eddy_app_alloc(app, EDDYI_BUCKETS_LOCKS * sizeof(*locks));
	uint64_t secret[2] = { 0 };

	memset(memory, 0, count * sizeof(*memory));
	draw(app, secret);
	limit->buckets = (struct eddyi_buckets){
		.step_ns = options->per_ns / options->count,
		.depth_ns = options->per_ns / options->count * options->burst,
	};
	eddyi_buckets_init(&limit->buckets, locks, memory, options->keys_max, secret);
}

static bool is_possible(const struct eddy_rate_limit_options *options)
{
	return options->count && options->per_ns >= options->count &&
	       options->per_ns / options->count <= YEAR_NS / options->burst &&
	       options->keys_max <= KEYS_MAX;
}

void eddy_app_use_rate_limit(union eddy_target target,
			     const struct eddy_rate_limit_options *options)
{
	struct eddy_app *app = eddy_app_of(target);
	struct limit *limit = eddy_app_alloc(app, sizeof(*limit));

	*limit = (struct limit){ .options = options ? *options :
						      (struct eddy_rate_limit_options){ 0 } };
	limit->options.header = eddy_app_keep_string(app, limit->options.header);
	if (!limit->options.per_ns)
		limit->options.per_ns = EDDY_SECOND;
	if (!limit->options.burst)
		limit->options.burst = limit->options.count;
	if (!limit->options.keys_max)
		limit->options.keys_max = 65536;
	if (!is_possible(&limit->options)) {
		eddy_app_mistake(
			app,
			"invalid rate limit: %u requests (burst %u) in %llu ns, %u keys: expected "
			"at least 1 request, at most 1 request per ns, at most a year to fill the "
			"burst, and at most %u keys",
			limit->options.count, limit->options.burst,
			(unsigned long long)limit->options.per_ns, limit->options.keys_max,
			KEYS_MAX);
		return;
	}
	make_buckets(app, limit);
	eddy_app_add_filter(target, slow_down, limit);
}
