#include <eddy/internal/figure.h>
#include <eddy/internal/outside.h>

/* A lock-free list: figures are only added, at the front, and never removed. */
static struct eddyi_figure *first;

static void offer(struct eddyi_figure *figure)
{
	if (__atomic_exchange_n(&figure->is_offered, 1, __ATOMIC_RELAXED))
		return;
	figure->next = __atomic_load_n(&first, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&first, &figure->next, figure, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

void eddyi_figure_offer(struct eddyi_figure *figures, size_t count)
{
	for (size_t i = 0; i < count; i++)
		offer(&figures[i]);
}

void eddyi_figure_add(struct eddyi_figure *figure, int64_t by)
{
	__atomic_fetch_add(&figure->count, (uint64_t)by, __ATOMIC_RELAXED);
}

uint64_t eddyi_figure_read(const struct eddyi_figure *figure)
{
	return __atomic_load_n(&figure->count, __ATOMIC_RELAXED);
}

const struct eddyi_figure *eddyi_figure_next(const struct eddyi_figure *figure)
{
	return figure ? figure->next : __atomic_load_n(&first, __ATOMIC_ACQUIRE);
}
