/* Tests of bench/eddy-bench/table.h. */
#include "table.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static char *printed(const struct table *table, enum table_form form)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	table_print(table, file, form);
	fclose(file);
	return text;
}

static struct table *table_of(void)
{
	struct table *table = table_new();

	table_add_column(table, "what", TABLE_LEFT);
	table_add_column(table, "none", TABLE_RIGHT);
	table_add_column(table, "p|99", TABLE_RIGHT);
	table_add_column(table, "verdict", TABLE_LEFT);
	table_add(table, "a × <b>");
	table_add(table, "–");
	table_addf(table, "%d µs (1–2)", 12);
	table_add(table, "met");
	table_mark(table, "met");
	table_add(table, "c");
	table_add(table, NULL);
	table_add(table, "3 µs");
	table_add(table, "");
	return table;
}

static void expect_printed(enum table_form form, const char *expected)
{
	struct table *table = table_of();
	char *text = printed(table, form);

	cr_expect_str_eq(text, expected);
	free(text);
	table_free(table);
}

Test(table, is_aligned_for_a_terminal)
{
	expect_printed(TABLE_TEXT, "what            p|99  verdict\n"
				   "a × <b>  12 µs (1–2)  met\n"
				   "c               3 µs\n");
}

Test(table, is_markdown)
{
	expect_printed(TABLE_MARKDOWN, "| what | p\\|99 | verdict |\n"
				       "|---|--:|---|\n"
				       "| a × \\<b\\> | 12 µs (1–2) | **met** |\n"
				       "| c | 3 µs |  |\n");
}

Test(table, is_html)
{
	expect_printed(
		TABLE_HTML,
		"<table>\n<thead><tr><th scope=\"col\">what</th><th scope=\"col\" class=\"n\">p|99</th>"
		"<th scope=\"col\">verdict</th></tr></thead>\n<tbody>\n"
		"<tr><th scope=\"row\" data-title=\"what\">a × &lt;b&gt;</th>"
		"<td data-title=\"p|99\" class=\"n\">12&#160;µs (1–2)</td>"
		"<td data-title=\"verdict\" class=\"met\">met</td></tr>\n"
		"<tr><th scope=\"row\" data-title=\"what\">c</th>"
		"<td data-title=\"p|99\" class=\"n\">3&#160;µs</td><td data-title=\"verdict\"></td></tr>\n"
		"</tbody>\n</table>\n");
}

Test(table, escapes)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	html_text(file, "<&>\"'é");
	markdown_text(file, " `*_{}[]<>#|~&\\ é.-");
	fclose(file);
	cr_expect_str_eq(
		text, "&lt;&amp;&gt;&quot;&#39;é \\`\\*\\_\\{\\}\\[\\]\\<\\>\\#\\|\\~\\&\\\\ é.-");
	free(text);
}

Test(table, may_be_empty)
{
	struct table *table = table_new();
	char *text = printed(table, TABLE_TEXT);

	cr_expect_str_eq(text, "");
	free(text);
	table_free(table);
	table_free(NULL);
}
