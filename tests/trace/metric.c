/* Tests of eddy/metric.h. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/metric.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static struct eddy_metric *declare(const struct eddy_metric_options *options)
{
	struct eddy_metric *metric = NULL;

	cr_assert(eq(int, eddy_metric_declare(options, &metric), 0), "%s", options->name);
	cr_assert(metric != NULL);
	return metric;
}

/* What stands behind the first `line` of the text, up to its end; the text is freed by the next call. */
static const char *find(const char *line)
{
	static char *text, found[256];
	const char *at;
	size_t len;

	free(text);
	cr_assert(eq(int, eddy_metric_text(&text, &len), 0));
	cr_assert(len > 0 && text[len - 1] == '\n');
	text[len - 1] = 0;
	for (at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, line, strlen(line)) != 0)
			continue;
		snprintf(found, sizeof(found), "%.*s", (int)strcspn(at + strlen(line), "\n"),
			 at + strlen(line));
		return found;
	}
	return NULL;
}

static void expect(const char *line, const char *wanted)
{
	const char *found = find(line);

	cr_expect(found && strcmp(found, wanted) == 0, "%s is %s", line, found);
}

Test(metric, counts)
{
	struct eddy_metric *sold = declare(&(struct eddy_metric_options){
		.name = "shop_sold_total",
		.help = "Articles \\ sold,\nor \"lent\".",
	});

	expect("# HELP shop_sold_total ", "Articles \\\\ sold,\\nor \"lent\".");
	expect("# TYPE shop_sold_total ", "counter");
	expect("shop_sold_total ", "0");
	eddy_metric_add(sold, 41);
	eddy_metric_add(sold, 1);
	expect("shop_sold_total ", "42");
	/* What would make it go down, or is another type's, changes nothing. */
	eddy_metric_add(sold, -1);
	eddy_metric_observe(sold, 1);
	eddy_metric_add(NULL, 1);
	eddy_metric_observe(NULL, 1);
	expect("shop_sold_total ", "42");
}

Test(metric, is_a_gauge)
{
	struct eddy_metric *open_now = declare(&(struct eddy_metric_options){
		.name = "shop:orders_open", .help = "Open orders.", .type = EDDY_METRIC_GAUGE });
	struct eddy_metric *balance = declare(&(struct eddy_metric_options){
		.name = "shop_balance",
		.help = "Euros.",
		.type = EDDY_METRIC_GAUGE,
		.decimals = 2,
	});

	eddy_metric_add(open_now, 3);
	eddy_metric_add(open_now, -5);
	expect("# TYPE shop:orders_open ", "gauge");
	expect("shop:orders_open ", "-2");
	eddy_metric_add(balance, 1250);
	expect("shop_balance ", "12.5");
	eddy_metric_add(balance, -1250 - 205);
	expect("shop_balance ", "-2.05");
	eddy_metric_add(balance, 205 + 300);
	expect("shop_balance ", "3");
}

Test(metric, is_a_histogram)
{
	const uint64_t bounds[] = { 5, 10, 250 };
	struct eddy_metric *sizes = declare(&(struct eddy_metric_options){
		.name = "shop_size_meters",
		.help = "Sizes.",
		.type = EDDY_METRIC_HISTOGRAM,
		.labels = EDDY_METRIC_LABELS({ "kind", "ribbon" }),
		.decimals = 2,
		.bounds = bounds,
		.bound_count = 3,
	});

	eddy_metric_observe(sizes, 0);
	eddy_metric_observe(sizes, 5);
	eddy_metric_observe(sizes, 6);
	eddy_metric_observe(sizes, 250);
	eddy_metric_observe(sizes, 251);
	eddy_metric_observe(sizes, 10000);
	eddy_metric_add(sizes, 1);
	expect("# TYPE shop_size_meters ", "histogram");
	expect("shop_size_meters_bucket{kind=\"ribbon\",le=\"0.05\"} ", "2");
	expect("shop_size_meters_bucket{kind=\"ribbon\",le=\"0.1\"} ", "3");
	expect("shop_size_meters_bucket{kind=\"ribbon\",le=\"2.5\"} ", "4");
	expect("shop_size_meters_bucket{kind=\"ribbon\",le=\"+Inf\"} ", "6");
	expect("shop_size_meters_sum{kind=\"ribbon\"} ", "105.12");
	expect("shop_size_meters_count{kind=\"ribbon\"} ", "6");
}

Test(metric, has_buckets_for_times)
{
	struct eddy_metric *times = declare(&(struct eddy_metric_options){
		.name = "shop_wait_seconds",
		.help = "Waits.",
		.type = EDDY_METRIC_HISTOGRAM,
		.decimals = 9,
	});

	eddy_metric_observe(times, 100 * EDDY_US);
	eddy_metric_observe(times, 3 * EDDY_SECOND);
	expect("shop_wait_seconds_bucket{le=\"0.0001\"} ", "1");
	expect("shop_wait_seconds_bucket{le=\"2.5\"} ", "1");
	expect("shop_wait_seconds_bucket{le=\"10\"} ", "2");
	expect("shop_wait_seconds_sum ", "3.0001");
}

Test(metric, labels_are_escaped_and_sorted)
{
	struct eddy_metric *metric = declare(&(struct eddy_metric_options){
		.name = "odd_total",
		.help = "Odd.",
		.labels = EDDY_METRIC_LABELS({ "z", "a\"b\\c\nd" }, { "_a", "\xff\xc3\xa4" },
					     { "B", "" }),
	});

	eddy_metric_add(metric, 1);
	expect("odd_total{B=\"\",_a=\"\xef\xbf\xbd\xc3\xa4\",z=\"a\\\"b\\\\c\\nd\"} ", "1");
}

Test(metric, is_the_same_by_name_and_labels)
{
	struct eddy_metric_options options = {
		.name = "same_total",
		.help = "One.",
	};
	struct eddy_metric *one = declare(&options), *other;

	options.help = "Another text.";
	cr_expect(declare(&options) == one);
	options.labels = EDDY_METRIC_LABELS({ "a", "1" }, { "b", "2" });
	other = declare(&options);
	cr_expect(other != one);
	options.labels = EDDY_METRIC_LABELS({ "b", "2" }, { "a", "1" });
	cr_expect(declare(&options) == other);
	expect("# HELP same_total ", "One.");
}

Test(metric, of_one_name_are_alike)
{
	static const uint64_t bounds[] = { 1, 2 }, others[] = { 1, 3 };
	struct eddy_metric *metric;

	declare(&(struct eddy_metric_options){
		.name = "a", .help = "a", .type = EDDY_METRIC_GAUGE });
	declare(&(struct eddy_metric_options){ .name = "b",
					       .help = "b",
					       .type = EDDY_METRIC_HISTOGRAM,
					       .bounds = bounds,
					       .bound_count = 2 });
	cr_expect(eq(int,
		     eddy_metric_declare(&(struct eddy_metric_options){ .name = "a",
									.help = "a",
									.type = EDDY_METRIC_GAUGE,
									.decimals = 1 },
					 &metric),
		     -EEXIST));
	cr_expect(eq(int,
		     eddy_metric_declare(&(struct eddy_metric_options){ .name = "b",
									.help = "b",
									.type = EDDY_METRIC_GAUGE },
					 &metric),
		     -EEXIST));
	cr_expect(
		eq(int,
		   eddy_metric_declare(&(struct eddy_metric_options){ .name = "b",
								      .help = "b",
								      .type = EDDY_METRIC_HISTOGRAM,
								      .bounds = others,
								      .bound_count = 2 },
				       &metric),
		   -EEXIST));
	cr_expect(
		eq(int,
		   eddy_metric_declare(&(struct eddy_metric_options){ .name = "b",
								      .help = "b",
								      .type = EDDY_METRIC_HISTOGRAM,
								      .bounds = bounds,
								      .bound_count = 1 },
				       &metric),
		   -EEXIST));
}

#define NINE_LABELS                                                                                \
	EDDY_METRIC_LABELS({ "a", "" }, { "b", "" }, { "c", "" }, { "d", "" }, { "e", "" },        \
			   { "f", "" }, { "g", "" }, { "h", "" }, { "i", "" })

static int read_seven(void *arg, uint64_t *ret_value)
{
	*ret_value = 7;
	return *(int *)arg;
}

Test(metric, what_is_against_the_rules_is_refused)
{
	static const uint64_t up[33] = { 1, 2, 3 }, down[] = { 2, 2 };
	const struct eddy_metric_options wrong[] = {
		{ .name = NULL, .help = "x" },
		{ .name = "", .help = "x" },
		{ .name = "a_total" },
		{ .name = "a", .help = "a counter without _total" },
		{
			.name = "_total",
			.help = "nothing in front",
		},
		{ .name = "1_total", .help = "x" },
		{ .name = "a-b_total", .help = "x" },
		{ .name = "\xc3\xa4_total", .help = "x" },
		{ .name = "a_total", .help = "x", .decimals = 10 },
		{ .name = "a_total", .help = "x", .type = EDDY_METRIC_GAUGE },
		{ .name = "a_sum", .help = "x", .type = EDDY_METRIC_GAUGE },
		{ .name = "a_count", .help = "x", .type = EDDY_METRIC_GAUGE },
		{ .name = "a_bucket", .help = "x", .type = EDDY_METRIC_GAUGE },
		{ .name = "a", .help = "x", .type = (enum eddy_metric_type)3 },
		{ .name = "a_total", .help = "x", .labels = EDDY_METRIC_LABELS({ "", "" }) },
		{ .name = "a_total", .help = "x", .labels = EDDY_METRIC_LABELS({ "a:b", "" }) },
		{ .name = "a_total", .help = "x", .labels = EDDY_METRIC_LABELS({ "__a", "" }) },
		{ .name = "a_total", .help = "x", .labels = EDDY_METRIC_LABELS({ "le", "1" }) },
		{ .name = "a_total", .help = "x", .labels = EDDY_METRIC_LABELS({ "a", NULL }) },
		{ .name = "a_total",
		  .help = "x",
		  .labels = EDDY_METRIC_LABELS({ "a", "1" }, { "a", "2" }) },
		{ .name = "a_total", .help = "x", .labels = NINE_LABELS },
		{ .name = "a_total", .help = "x", .bounds = up, .bound_count = 2 },
		{ .name = "a", .help = "x", .type = EDDY_METRIC_HISTOGRAM },
		{ .name = "a", .help = "x", .type = EDDY_METRIC_HISTOGRAM, .bounds = up },
		{ .name = "a",
		  .help = "x",
		  .type = EDDY_METRIC_HISTOGRAM,
		  .bounds = up,
		  .bound_count = 33 },
		{ .name = "a",
		  .help = "x",
		  .type = EDDY_METRIC_HISTOGRAM,
		  .bounds = down,
		  .bound_count = 2 },
		{ .name = "a",
		  .help = "x",
		  .type = EDDY_METRIC_HISTOGRAM,
		  .bounds = up,
		  .bound_count = 3,
		  .read = read_seven },
	};
	struct eddy_metric *metric;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_expect(eq(int, eddy_metric_declare(&wrong[i], &metric), -EINVAL), "%zu", i);
	cr_expect(find("# HELP a") == NULL);
}

Test(metric, is_asked_for_its_value)
{
	static int error;
	struct eddy_metric *metric = declare(&(struct eddy_metric_options){
		.name = "asked",
		.help = "Asked.",
		.type = EDDY_METRIC_GAUGE,
		.read = read_seven,
		.arg = &error,
	});

	eddy_metric_add(metric, 1);
	expect("asked ", "7");
	error = -EAGAIN;
	cr_expect(find("asked ") == NULL);
	cr_expect(find("# HELP asked ") == NULL);
	cr_expect(find("# TYPE asked ") == NULL);
	error = 0;
	expect("asked ", "7");
}

/* ---- threads ---- */

#define THREADS 8
#define TIMES 20000

static struct eddy_metric *shared, *far;
static atomic_bool stop;

static void *count(void *arg)
{
	for (int i = 0; i < TIMES; i++) {
		eddy_metric_add(shared, 1);
		eddy_metric_add(far, 2);
	}
	return arg;
}

static void *look(void *ret_wrong)
{
	unsigned long long before = 0;

	while (!atomic_load(&stop)) {
		const char *found = find("shared_total ");
		unsigned long long value = found ? strtoull(found, NULL, 10) : 0;

		if (!found || value < before || value > 2 * THREADS * TIMES)
			*(bool *)ret_wrong = true;
		before = value;
	}
	return NULL;
}

/* Sixteen threads, half of them begun when the others have ended, and one that reads. */
Test(metric, loses_nothing_between_threads)
{
	bool wrong = false;
	pthread_t threads[THREADS], looker;
	char name[16];

	shared =
		declare(&(struct eddy_metric_options){ .name = "shared_total", .help = "Shared." });
	/* In another piece of memory. */
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		far = declare(&(struct eddy_metric_options){
			.name = "far_total",
			.help = "Far.",
			.labels = EDDY_METRIC_LABELS({ "number", name }) });
	}
	pthread_create(&looker, NULL, look, &wrong);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, count, NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	atomic_store(&stop, true);
	pthread_join(looker, NULL);
	cr_expect(wrong == false);
	expect("shared_total ", "320000");
	expect("far_total{number=\"1999\"} ", "640000");
	expect("far_total{number=\"1998\"} ", "0");
}

Test(metric, there_is_a_limit)
{
	static const uint64_t bounds[32] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
					     12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
					     23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };
	struct eddy_metric *metric;
	char name[16];
	int i, r;

	for (i = 0; i < 10000; i++) {
		struct eddy_metric_options options = {
			.name = "many",
			.help = "Many.",
			.type = EDDY_METRIC_HISTOGRAM,
			.labels = EDDY_METRIC_LABELS({ "number", name }),
			.bounds = bounds,
			.bound_count = 32,
		};

		snprintf(name, sizeof(name), "%d", i);
		r = eddy_metric_declare(&options, &metric);
		if (r < 0)
			break;
		eddy_metric_observe(metric, 33);
	}
	cr_expect(eq(int, r, -ENOSPC));
	cr_expect(i > 3000);
	/* Its numbers would lie in two pieces of memory. */
	expect("many_sum{number=\"30\"} 33\nmany_count{number=\"30\"} ", "1");
}
