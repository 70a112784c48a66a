/* metric_cells.h: numbers that every thread counts for itself. */
#ifndef EDDYI_METRIC_CELLS_H
#define EDDYI_METRIC_CELLS_H

#include <stddef.h>
#include <stdint.h>

/* Have `count` numbers that begin with 0 and lie together. Return: 0, -ENOSPC, -ENOMEM. */
int eddyi_cells_reserve(size_t count, unsigned *ret_first);

/* Add to one of them. Any thread. */
void eddyi_cells_add(unsigned cell, uint64_t by);

/* What all threads have added to `count` of them that lie together. */
void eddyi_cells_sum(unsigned first, size_t count, uint64_t *ret_sums);

#endif
