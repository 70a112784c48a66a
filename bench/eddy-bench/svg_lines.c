/* Charts of lines: their axes, ticks and labels. */
#include "format.h"
#include "svg.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>

/* Wider than bars are. A narrow page shows it smaller and its text larger, so there is room for both. */
#define WIDTH 560.0
#define HEIGHT 300.0
#define LEFT 62.0
#define RIGHT 410.0 /* names of lines stand to the right of it */
#define TOP 26.0
#define BOTTOM 246.0
#define NAME_CHARACTERS 15
#define NAME_HEIGHT 17.0
#define CHARACTER 8.4 /* how wide one is below an axis, about */
#define TICKS_MAX 64
#define LINES_MAX 64
#define LOG_SPAN_MIN 0.5 /* so that a number stands at the axis */

/* One axis with its limits, in the coordinates of its scale. */
struct range {
	enum svg_scale scale;
	double from, to;
	double start, end; /* where these lie in the picture */
};

/* Where the scale has a value; NAN: nowhere. */
static double scaled(enum svg_scale scale, double value)
{
	switch (scale) {
	case SVG_LOG:
		return value > 0 && isfinite(value) ? log10(value) : NAN;
	case SVG_PERCENTILE:
		return value >= 0 && value < 1 ? -log10(1 - value) : NAN;
	default:
		return value >= 0 && isfinite(value) ? value : NAN;
	}
}

static double place(const struct range *range, double value)
{
	double share = (scaled(range->scale, value) - range->from) / (range->to - range->from);

	return range->start + share * (range->end - range->start);
}

static bool has_place(const struct svg_chart *chart, const struct svg_point *point)
{
	return !isnan(scaled(chart->x.scale, point->x)) && !isnan(scaled(chart->y.scale, point->y));
}

static void widen(struct range *range, double value)
{
	double at = scaled(range->scale, value);

	range->from = fmin(range->from, at);
	range->to = fmax(range->to, at);
}

/* Steps of 1, 2 or 5 of a power of ten: about four to an axis. */
static double step_of(double span)
{
	double step = pow(10, floor(log10(span / 4)));

	return span / step > 20 ? 5 * step : span / step > 8 ? 2 * step : step;
}

/* A little room around, and whole steps. */
static void round_range(struct range *range)
{
	if (range->scale == SVG_LINEAR) {
		double step;

		range->from = 0;
		if (!(range->to > 0))
			range->to = 1;
		step = step_of(range->to);
		range->to = ceil(range->to / step) * step;
	} else if (range->scale == SVG_LOG) {
		double span = range->to - range->from;
		double margin = fmax(span * 0.06, (LOG_SPAN_MIN - span) / 2);

		range->from -= margin;
		range->to += margin;
	} else {
		range->from = 0;
		range->to = fmax(range->to, 1);
	}
}

static void find_ranges(const struct svg_chart *chart, struct range *x, struct range *y)
{
	*x = (struct range){ chart->x.scale, INFINITY, -INFINITY, LEFT, RIGHT };
	*y = (struct range){ chart->y.scale, INFINITY, -INFINITY, BOTTOM, TOP };
	for (size_t i = 0; i < chart->count; i++) {
		for (size_t j = 0; j < chart->lines[i].count; j++) {
			const struct svg_point *point = &chart->lines[i].points[j];

			if (!has_place(chart, point))
				continue;
			widen(x, point->x);
			widen(y, point->y);
			widen(y, point->low);
			widen(y, point->high);
		}
	}
	if (x->from > x->to)
		return;
	round_range(x);
	round_range(y);
}

/* Return: how many there are. */
static size_t linear_ticks(const struct range *range, double ticks[TICKS_MAX])
{
	double step = step_of(range->to);
	size_t count = 0;

	for (; count < TICKS_MAX && count * step <= range->to * (1 + 1e-9); count++)
		ticks[count] = count * step;
	return count;
}

static size_t log_ticks(const struct range *range, double ticks[TICKS_MAX])
{
	static const double all[] = { 1, 2, 5 };
	double span = range->to - range->from;
	/* Of many decades not each has a number. */
	int every = span > 10 ? (int)(span / 5) : 1;
	size_t count = 0, parts = span > 2.5 ? 1 : 3;

	for (int decade = (int)floor(range->from); decade <= range->to; decade += every)
		for (size_t i = 0; i < parts && count < TICKS_MAX; i++) {
			double value = all[i] * pow(10, decade);

			if (log10(value) >= range->from && log10(value) <= range->to)
				ticks[count++] = value;
		}
	return count;
}

static size_t percentile_ticks(const struct range *range, double ticks[TICKS_MAX])
{
	size_t count = 0;

	ticks[count++] = 0.5;
	for (int nines = 1; nines <= range->to + 1e-9 && nines < 9; nines++)
		ticks[count++] = 1 - pow(10, -nines);
	return count;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Each x once. */
static size_t point_ticks(const struct svg_chart *chart, double ticks[TICKS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < chart->count; i++)
		for (size_t j = 0; j < chart->lines[i].count && count < TICKS_MAX; j++) {
			size_t k = 0;

			while (k < count && ticks[k] != chart->lines[i].points[j].x)
				k++;
			if (k == count && has_place(chart, &chart->lines[i].points[j]))
				ticks[count++] = chart->lines[i].points[j].x;
		}
	qsort(ticks, count, sizeof(ticks[0]), by_value);
	return count;
}

static size_t ticks_of(const struct svg_chart *chart, const struct svg_axis *axis,
		       const struct range *range, double ticks[TICKS_MAX])
{
	if (axis->is_at_points)
		return point_ticks(chart, ticks);
	if (axis->scale == SVG_LOG)
		return log_ticks(range, ticks);
	if (axis->scale == SVG_PERCENTILE)
		return percentile_ticks(range, ticks);
	return linear_ticks(range, ticks);
}

/* Short: a round number, with its unit where that is one of time or bytes. */
static const char *tick_text(char text[FORMAT_SIZE], const struct svg_axis *axis, double value)
{
	if (axis->scale == SVG_PERCENTILE) {
		snprintf(text, FORMAT_SIZE, "%.8g", 100 * value);
		return text;
	}
	if (axis->unit == UNIT_BYTES)
		return format_bytes(text, value);
	if (axis->unit != UNIT_MICROSECONDS)
		snprintf(text, FORMAT_SIZE, "%.6g", value);
	else if (value < 1e3)
		snprintf(text, FORMAT_SIZE, "%g µs", value);
	else if (value < 1e6)
		snprintf(text, FORMAT_SIZE, "%g ms", value / 1e3);
	else
		snprintf(text, FORMAT_SIZE, "%g s", value / 1e6);
	return text;
}

static void draw_axes(FILE *file, const struct svg_chart *chart, const struct range *x,
		      const struct range *y)
{
	double ticks[TICKS_MAX], last = -INFINITY, half;
	size_t count = ticks_of(chart, &chart->y, y, ticks);
	char text[FORMAT_SIZE];

	fprintf(file, "<text class=\"mute\" x=\"0\" y=\"13\">");
	html_text(file, chart->y.title);
	fputs("</text>", file);
	for (size_t i = 0; i < count; i++) {
		double at = place(y, ticks[i]);

		fprintf(file,
			"<path class=\"axis\" d=\"M%g %.1fH%g\"/>"
			"<text class=\"tick end\" x=\"%g\" y=\"%.1f\">",
			LEFT, at, RIGHT, LEFT - 5, at + 4);
		html_text(file, tick_text(text, &chart->y, ticks[i]));
		fputs("</text>", file);
	}
	count = ticks_of(chart, &chart->x, x, ticks);
	for (size_t i = 0; i < count; i++) {
		double at = place(x, ticks[i]);

		fprintf(file, "<path class=\"axis\" d=\"M%.1f %gV%g\"/>", at, BOTTOM, BOTTOM + 4);
		tick_text(text, &chart->x, ticks[i]);
		half = CHARACTER * format_width(text) / 2 + 1;
		/* It would stand in the one before. */
		if (at - half < last)
			continue;
		last = at + half;
		fprintf(file, "<text class=\"tick middle\" x=\"%.1f\" y=\"%g\">", at, BOTTOM + 18);
		html_text(file, text);
		fputs("</text>", file);
	}
	fprintf(file, "<text class=\"mute middle\" x=\"%g\" y=\"%g\">", (LEFT + RIGHT) / 2,
		HEIGHT - 8);
	html_text(file, chart->x.title);
	fputs("</text>\n", file);
}

/* Where a name is to stand, and where its line ends. */
struct label {
	const struct svg_line *line;
	double x, y, at;
};

/* Lines of neighbouring hues differ in this as well, and so do those that have the same one. */
static unsigned dash_of(unsigned hue)
{
	return (hue / 2 + hue / SVG_HUES) % 4;
}

/* Return: false when no point of it has a place. */
static bool draw_line(FILE *file, const struct svg_chart *chart, const struct svg_line *line,
		      const struct range *x, const struct range *y, struct label *ret_label)
{
	double last_x = NAN, last_y = NAN;
	bool has_whiskers = false;

	for (size_t i = 0; i < line->count; i++) {
		const struct svg_point *point = &line->points[i];
		double at_x, at_y;

		if (!has_place(chart, point))
			continue;
		at_x = place(x, point->x);
		at_y = place(y, point->y);
		has_whiskers = has_whiskers || point->high >= point->low;
		/* What moves by less than half a unit is not seen. */
		if (i + 1 < line->count && fabs(at_x - last_x) + fabs(at_y - last_y) < 0.5)
			continue;
		if (isnan(last_x))
			fprintf(file, "<path class=\"line d%u\" d=\"M", dash_of(line->hue));
		fprintf(file, "%s%.1f %.1f", isnan(last_x) ? "" : "L", at_x, at_y);
		last_x = at_x;
		last_y = at_y;
	}
	if (isnan(last_x))
		return false;
	fputs("\"/>", file);
	for (size_t i = 0; i < line->count; i++) {
		const struct svg_point *point = &line->points[i];

		if (!has_place(chart, point) || !chart->x.is_at_points)
			continue;
		if (has_whiskers && !isnan(scaled(y->scale, point->low)) &&
		    !isnan(scaled(y->scale, point->high)))
			fprintf(file, "<path class=\"spread\" d=\"M%.1f %.1fV%.1f\"/>",
				place(x, point->x), place(y, point->low), place(y, point->high));
		fprintf(file, "<circle class=\"bar\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.8\"/>",
			place(x, point->x), place(y, point->y));
	}
	*ret_label = (struct label){ line, last_x, last_y, last_y };
	return true;
}

static int by_height(const void *a, const void *b)
{
	double x = ((const struct label *)a)->at, y = ((const struct label *)b)->at;

	return (x > y) - (x < y);
}

/* Push names apart: down first, then, from the bottom, up again. */
static void spread_labels(struct label *labels, size_t count)
{
	qsort(labels, count, sizeof(*labels), by_height);
	for (size_t i = 1; i < count; i++)
		labels[i].at = fmax(labels[i].at, labels[i - 1].at + NAME_HEIGHT);
	if (count && labels[count - 1].at > BOTTOM + 4)
		labels[count - 1].at = BOTTOM + 4;
	for (size_t i = count; i-- > 1;)
		labels[i - 1].at = fmin(labels[i - 1].at, labels[i].at - NAME_HEIGHT);
}

void svg_lines(struct svg *svg, const struct svg_chart *chart)
{
	struct label labels[LINES_MAX];
	struct range x, y;
	size_t count = 0;
	char name[FORMAT_LINE_SIZE];

	find_ranges(chart, &x, &y);
	if (x.from > x.to)
		return;
	svg_begin(svg, "lines", chart->title, chart->description, WIDTH, HEIGHT);
	draw_axes(svg->file, chart, &x, &y);
	for (size_t i = 0; i < chart->count && count < LINES_MAX; i++) {
		fprintf(svg->file, "<g class=\"h%u\">", chart->lines[i].hue % SVG_HUES);
		count += draw_line(svg->file, chart, &chart->lines[i], &x, &y, &labels[count]);
		fputs("</g>\n", svg->file);
	}
	spread_labels(labels, count);
	for (size_t i = 0; i < count; i++) {
		fprintf(svg->file,
			"<g class=\"h%u\"><path class=\"lead\" d=\"M%.1f %.1fL%g %.1f\"/>"
			"<circle class=\"bar\" cx=\"%g\" cy=\"%.1f\" r=\"3\"/>"
			"<text x=\"%g\" y=\"%.1f\">",
			labels[i].line->hue % SVG_HUES, labels[i].x, labels[i].y, RIGHT + 8,
			labels[i].at, RIGHT + 8, labels[i].at, RIGHT + 14, labels[i].at + 4);
		html_text(svg->file, format_cut(name, labels[i].line->name, NAME_CHARACTERS));
		fputs("</text></g>\n", svg->file);
	}
	svg_end(svg);
}
