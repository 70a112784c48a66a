/* Charts of bars, with whiskers; and how every picture begins and ends. */
#include "format.h"
#include "svg.h"
#include "table.h"

#include <math.h>
#include <string.h>

#define WIDTH 360.0
#define ROW 36.0
#define BAR_TOP 19.0
#define BAR_HEIGHT 11.0
#define NAME_CHARACTERS 34
#define WHISKER_MAX 1.5 /* of the longest bar */
#define ROOM 348.0      /* of the longest bar or whisker */
#define BAR_MAX 3.0     /* of the second longest bar, where there are more than two */
#define BREAK 12.0      /* from the end of a bar that leaves the picture */

void svg_begin(struct svg *svg, const char *class, const char *title, const char *description,
	       double width, double height)
{
	unsigned id = ++svg->count;

	fprintf(svg->file,
		"<svg class=\"%s\" viewBox=\"0 0 %g %g\" role=\"img\" aria-labelledby=\"t%u d%u\">"
		"<title id=\"t%u\">",
		class, width, height, id, id, id);
	html_text(svg->file, title);
	fprintf(svg->file, "</title><desc id=\"d%u\">", id);
	html_text(svg->file, description);
	fputs("</desc>\n", svg->file);
}

void svg_end(struct svg *svg)
{
	fputs("</svg>\n", svg->file);
}

/* What the chart has room for. One whisker that is far longer than all bars would leave nothing of these: it goes out of
 * the picture, and ends in an arrow. So does one bar that is far longer than the others, and is broken. */
static double greatest(const struct svg_bar *bars, size_t count)
{
	double bar = 0, second = 0, whisker = 0;

	for (size_t i = 0; i < count; i++) {
		if (isnan(bars[i].estimate.median))
			continue;
		second = fmax(second, fmin(bar, bars[i].estimate.median));
		bar = fmax(bar, bars[i].estimate.median);
	}
	if (count > 2 && second > 0)
		bar = fmin(bar, BAR_MAX * second);
	for (size_t i = 0; i < count; i++)
		/* fmax() passes over what is NAN. */
		if (!(bars[i].estimate.median > bar))
			whisker = fmax(whisker, bars[i].estimate.high);
	return fmax(bar, fmin(whisker, WHISKER_MAX * bar));
}

/* Its end is not where it seems to be: what it says stands above it. */
static void draw_broken(FILE *file, double top)
{
	fprintf(file,
		"<rect class=\"bar\" x=\"0\" y=\"%.1f\" width=\"%g\" height=\"%g\"/>"
		"<path class=\"halo\" d=\"M%g %.1fl-5 %gm7 0l5 -%g\"/>",
		top, WIDTH, BAR_HEIGHT, WIDTH - BREAK, top, BAR_HEIGHT, BAR_HEIGHT);
}

/* An interval that is narrower than its own ends would be a blot, and says nothing. */
static void draw_whisker(FILE *file, const struct estimate *estimate, double scale, double top)
{
	double low = fmin(fmax(estimate->low, 0) * scale, ROOM);
	double high = estimate->high * scale;
	double upper = top + 1, middle = top + BAR_HEIGHT / 2, lower = top + BAR_HEIGHT - 1;

	if (!(high >= low))
		return;
	for (int i = 0; i < 2; i++) {
		fprintf(file, "<path class=\"%s\" d=\"M%.1f %.1fV%.1fM%.1f %.1fH%.1f",
			i ? "whisker" : "halo", low, upper, lower, low, middle,
			high > ROOM + 0.5 ? WIDTH - 1 : high);
		if (high > ROOM + 0.5)
			fprintf(file, "M%.1f %.1fL%.1f %.1fL%.1f %.1f\"/>", WIDTH - 6, upper,
				WIDTH - 1, middle, WIDTH - 6, lower);
		else
			fprintf(file, "M%.1f %.1fV%.1f\"/>", high, upper, lower);
	}
}

static void draw_bar(FILE *file, const struct svg_bar *bar, double scale, double top)
{
	char name[FORMAT_LINE_SIZE];

	fprintf(file, "<g class=\"h%u\"><text x=\"0\" y=\"%.1f\">", bar->hue % SVG_HUES, top + 14);
	html_text(file, format_cut(name, bar->name, NAME_CHARACTERS));
	fprintf(file, "</text><text x=\"%g\" y=\"%.1f\" class=\"end\">", WIDTH, top + 14);
	html_text(file, bar->value);
	if (bar->note) {
		fputs("<tspan class=\"mute\">  ", file);
		html_text(file, bar->note);
		fputs("</tspan>", file);
	}
	fputs("</text>", file);
	fprintf(file, "<rect class=\"ground\" x=\"0\" y=\"%.1f\" width=\"%g\" height=\"%g\"/>",
		top + BAR_TOP, WIDTH, BAR_HEIGHT);
	if (bar->estimate.median * scale > ROOM + 0.5) {
		draw_broken(file, top + BAR_TOP);
		fputs("</g>\n", file);
		return;
	}
	if (bar->estimate.median > 0 && scale > 0)
		fprintf(file,
			"<rect class=\"bar\" x=\"0\" y=\"%.1f\" width=\"%.1f\" height=\"%g\"/>",
			top + BAR_TOP, bar->estimate.median * scale, BAR_HEIGHT);
	if (scale > 0)
		draw_whisker(file, &bar->estimate, scale, top + BAR_TOP);
	fputs("</g>\n", file);
}

void svg_bars(struct svg *svg, const char *title, const char *description,
	      const struct svg_bar *bars, size_t count)
{
	double most = greatest(bars, count), scale = most > 0 ? ROOM / most : 0;

	svg_begin(svg, "bars", title, description, WIDTH, ROW * count);
	for (size_t i = 0; i < count; i++)
		draw_bar(svg->file, &bars[i], scale, ROW * i);
	svg_end(svg);
}
