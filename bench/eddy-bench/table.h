/* table.h: a table that is printed for a terminal, in Markdown or in HTML.
 *
 *     struct table *table = table_new();
 *     table_add_column(table, "server", TABLE_LEFT);
 *     table_add_column(table, "p99", TABLE_RIGHT);
 *     table_add(table, "eddy");
 *     table_add(table, "12.9 µs");
 *     table_print(table, stdout, TABLE_TEXT);
 *     table_free(table);
 *
 * Cells are added row by row. Where memory is out the process ends.
 */
#ifndef EDDY_BENCH_TABLE_H
#define EDDY_BENCH_TABLE_H

#include <stdio.h>

enum table_side { TABLE_LEFT, TABLE_RIGHT };
enum table_form { TABLE_TEXT, TABLE_MARKDOWN, TABLE_HTML };

struct table;

struct table *table_new(void);
void table_free(struct table *table);

/* Before the first cell. `title` is copied. */
void table_add_column(struct table *table, const char *title, enum table_side side);

/* The next cell. `text` is copied; it is escaped as the form has it. */
void table_add(struct table *table, const char *text);

/* The same of a printf; 1023 bytes at most. */
void table_addf(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Give the cell that was added last a class in HTML, and ** around it in Markdown. `name` is static. */
void table_mark(struct table *table, const char *name);

/* Print it, without columns that have nothing but "–" and ""; where no column is left, nothing. A column's cells have a title in HTML as `data-title`, so that
 * a narrow page can show rows one below the other. */
void table_print(const struct table *table, FILE *file, enum table_form form);

/* Write text as Markdown, or HTML: nothing in it is of that language. HTML's is fit for attributes as well. */
void markdown_text(FILE *file, const char *text);
void html_text(FILE *file, const char *text);

#endif
