#include "print.h"
#include "tables.h"

#include <stdlib.h>

struct print {
	FILE *file;
	enum table_form form;
};

static void text(const struct print *print, const char *what)
{
	if (print->form == TABLE_MARKDOWN)
		markdown_text(print->file, what);
	else
		fputs(what, print->file);
}

static void heading(const struct print *print, const char *what)
{
	fputs(print->form == TABLE_MARKDOWN ? "\n## " : "\n", print->file);
	text(print, what);
	fputs(print->form == TABLE_MARKDOWN ? "\n\n" : "\n", print->file);
}

static void remark(const struct print *print, const char *of, const char *what)
{
	fputs("- ", print->file);
	if (of) {
		text(print, of);
		fputs(": ", print->file);
	}
	text(print, what);
	putc('\n', print->file);
}

static void print_head(const struct print *print, const struct result *result)
{
	char *machine = tables_machine(result), *settings = tables_settings(result);

	if (print->form == TABLE_MARKDOWN && result->title) {
		fputs("# ", print->file);
		text(print, result->title);
		fputs("\n\n", print->file);
	} else if (result->title) {
		fprintf(print->file, "%s\n", result->title);
	}
	if (result->when) {
		text(print, result->when);
		fputs(": ", print->file);
	}
	text(print, machine);
	fputs(".", print->file);
	if (*settings) {
		putc(print->form == TABLE_MARKDOWN ? ' ' : '\n', print->file);
		text(print, settings);
		fputs(".", print->file);
	}
	putc('\n', print->file);
	if (print->form == TABLE_MARKDOWN)
		fprintf(print->file, "\n%s\n", TABLES_NOTE);
	free(machine);
	free(settings);
}

static void print_figures(const struct print *print, const struct result *result)
{
	const char *group;
	size_t at = 0;

	while (tables_next_group(result, &at, &group)) {
		struct table *table = tables_figures(result, group, false);

		heading(print, group ? group : "Figures");
		table_print(table, print->file, print->form);
		table_free(table);
	}
}

static void print_remarks(const struct print *print, const struct result *result)
{
	size_t count = result->remark_count;

	for (size_t i = 0; i < result->cell_count; i++)
		count += result->cells[i]->remark_count;
	if (!count)
		return;
	heading(print, "Remarks");
	for (size_t i = 0; i < result->remark_count; i++)
		remark(print, NULL, result->remarks[i]);
	for (size_t i = 0; i < result->cell_count; i++)
		for (size_t j = 0; j < result->cells[i]->remark_count; j++)
			remark(print, result->cells[i]->title, result->cells[i]->remarks[j]);
}

static void print_goals(const struct print *print, const struct result *result)
{
	struct table *table = tables_goals(result);
	char *verdicts = tables_verdicts(result);

	if (table) {
		heading(print, "Goals");
		table_print(table, print->file, print->form);
		fprintf(print->file, "\n%s.\n", verdicts);
	}
	table_free(table);
	free(verdicts);
}

void print_report(const struct result *result, FILE *file, enum table_form form)
{
	const struct print print = { file, form };

	print_head(&print, result);
	print_figures(&print, result);
	print_remarks(&print, result);
	print_goals(&print, result);
}
