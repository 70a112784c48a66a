/* svg.h: charts that stand in a page, drawn with nothing but shapes.
 *
 * Colours and fonts are the page's, by classes: h0 to h11 for hues, "bar", "line", "axis", "mute". A chart is as wide as
 * its place. Texts are escaped here. Each has a title and a description for those who do not see it.
 */
#ifndef EDDY_BENCH_SVG_H
#define EDDY_BENCH_SVG_H

#include "figures.h"

#include <stdio.h>

#define SVG_HUES 12

/* A page's charts are numbered, so that their titles can be referred to. */
struct svg {
	FILE *file;
	unsigned count;
};

/* One bar: a name above it and, at its right, a value as it is to be read. */
struct svg_bar {
	const char *name;
	const char *value;
	const char *note;         /* behind the value, paler; NULL: none */
	struct estimate estimate; /* the bar, and its whisker */
	unsigned hue;
};

/* Draw bars below each other, all from zero to a common greatest value. */
void svg_bars(struct svg *svg, const char *title, const char *description,
	      const struct svg_bar *bars, size_t count);

struct svg_point {
	double x, y;
	double low, high; /* NAN: no whisker */
};

struct svg_line {
	const char *name;
	struct svg_point *points;
	size_t count;
	unsigned hue;
};

enum svg_scale {
	SVG_LINEAR, /* begins at zero */
	SVG_LOG,
	SVG_PERCENTILE, /* x is a share below 1; each step is a tenth of what the one before left over */
};

struct svg_axis {
	const char *title;
	enum svg_scale scale;
	enum unit unit;    /* of its numbers */
	bool is_at_points; /* a number below each x that there is, and nowhere else */
};

struct svg_chart {
	const char *title, *description;
	struct svg_axis x, y;
	const struct svg_line *lines;
	size_t count;
};

/* Draw lines, each with its name at its end. Points that a scale has no place for are left out; without any, nothing
 * is drawn. */
void svg_lines(struct svg *svg, const struct svg_chart *chart);

/* Begin and end a picture; for the parts of svg_*.c. */
void svg_begin(struct svg *svg, const char *class, const char *title, const char *description,
	       double width, double height);
void svg_end(struct svg *svg);

#endif
