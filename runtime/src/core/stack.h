/* stack.h: memory for stacks, each with a guard below it, carved from large mappings. */
#ifndef EDDYI_STACK_H
#define EDDYI_STACK_H

#include <eddy/base.h>

struct eddyi_slab;

struct eddyi_stacks {
	size_t size;             /* of a stack, without its guard */
	struct eddyi_slab *slab; /* the newest; older ones, all used up, follow it */
	size_t used;             /* stacks taken from the newest slab */
};

void eddyi_stacks_init(struct eddyi_stacks *stacks, size_t size);

/* Unmap everything. */
void eddyi_stacks_deinit(struct eddyi_stacks *stacks);

/* Take a new stack. It stays mapped until _deinit: tasks pool their stacks.
 * Return: its lowest byte; NULL when memory is out. */
void *eddyi_stacks_take(struct eddyi_stacks *stacks);

/* Whether `address` lies in the guard below one of the stacks; that stack is the one that
 * overflowed. Safe in a signal handler. */
bool eddyi_stacks_find_guard(const struct eddyi_stacks *stacks, const void *address,
			     void **ret_stack);

/* How many bytes below `high` the lowest page of [low, high) lies that has ever been touched since it was
 * mapped or given back: what was used of a stack, in pages. Asks the kernel. */
size_t eddyi_stack_used(const void *low, const void *high);

/* Give the pages of [low, high) back to the kernel; they read as zero afterwards. */
void eddyi_stack_give_back(void *low, void *high);

#endif
