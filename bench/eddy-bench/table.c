#include "table.h"
#include "format.h"
#include "must.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 32
#define GAP "  "

struct entry {
	char *text;
	const char *mark;
};

struct table {
	struct {
		char *title;
		enum table_side side;
	} columns[COLUMNS_MAX];
	size_t column_count;
	struct entry *entries;
	size_t entry_count, entry_room;
};

struct table *table_new(void)
{
	return must(calloc(1, sizeof(struct table)));
}

void table_free(struct table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->column_count; i++)
		free(table->columns[i].title);
	for (size_t i = 0; i < table->entry_count; i++)
		free(table->entries[i].text);
	free(table->entries);
	free(table);
}

void table_add_column(struct table *table, const char *title, enum table_side side)
{
	if (table->column_count == COLUMNS_MAX)
		abort();
	table->columns[table->column_count].title = must(strdup(title));
	table->columns[table->column_count++].side = side;
}

void table_add(struct table *table, const char *text)
{
	if (table->entry_count == table->entry_room) {
		table->entry_room = table->entry_room ? 2 * table->entry_room : 64;
		table->entries =
			must(realloc(table->entries, table->entry_room * sizeof(*table->entries)));
	}
	table->entries[table->entry_count++] =
		(struct entry){ must(strdup(text ? text : "")), NULL };
}

void table_addf(struct table *table, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	table_add(table, text);
}

void table_mark(struct table *table, const char *name)
{
	table->entries[table->entry_count - 1].mark = name;
}

static const struct entry *entry_at(const struct table *table, size_t row, size_t column)
{
	return &table->entries[row * table->column_count + column];
}

static size_t row_count(const struct table *table)
{
	return table->column_count ? table->entry_count / table->column_count : 0;
}

static bool is_empty(const struct table *table, size_t column)
{
	for (size_t row = 0; row < row_count(table); row++) {
		const char *text = entry_at(table, row, column)->text;

		if (*text && strcmp(text, "–") != 0)
			return false;
	}
	return true;
}

void markdown_text(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_{}[]<>#|~&", *text))
			putc('\\', file);
		putc(*text, file);
	}
}

void html_text(FILE *file, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", file);
			break;
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		case '"':
			fputs("&quot;", file);
			break;
		case '\'':
			fputs("&#39;", file);
			break;
		default:
			putc(*text, file);
		}
	}
}

static size_t column_width(const struct table *table, size_t column)
{
	size_t width = format_width(table->columns[column].title);

	for (size_t row = 0; row < row_count(table); row++) {
		size_t of_cell = format_width(entry_at(table, row, column)->text);

		if (of_cell > width)
			width = of_cell;
	}
	return width;
}

/* Nothing is left behind the last column of a line. */
static void print_padded(FILE *file, const char *text, size_t width, enum table_side side,
			 bool is_last)
{
	size_t pad = width - format_width(text);

	if (side == TABLE_RIGHT)
		fprintf(file, "%*s%s", (int)pad, "", text);
	else
		fprintf(file, "%s%*s", text, is_last ? 0 : (int)pad, "");
}

/* The row before the first is that of the titles. */
static void print_line(const struct table *table, FILE *file, ssize_t row, const size_t *widths)
{
	size_t last = 0;

	for (size_t i = 0; i < table->column_count; i++)
		if (widths[i] && (row < 0 || *entry_at(table, (size_t)row, i)->text))
			last = i;
	for (size_t i = 0; i <= last; i++) {
		const char *text = row < 0 ? table->columns[i].title :
					     entry_at(table, (size_t)row, i)->text;

		if (!widths[i])
			continue;
		print_padded(file, text, widths[i], table->columns[i].side, i == last);
		if (i < last)
			fputs(GAP, file);
	}
	putc('\n', file);
}

static void print_text(const struct table *table, FILE *file)
{
	size_t widths[COLUMNS_MAX];

	for (size_t i = 0; i < table->column_count; i++)
		widths[i] = is_empty(table, i) ? 0 : column_width(table, i);
	for (ssize_t row = -1; row < (ssize_t)row_count(table); row++)
		print_line(table, file, row, widths);
}

static void print_markdown(const struct table *table, FILE *file)
{
	for (size_t i = 0; i < table->column_count; i++) {
		if (is_empty(table, i))
			continue;
		fputs("| ", file);
		markdown_text(file, table->columns[i].title);
		putc(' ', file);
	}
	fputs("|\n", file);
	for (size_t i = 0; i < table->column_count; i++)
		if (!is_empty(table, i))
			fputs(table->columns[i].side == TABLE_RIGHT ? "|--:" : "|---", file);
	fputs("|\n", file);
	for (size_t row = 0; row < row_count(table); row++) {
		for (size_t i = 0; i < table->column_count; i++) {
			const struct entry *entry = entry_at(table, row, i);

			if (is_empty(table, i))
				continue;
			fputs(entry->mark ? "| **" : "| ", file);
			markdown_text(file, entry->text);
			fputs(entry->mark ? "** " : " ", file);
		}
		fputs("|\n", file);
	}
}

/* A number stays beside its unit; what is behind it in brackets may go below. */
static void html_number(FILE *file, const char *text)
{
	char one[2] = "";

	for (; *text; text++) {
		one[0] = *text;
		if (*text == ' ' && text[1] != '(')
			fputs("&#160;", file);
		else
			html_text(file, one);
	}
}

static void print_html_cell(const struct table *table, FILE *file, size_t row, size_t column)
{
	const struct entry *entry = entry_at(table, row, column);
	const char *tag = column ? "td" : "th";

	fprintf(file, "<%s%s data-title=\"", tag, column ? "" : " scope=\"row\"");
	html_text(file, table->columns[column].title);
	putc('"', file);
	if (entry->mark || table->columns[column].side == TABLE_RIGHT)
		fprintf(file, " class=\"%s%s%s\"", entry->mark ? entry->mark : "",
			entry->mark && table->columns[column].side == TABLE_RIGHT ? " " : "",
			table->columns[column].side == TABLE_RIGHT ? "n" : "");
	putc('>', file);
	if (table->columns[column].side == TABLE_RIGHT)
		html_number(file, entry->text);
	else
		html_text(file, entry->text);
	fprintf(file, "</%s>", tag);
}

static void print_html(const struct table *table, FILE *file)
{
	fputs("<table>\n<thead><tr>", file);
	for (size_t i = 0; i < table->column_count; i++) {
		if (is_empty(table, i))
			continue;
		fprintf(file, "<th scope=\"col\"%s>",
			table->columns[i].side == TABLE_RIGHT ? " class=\"n\"" : "");
		html_text(file, table->columns[i].title);
		fputs("</th>", file);
	}
	fputs("</tr></thead>\n<tbody>\n", file);
	for (size_t row = 0; row < row_count(table); row++) {
		fputs("<tr>", file);
		for (size_t i = 0; i < table->column_count; i++)
			if (!is_empty(table, i))
				print_html_cell(table, file, row, i);
		fputs("</tr>\n", file);
	}
	fputs("</tbody>\n</table>\n", file);
}

void table_print(const struct table *table, FILE *file, enum table_form form)
{
	size_t column = 0;

	while (column < table->column_count && is_empty(table, column))
		column++;
	if (column == table->column_count)
		return;
	if (form == TABLE_TEXT)
		print_text(table, file);
	else if (form == TABLE_MARKDOWN)
		print_markdown(table, file);
	else
		print_html(table, file);
}
