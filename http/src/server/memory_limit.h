/* memory_limit.h: how much memory there is for the process. */
#ifndef EDDYI_MEMORY_LIMIT_H
#define EDDYI_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* Of the machine, or what its control groups leave to the process where that is less: of version 2 and 1, those above
 * its own among them. `root` is in front of /proc and /sys, "" but in tests. */
uint64_t eddyi_memory_limit(const char *root);

/* The share of the memory for all connections, and for all bodies in memory: a quarter each. */
uint64_t eddyi_memory_share(uint64_t memory);

/* The connections that have room in their share, busy ones, with TLS or without; at least one. */
uint64_t eddyi_memory_connections(uint64_t memory, bool tls);

#endif
