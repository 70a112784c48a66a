/* metric_cells.h: counters without locks: each thread has its own cells. */
#ifndef EDDYI_METRIC_CELLS_H
#define EDDYI_METRIC_CELLS_H

#include <stddef.h>
#include <stdint.h>

/* Reserve `count` adjacent cells, which are 0. Return: 0, -ENOSPC, -ENOMEM. */
int eddyi_cells_reserve(size_t count, unsigned *ret_first);

/* Add to a cell. Any thread may call it. */
void eddyi_cells_add(unsigned cell, uint64_t by);

/* Sum `count` adjacent cells over all threads. */
void eddyi_cells_sum(unsigned first, size_t count, uint64_t *ret_sums);

#endif
