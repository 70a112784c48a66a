/* memory_limit.h: the memory available to the process. */
#ifndef EDDYI_MEMORY_LIMIT_H
#define EDDYI_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* Get the memory of the machine or, if less, the lowest limit of the process's control groups
 * (versions 1 and 2) and their ancestors. `root` prefixes /proc and /sys; "" except in tests. */
uint64_t eddyi_memory_limit(const char *root);

/* Get the share of all connections, and of all bodies in memory: a quarter of the memory each. */
uint64_t eddyi_memory_share(uint64_t memory);

/* Count the busy connections, with or without TLS, that fit into their share; at least 1. */
uint64_t eddyi_memory_connections(uint64_t memory, bool tls);

#endif
