/* [runtime] of the configuration file: the loops that are made for the app, and the offload pool. */
#include "app/app.h"
#include "config.h"

#define QUEUE_MAX (1 << 20) /* each job is on the heap */

#define MEMBER(name) EDDY_CONFIG_AT(struct eddy_app, name)

static const struct eddy_config_key runtime_keys[] = {
	{ "stack_size", EDDY_CONFIG_INTEGER, MEMBER(options.stack_size), .min = EDDYI_STACK_MIN,
	  .max = EDDYI_STACK_MAX },
	{ "stall_ms", EDDY_CONFIG_MS, MEMBER(options.stall_ns) },
	{ "offload_threads", EDDY_CONFIG_INTEGER, MEMBER(offload.threads), .min = 1,
	  .max = EDDY_OFFLOAD_THREADS_MAX },
	{ "offload_queue_max", EDDY_CONFIG_INTEGER, MEMBER(offload.queue_max), .min = 1,
	  .max = QUEUE_MAX },
	{ 0 },
};

const struct eddy_config_section eddyi_config_runtime = {
	.name = "runtime",
	.keys = runtime_keys,
};
