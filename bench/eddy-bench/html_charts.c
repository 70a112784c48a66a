/* The charts of a page: those of one cell, and those over the sizes of several. */
#include "format.h"
#include "html.h"
#include "must.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names that all cells have together, as far as they are looked at. */
#define NAMES_MAX 256
#define CURVE_FROM 0.01 /* the percentile at which curves of latency begin */
#define TITLE_SIZE (2 * FORMAT_LINE_SIZE)

/* A name has the same hue in all cells: they are numbered as they come. */
static unsigned hue_of(const struct result *result, const char *name)
{
	const char *names[NAMES_MAX];
	unsigned count = 0, at;

	for (size_t i = 0; i < result->cell_count; i++)
		for (size_t j = 0; j < result->cells[i]->target_count; j++) {
			const char *other = result->cells[i]->targets[j]->name;

			for (at = 0; at < count && strcmp(names[at], other) != 0; at++)
				;
			if (strcmp(other, name) == 0)
				return at;
			if (at == count && count < NAMES_MAX)
				names[count++] = other;
		}
	return 0;
}

static void figure_begin(struct svg *svg, const char *class, const char *title, const char *note)
{
	fprintf(svg->file, "<figure class=\"%s\"><figcaption>", class);
	html_text(svg->file, title);
	if (note) {
		fputs(" <span class=\"mute\">", svg->file);
		html_text(svg->file, note);
		fputs("</span>", svg->file);
	}
	fputs("</figcaption>\n", svg->file);
}

static void figure_end(struct svg *svg)
{
	fputs("</figure>\n", svg->file);
}

/* --- bars */

static bool is_known(const struct figure *figure, const struct cell *cell)
{
	for (size_t i = 0; i < cell->target_count; i++)
		if (figure_estimate(figure, cell, cell->targets[i]).count)
			return true;
	return false;
}

static const char *unit_note(const struct figure *figure, const struct cell *cell)
{
	enum unit unit = figure_unit(figure, cell);

	if (figure->more_is_better)
		return "more is better";
	if (strcmp(figure->name, "cpu") != 0)
		return "less is better";
	return unit == UNIT_SECONDS_PER_GIB ? "for each GiB, less is better" :
					      "for each request, less is better";
}

static void draw_bars(struct svg *svg, const struct result *result, const struct cell *cell,
		      const struct figure *figure)
{
	const struct target *other = cell->against ? cell_target(cell, cell->against) : NULL;
	struct svg_bar *bars = must(calloc(cell->target_count, sizeof(*bars)));
	char(*texts)[2][FORMAT_SIZE] = must(calloc(cell->target_count, sizeof(*texts)));
	char title[TITLE_SIZE], note[TITLE_SIZE], name[FORMAT_LINE_SIZE];
	bool has_ratio = false;

	for (size_t i = 0; i < cell->target_count; i++) {
		const struct target *target = cell->targets[i];
		struct svg_bar *bar = &bars[i];

		bar->estimate = figure_estimate(figure, cell, target);
		bar->name = target->name;
		bar->hue = hue_of(result, target->name);
		bar->value =
			format_value(texts[i][0], figure_unit(figure, cell), bar->estimate.median);
		if (other && other != target && !isnan(bar->estimate.median)) {
			struct estimate ratio = figure_against(figure, cell, target, other);

			if (ratio.count && figure->unit != UNIT_COUNT)
				bar->note = format_against(texts[i][1], figure, cell, ratio.median);
			has_ratio |= bar->note != NULL;
		}
	}
	snprintf(title, sizeof(title), "%s: %s", format_cut(name, cell->title, 80), figure->title);
	snprintf(note, sizeof(note), "%s%s%s", unit_note(figure, cell),
		 has_ratio ? "; × beside " : "",
		 has_ratio ? format_cut(name, other->name, 30) : "");
	figure_begin(svg, "bars", figure->title, note);
	svg_bars(
		svg, title,
		"A bar for each target, from zero to the median of the rounds; the whisker is its 95 % interval. One that is "
		"broken is longer than it looks.",
		bars, cell->target_count);
	figure_end(svg);
	free(texts);
	free(bars);
}

static bool has_goal(const struct cell *cell, const char *figure)
{
	for (size_t i = 0; i < cell->goal_count; i++)
		if (strcmp(cell->goals[i]->figure, figure) == 0)
			return true;
	return false;
}

/* --- latency */

/* Of each bucket: the share of requests that took as long, or shorter; the last has all of them, which has no place on
 * the scale. */
static size_t curve_of(const struct buckets *buckets, struct svg_point *points)
{
	double all = 0, passed = 0;
	size_t count = 0;

	for (size_t i = 0; i < buckets->count; i++)
		all += buckets->of[i].count;
	for (size_t i = 0; i < buckets->count && all > 0; i++) {
		/* A bucket's time holds from the first of its requests on. The quickest of all would stretch the scale. */
		if (passed / all >= CURVE_FROM || passed + buckets->of[i].count == all)
			points[count++] =
				(struct svg_point){ passed / all, buckets->of[i].us, NAN, NAN };
		passed += buckets->of[i].count;
		if (passed < all && passed / all >= CURVE_FROM)
			points[count++] =
				(struct svg_point){ passed / all, buckets->of[i].us, NAN, NAN };
	}
	return count;
}

static const struct buckets *buckets_of(const struct target *target, bool first_byte)
{
	return first_byte ? &target->histogram.first_byte : &target->histogram.total;
}

/* Whether the first byte of each answer came with its last one, or nothing is known of it. */
static bool came_at_once(const struct cell *cell)
{
	for (size_t i = 0; i < cell->target_count; i++) {
		const struct buckets *first = buckets_of(cell->targets[i], true);
		const struct buckets *last = buckets_of(cell->targets[i], false);

		if (first->count &&
		    (first->count != last->count ||
		     memcmp(first->of, last->of, first->count * sizeof(*first->of))))
			return false;
	}
	return true;
}

static void draw_latency(struct svg *svg, const struct result *result, const struct cell *cell,
			 bool first_byte, const char *note)
{
	struct svg_line *lines = must(calloc(cell->target_count + 1, sizeof(*lines)));
	struct svg_chart chart = {
		.description = "Percentiles of all rounds together, both axes logarithmic.",
		.x = { .title = "percentile", .scale = SVG_PERCENTILE, .unit = UNIT_SHARE },
		.y = { .title = "log scale", .scale = SVG_LOG, .unit = UNIT_MICROSECONDS },
		.lines = lines,
	};
	char title[TITLE_SIZE], name[FORMAT_LINE_SIZE];

	for (size_t i = 0; i < cell->target_count; i++) {
		const struct target *target = cell->targets[i];
		const struct buckets *buckets = buckets_of(target, first_byte);
		struct svg_line *line = &lines[chart.count];

		if (!buckets->count)
			continue;
		line->points = must(calloc(2 * buckets->count, sizeof(*line->points)));
		line->count = curve_of(buckets, line->points);
		line->name = target->name;
		line->hue = hue_of(result, target->name);
		chart.count++;
	}
	snprintf(title, sizeof(title), "%s: latency%s", format_cut(name, cell->title, 80),
		 first_byte ? " of the first byte" : "");
	chart.title = title;
	if (chart.count) {
		figure_begin(svg, "lines", "latency", note);
		svg_lines(svg, &chart);
		figure_end(svg);
	}
	for (size_t i = 0; i < chart.count; i++)
		free(lines[i].points);
	free(lines);
}

void html_latency_charts(struct svg *svg, const struct result *result, const struct cell *cell)
{
	if (came_at_once(cell)) {
		draw_latency(svg, result, cell, false, "to the last byte, less is better");
		return;
	}
	draw_latency(svg, result, cell, true, "to the first byte, less is better");
	draw_latency(svg, result, cell, false, "to the last byte, less is better");
}

/* When a chart is worth its place. */
enum when { ALWAYS, AT_REST /* nothing was asked of the server */, WITH_A_GOAL };

void html_cell_charts(struct svg *svg, const struct result *result, const struct cell *cell)
{
	/* clang-format off */
	static const struct {
		const char *figure;
		enum when when;
	} shown[] = {
		{ "throughput", ALWAYS },
		{ "cpu", ALWAYS },
		{ "p99", ALWAYS },
		{ "resident_each", AT_REST },
		{ "first_byte_p99", WITH_A_GOAL },
		{ "p50", WITH_A_GOAL },
		{ "p999", WITH_A_GOAL },
		{ "system_calls", WITH_A_GOAL },
		{ "switches", WITH_A_GOAL },
	};
	/* clang-format on */
	bool is_at_rest = !is_known(figure_find("throughput"), cell);

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		const struct figure *figure = figure_find(shown[i].figure);
		bool is_wanted = shown[i].when == ALWAYS || has_goal(cell, figure->name) ||
				 (shown[i].when == AT_REST && is_at_rest);

		if (is_wanted && is_known(figure, cell))
			draw_bars(svg, result, cell, figure);
	}
	if (has_goal(cell, "threads_more"))
		draw_bars(svg, result, cell, figure_find("threads"));
}

/* --- over sizes */

/* Cells that differ in nothing but the size. */
static bool is_alike(const struct cell *a, const struct cell *b)
{
	const char *work_a = a->work ? a->work : "", *work_b = b->work ? b->work : "";
	double depth_a = isnan(a->depth) ? 1 : a->depth, depth_b = isnan(b->depth) ? 1 : b->depth;

	return strcmp(work_a, work_b) == 0 && a->connections == b->connections &&
	       depth_a == depth_b && a->http2 == b->http2 && a->cold == b->cold && isnan(a->rate) &&
	       isnan(b->rate) && a->size > 0 && b->size > 0;
}

static int by_size(const void *a, const void *b)
{
	double x = ((const struct svg_point *)a)->x, y = ((const struct svg_point *)b)->x;

	return (x > y) - (x < y);
}

/* The points of one target in all cells like `first`. */
static size_t points_of(const struct result *result, const struct cell *first, const char *name,
			const struct figure *figure, struct svg_point *points)
{
	size_t count = 0;

	for (size_t i = 0; i < result->cell_count; i++) {
		const struct cell *cell = result->cells[i];
		const struct target *target = cell_target(cell, name);
		struct estimate estimate;

		if (!target || !is_alike(first, cell))
			continue;
		estimate = figure_estimate(figure, cell, target);
		if (estimate.count)
			points[count++] = (struct svg_point){ cell->size, estimate.median,
							      estimate.low, estimate.high };
	}
	qsort(points, count, sizeof(*points), by_size);
	return count;
}

static void draw_over_size(struct svg *svg, const struct result *result, const struct cell *first,
			   const char *figure_name, const char *caption, struct svg_axis y)
{
	struct svg_line *lines = must(calloc(first->target_count + 1, sizeof(*lines)));
	const struct figure *figure = figure_find(figure_name);
	struct svg_chart chart = {
		.description =
			"A line for each target, a point for each size; whiskers are 95 % intervals.",
		.x = { .title = "size of a body, log scale",
		       .scale = SVG_LOG,
		       .unit = UNIT_BYTES,
		       .is_at_points = true },
		.y = y,
		.lines = lines,
	};
	char title[TITLE_SIZE], name[FORMAT_LINE_SIZE];

	snprintf(title, sizeof(title), "%s × %.0f: %s over size",
		 format_cut(name, first->work ? first->work : "", 20), first->connections, caption);
	chart.title = title;
	for (size_t i = 0; i < first->target_count; i++) {
		struct svg_line *line = &lines[chart.count];

		line->name = first->targets[i]->name;
		line->points = must(calloc(result->cell_count, sizeof(*line->points)));
		line->count = points_of(result, first, line->name, figure, line->points);
		line->hue = hue_of(result, line->name);
		if (line->count > 1)
			chart.count++;
		else
			free(line->points);
	}
	if (chart.count) {
		figure_begin(svg, "lines", title,
			     figure->more_is_better ? "more is better" : "less is better");
		svg_lines(svg, &chart);
		figure_end(svg);
	}
	for (size_t i = 0; i < chart.count; i++)
		free(lines[i].points);
	free(lines);
}

/* The first of at least two cells that differ in size alone. */
static bool begins_sizes(const struct result *result, size_t at)
{
	const struct cell *cell = result->cells[at];
	size_t others = 0;

	for (size_t i = 0; i < result->cell_count; i++) {
		if (i == at || !is_alike(cell, result->cells[i]))
			continue;
		if (i < at)
			return false;
		others += result->cells[i]->size != cell->size;
	}
	return others > 0;
}

void html_size_charts(struct svg *svg, const struct result *result)
{
	static const struct svg_axis rate = { "GB/s", SVG_LINEAR, UNIT_GB_PER_SECOND, false };
	static const struct svg_axis cost = { "s/GiB, log scale", SVG_LOG, UNIT_SECONDS_PER_GIB,
					      false };
	bool has_begun = false;

	for (size_t i = 0; i < result->cell_count; i++) {
		if (!begins_sizes(result, i))
			continue;
		if (!has_begun)
			fputs("<section>\n<h2>Over size</h2>\n<div class=\"charts pairs\">\n",
			      svg->file);
		has_begun = true;
		draw_over_size(svg, result, result->cells[i], "bytes_rate", "throughput", rate);
		draw_over_size(svg, result, result->cells[i], "cpu_gib", "CPU time", cost);
	}
	if (has_begun)
		fputs("</div>\n</section>\n", svg->file);
}
