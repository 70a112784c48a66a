/* Where and when the text of all metrics is made. */
#include <eddy/internal/figure.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/metric.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char task_text[65536];

static int write_text(void *arg)
{
	char *text;
	size_t len;
	int r = eddy_metric_text(&text, &len);

	(void)arg;
	if (r < 0)
		return r;
	snprintf(task_text, sizeof(task_text), "%.*s", (int)len, text);
	free(text);
	return 0;
}

static bool says(const char *line)
{
	return strstr(task_text, line) != NULL;
}

/* A machine may be so slow that nothing comes of the pool in time. */
static int write_in_time(void *arg)
{
	int r;

	do
		r = write_text(arg);
	while (r == 0 && !says("\nprocess_open_fds "));
	return r;
}

Test(metric_own, are_written_for_a_task)
{
	cr_assert(eq(int, eddy_run(NULL, write_in_time, NULL), 0));
	cr_expect(says("\neddy_loops 1\n"));
	cr_expect(says("\neddy_tasks 1\n"));
	cr_expect(says("\neddy_offload_running 1\n"));
	cr_expect(says("eddy_build_info{compiler=\"" __VERSION__ "\""));
	/* A loop that has ended is counted still. */
	cr_assert(eq(int, write_text(NULL), 0));
	cr_expect(says("\neddy_loops 0\n"));
	cr_expect(says("\neddy_tasks 0\n"));
	cr_expect(says("\neddy_tasks_spawned_total 1\n"));
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static int wait_at_gate(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return 0;
}

static int hold_pool(void *arg)
{
	return eddy_offload(wait_at_gate, arg);
}

static int write_beside(void *arg)
{
	struct eddy_scope scope;
	int r;

	pthread_mutex_lock(&gate);
	eddy_offload_configure(&(struct eddy_offload_options){ .threads = 1 });
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "holder", hold_pool, NULL);
	while (!eddy_offload_stats().running)
		eddy_sleep(EDDY_MS);
	r = write_text(arg);
	pthread_mutex_unlock(&gate);
	eddy_scope_join(&scope);
	return r | eddy_scope_end(&scope);
}

Test(metric_own, are_written_without_the_pool)
{
	cr_assert(eq(int, eddy_run(NULL, write_beside, NULL), 0));
	cr_expect(says("\neddy_loops 1\n"));
	cr_expect(says("\neddy_offload_running 1\n"));
	cr_expect(says("process_") == false);
	cr_expect(says("\neddy_io_workers_max 16\n"));
	cr_expect(says("\neddy_io_workers ") == false);
}

static int write_cancelled(void *arg)
{
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	r = write_text(arg);
	eddy_scope_end(&scope);
	return r == -ECANCELED ? 0 : -EPROTO;
}

Test(metric_own, are_not_written_for_who_is_cancelled)
{
	cr_assert(eq(int, eddy_run(NULL, write_cancelled, NULL), 0));
}

#define SOLD(what)                                                                                 \
	{                                                                                          \
		.name = "eddy_test_sold_total", .help = "Sold.", .label = "kind", .value = what    \
	}

static struct eddyi_figure sold[] = {
	SOLD("book"),
	SOLD("pen"),
};
static struct eddyi_figure lost = { .name = "eddy_test_lost_total", .help = "Lost." };
static struct eddyi_figure stock = {
	.name = "eddy_test_stock_metres", .help = "Stock.", .is_gauge = true, .decimals = 3
};
/* Its name is that of no metric. */
static struct eddyi_figure odd = { .name = "eddy test", .help = "Odd." };

Test(metric_own, are_those_of_other_layers_too)
{
	eddyi_figure_offer(sold, 2);
	eddyi_figure_add(&sold[1], 7);
	cr_assert(zero(int, write_text(NULL)));
	cr_expect(says("\n# TYPE eddy_test_sold_total counter\n"));
	cr_expect(says("\neddy_test_sold_total{kind=\"book\"} 0\n"));
	cr_expect(says("\neddy_test_sold_total{kind=\"pen\"} 7\n"));
	cr_expect_not(says("eddy_test_lost_total"));
	/* Offered later, it is there from then on, and the others go on. */
	eddyi_figure_offer(&odd, 1);
	eddyi_figure_offer(&lost, 1);
	eddyi_figure_offer(&stock, 1);
	eddyi_figure_add(&sold[0], 1);
	eddyi_figure_add(&stock, 2000);
	eddyi_figure_add(&stock, -500);
	cr_assert(zero(int, write_text(NULL)));
	cr_expect(says("\neddy_test_lost_total 0\n"));
	cr_expect(says("\neddy_test_sold_total{kind=\"book\"} 1\n"));
	cr_expect(says("\n# TYPE eddy_test_stock_metres gauge\neddy_test_stock_metres 1.5\n"));
	cr_expect_not(says("eddy test"));
}
