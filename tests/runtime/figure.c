/* Tests of eddy/figure.h. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/internal/figure.h>
#include <pthread.h>

#define THREADS 4
#define ROUNDS 10000

#define SOLD(what)                                                                                 \
	{                                                                                          \
		.name = "eddy_test_sold_total", .help = "Sold.", .label = "kind", .value = what    \
	}

static struct eddyi_figure sold[] = {
	SOLD("book"),
	SOLD("pen"),
};
static struct eddyi_figure lost = { .name = "eddy_test_lost_total", .help = "Lost." };

/* Return: how often it is among those that are offered. */
static unsigned shown(const struct eddyi_figure *figure)
{
	unsigned count = 0;

	for (const struct eddyi_figure *at = eddyi_figure_next(NULL); at;
	     at = eddyi_figure_next(at))
		count += at == figure;
	return count;
}

Test(figure, is_shown_once_it_is_offered)
{
	eddyi_figure_add(&lost, 3);
	cr_expect(zero(uint, shown(&lost)));
	for (int i = 0; i < 2; i++) {
		eddyi_figure_offer(sold, 2);
		eddyi_figure_offer(&lost, 1);
	}
	cr_expect(eq(uint, shown(&lost), 1));
	cr_expect(eq(uint, shown(&sold[0]), 1));
	cr_expect(eq(uint, shown(&sold[1]), 1));
	eddyi_figure_add(&lost, 4);
	cr_expect(eq(u64, eddyi_figure_read(&lost), 7));
	cr_expect(zero(u64, eddyi_figure_read(&sold[0])));
}

static struct eddyi_figure many[THREADS];

static void *offer_and_count(void *arg)
{
	struct eddyi_figure *own = arg;

	for (int i = 0; i < ROUNDS; i++) {
		eddyi_figure_offer(own, 1);
		eddyi_figure_offer(&lost, 1);
		eddyi_figure_add(&lost, 1);
	}
	return NULL;
}

Test(figure, is_for_all_threads)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		cr_assert(zero(pthread_create(&threads[i], NULL, offer_and_count, &many[i])));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	cr_expect(eq(u64, eddyi_figure_read(&lost), THREADS * ROUNDS));
	cr_expect(eq(uint, shown(&lost), 1));
	for (int i = 0; i < THREADS; i++)
		cr_expect(eq(uint, shown(&many[i]), 1));
}
