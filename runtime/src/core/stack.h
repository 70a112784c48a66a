/* stack.h: memory for stacks, carved from large mappings, with a guard below each. */
#ifndef EDDYI_STACK_H
#define EDDYI_STACK_H

#include <eddy/base.h>

struct eddyi_slab;

struct eddyi_stacks {
	size_t size;             /* of a stack, without its guard */
	struct eddyi_slab *slab; /* the newest; links to older ones, which are used up */
	size_t used;             /* stacks taken from the newest slab */
	void **spare;            /* unused stacks, without memory */
	size_t spare_count, spare_max;
};

void eddyi_stacks_init(struct eddyi_stacks *stacks, size_t size);

void eddyi_stacks_deinit(struct eddyi_stacks *stacks);

/* Take a stack, whose bytes are zero. It stays mapped until _deinit.
 * Return: its lowest byte; NULL on allocation failure. */
void *eddyi_stacks_take(struct eddyi_stacks *stacks);

/* Return the memory of an unused stack to the kernel, and keep the stack for _take().
 * Return: false on allocation failure, and nothing has changed. */
bool eddyi_stacks_put(struct eddyi_stacks *stacks, void *low);

/* Whether `address` is in the guard below a stack, `ret_stack`. Safe in a signal handler. */
bool eddyi_stacks_find_guard(const struct eddyi_stacks *stacks, const void *address,
			     void **ret_stack);

/* Measure how much of the stack [low, high) has been used since it was mapped or given back: the
 * bytes from the lowest touched page to `high`. Asks the kernel. */
size_t eddyi_stack_used(const void *low, const void *high);

/* Return the pages of [low, high) to the kernel. They read as zero afterwards. */
void eddyi_stack_give_back(void *low, void *high);

#endif
