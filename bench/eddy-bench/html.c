#include "html.h"
#include "format.h"
#include "tables.h"

#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void element(FILE *file, const char *tag, const char *text)
{
	fprintf(file, "<%s>", tag);
	html_text(file, text);
	fprintf(file, "</%s>\n", tag);
}

/* What is allocated is freed. */
static void element_of(FILE *file, const char *tag, char *text)
{
	if (text && *text)
		element(file, tag, text);
	free(text);
}

static const char *title_of(const struct result *result)
{
	return result->title ? result->title : "What eddy-bench measured";
}

static void write_head(FILE *file, const struct result *result)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
	      "<meta charset=\"utf-8\"/>\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	      "<meta name=\"color-scheme\" content=\"light dark\"/>\n",
	      file);
	element(file, "title", title_of(result));
	/* Nothing in it is of HTML's. */
	fprintf(file, "<style>\n%s</style>\n</head>\n<body>\n", page_files[0].data);
}

/* A table that is wider than the page is moved by itself, with the keyboard too. */
static void write_wide(FILE *file, const struct table *table, const char *label)
{
	fputs("<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"", file);
	html_text(file, label);
	fputs("\">\n", file);
	table_print(table, file, TABLE_HTML);
	fputs("</div>\n", file);
}

static void write_summary(FILE *file, const struct result *result)
{
	struct table *table = tables_goals(result);

	fputs("<header>\n", file);
	element(file, "h1", title_of(result));
	if (result->when)
		element(file, "p", result->when);
	element_of(file, "p", tables_machine(result));
	element_of(file, "p", tables_settings(result));
	fputs("</header>\n<main>\n", file);
	for (size_t i = 0; i < result->remark_count; i++) {
		fputs("<p class=\"remark\">", file);
		html_text(file, result->remarks[i]);
		fputs("</p>\n", file);
	}
	if (!table)
		return;
	fputs("<section class=\"goals\">\n<h2>Goals</h2>\n", file);
	element_of(file, "p", tables_verdicts(result));
	table_print(table, file, TABLE_HTML);
	fputs("<p class=\"mute\">“Within noise”: the limit lies inside the 95 % interval, so another run may say "
	      "otherwise.</p>\n</section>\n",
	      file);
	table_free(table);
}

/* The ways to what follows: a page of many cells is long. */
static void write_nav(FILE *file, const struct result *result)
{
	const char *group;
	size_t at = 0;

	fputs("<nav aria-label=\"Parts\">\n", file);
	while (tables_next_group(result, &at, &group)) {
		fprintf(file, "<a href=\"#g%zu\">", at);
		html_text(file, group ? group : "Figures");
		fputs("</a>\n", file);
	}
	fputs("<a href=\"#all\">All figures</a>\n<a href=\"#how\">How to repeat it</a>\n</nav>\n",
	      file);
}

static void write_cell(struct svg *svg, const struct result *result, const struct cell *cell)
{
	FILE *file = svg->file;

	fputs("<article>\n", file);
	element(file, "h3", cell->title);
	fputs("<div class=\"charts\">\n", file);
	html_cell_charts(svg, result, cell);
	/* Where there is one chart of latency, remarks stand beside it. */
	fputs("</div>\n<div class=\"charts pairs\">\n", file);
	html_latency_charts(svg, result, cell);
	if (cell->remark_count) {
		fputs("<ul class=\"remarks\">\n", file);
		for (size_t i = 0; i < cell->remark_count; i++)
			element(file, "li", cell->remarks[i]);
		fputs("</ul>\n", file);
	}
	fputs("</div>\n</article>\n", file);
}

static void write_cells(struct svg *svg, const struct result *result)
{
	const char *group;
	size_t at = 0;

	while (tables_next_group(result, &at, &group)) {
		fprintf(svg->file, "<section id=\"g%zu\">\n", at);
		element(svg->file, "h2", group ? group : "Figures");
		for (size_t i = 0; i < result->cell_count; i++)
			if (tables_is_of(result->cells[i], group))
				write_cell(svg, result, result->cells[i]);
		fputs("</section>\n", svg->file);
	}
}

static void write_figures(FILE *file, const struct result *result)
{
	const char *group;
	size_t at = 0;

	fputs("<section id=\"all\">\n<h2>All figures</h2>\n<p>" TABLES_NOTE "</p>\n", file);
	while (tables_next_group(result, &at, &group)) {
		struct table *table = tables_figures(result, group, true);
		const char *title = group ? group : "Figures";

		element(file, "h3", title);
		write_wide(file, table, title);
		table_free(table);
	}
	fputs("</section>\n", file);
}

/* Who took part: once each, as the first cell has it. */
static struct table *targets_of(const struct result *result)
{
	struct table *table = table_new();

	table_add_column(table, "name", TABLE_LEFT);
	table_add_column(table, "version", TABLE_LEFT);
	table_add_column(table, "address", TABLE_LEFT);
	table_add_column(table, "command", TABLE_LEFT);
	for (size_t i = 0; i < result->cell_count; i++)
		for (size_t j = 0; j < result->cells[i]->target_count; j++) {
			const struct target *target = result->cells[i]->targets[j];
			bool is_known = false;

			for (size_t k = 0; k < i && !is_known; k++)
				is_known = cell_target(result->cells[k], target->name);
			if (is_known)
				continue;
			table_add(table, target->name);
			table_add(table, target->version);
			table_add(table, target->url);
			table_add(table, target->server.command);
		}
	return table;
}

static void write_settings(FILE *file, const struct result *result)
{
	struct table *table = targets_of(result);

	fputs("<section id=\"how\">\n<h2>Who took part, and how to repeat it</h2>\n", file);
	write_wide(file, table, "Who took part");
	table_free(table);
	if (result->machine.governor || result->machine.mitigations) {
		fputs("<p>", file);
		if (result->machine.governor) {
			fputs("The processor’s governor: ", file);
			html_text(file, result->machine.governor);
			fputs(". ", file);
		}
		if (result->machine.mitigations) {
			fputs("Mitigations: ", file);
			html_text(file, result->machine.mitigations);
			fputs(".", file);
		}
		fputs("</p>\n", file);
	}
	if (result->command) {
		fputs("<pre><code>", file);
		html_text(file, result->command);
		fputs("</code></pre>\n", file);
	}
	fputs("<p class=\"mute\">The JSON beside this page has every round. "
	      "<code>eddy-bench report</code> makes the page anew from it, "
	      "<code>eddy-bench compare</code> holds it against another.</p>\n</section>\n",
	      file);
}

void html_report(const struct result *result, FILE *file)
{
	struct svg svg = { .file = file };

	write_head(file, result);
	write_summary(file, result);
	write_nav(file, result);
	html_size_charts(&svg, result);
	write_cells(&svg, result);
	write_figures(file, result);
	write_settings(file, result);
	fputs("</main>\n</body>\n</html>\n", file);
}
