/* Guards are installed by MADV_GUARD_INSTALL if the kernel has it (6.13). It does not split
 * mappings, so a million stacks need a handful of mappings. Older kernels use mprotect, which costs
 * two mappings for each stack; allocation fails at vm.max_map_count, about 32,000 stacks.
 */
#include "stack.h"

#include "base/panic.h"

#include <eddy/internal/outside.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* libwolfssl and others have frames of up to 38 KB without stack probes. */
#define GUARD_SIZE (64 * EDDY_KIB)
#define SLAB_SIZE (64 * EDDY_MIB)

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

struct eddyi_slab {
	struct eddyi_slab *older;
	char *memory;
	size_t size;
};

void eddyi_stacks_init(struct eddyi_stacks *stacks, size_t size)
{
	size_t page = (size_t)eddyi_sysconf_now(_SC_PAGESIZE);

	*stacks = (struct eddyi_stacks){ .size = (size + page - 1) & ~(page - 1) };
}

void eddyi_stacks_deinit(struct eddyi_stacks *stacks)
{
	while (stacks->slab) {
		struct eddyi_slab *slab = stacks->slab;

		stacks->slab = slab->older;
		munmap(slab->memory, slab->size);
		free(slab);
	}
	stacks->used = 0;
	free(stacks->spare);
	stacks->spare = NULL;
	stacks->spare_count = stacks->spare_max = 0;
}

static size_t stride(const struct eddyi_stacks *stacks)
{
	return GUARD_SIZE + stacks->size;
}

static struct eddyi_slab *slab_new(size_t stride)
{
	struct eddyi_slab *slab = malloc(sizeof(*slab));

	if (!slab)
		return NULL;
	slab->older = NULL;
	slab->size = SLAB_SIZE < stride ? stride : SLAB_SIZE / stride * stride;
	slab->memory = mmap(NULL, slab->size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (slab->memory == MAP_FAILED) {
		free(slab);
		return NULL;
	}
	/* Both are optional: a kernel without huge pages or without names returns EINVAL. */
	madvise(slab->memory, slab->size, MADV_NOHUGEPAGE);
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, slab->memory, slab->size, "eddy stacks");
	return slab;
}

static int guard(char *memory)
{
	if (madvise(memory, GUARD_SIZE, MADV_GUARD_INSTALL) == 0)
		return 0;
	if (errno != EINVAL)
		return -errno;
	return mprotect(memory, GUARD_SIZE, PROT_NONE) ? -errno : 0;
}

void *eddyi_stacks_take(struct eddyi_stacks *stacks)
{
	char *memory;

	if (stacks->spare_count)
		return stacks->spare[--stacks->spare_count];
	if (!stacks->slab || (stacks->used + 1) * stride(stacks) > stacks->slab->size) {
		struct eddyi_slab *slab = slab_new(stride(stacks));

		if (!slab)
			return NULL;
		slab->older = stacks->slab;
		stacks->slab = slab;
		stacks->used = 0;
	}
	memory = stacks->slab->memory + stacks->used * stride(stacks);
	if (guard(memory) < 0)
		return NULL;
	stacks->used++;
	return memory + GUARD_SIZE;
}

bool eddyi_stacks_put(struct eddyi_stacks *stacks, void *low)
{
	if (stacks->spare_count == stacks->spare_max) {
		size_t max = stacks->spare_max ? 2 * stacks->spare_max : 64;
		void **spare = reallocarray(stacks->spare, max, sizeof(*spare));

		if (!spare)
			return false;
		stacks->spare = spare;
		stacks->spare_max = max;
	}
	eddyi_stack_give_back(low, (char *)low + stacks->size);
	stacks->spare[stacks->spare_count++] = low;
	return true;
}

bool eddyi_stacks_find_guard(const struct eddyi_stacks *stacks, const void *address,
			     void **ret_stack)
{
	for (const struct eddyi_slab *slab = stacks->slab; slab; slab = slab->older) {
		size_t offset = (size_t)((const char *)address - slab->memory);

		if ((const char *)address < slab->memory || offset >= slab->size)
			continue;
		if (offset % stride(stacks) >= GUARD_SIZE)
			return false;
		*ret_stack = slab->memory + offset / stride(stacks) * stride(stacks) + GUARD_SIZE;
		return true;
	}
	return false;
}

size_t eddyi_stack_used(const void *low, const void *high)
{
	size_t page = (size_t)eddyi_sysconf_now(_SC_PAGESIZE);
	unsigned char resident[256];
	char *at = (char *)low;

	while (at < (const char *)high) {
		size_t left = (size_t)((const char *)high - at), len = sizeof(resident) * page;

		if (len > left)
			len = left;
		if (eddyi_mincore_now(at, len, resident) < 0)
			return 0;
		for (size_t i = 0; i < (len + page - 1) / page; i++)
			if (resident[i] & 1)
				return left - i * page;
		at += len;
	}
	return 0;
}

void eddyi_stack_give_back(void *low, void *high)
{
	int r = madvise(low, (size_t)((char *)high - (char *)low), MADV_DONTNEED);

	if (r != 0)
		eddyi_panic("madvise(MADV_DONTNEED) of a stack failed: %d", errno);
}
