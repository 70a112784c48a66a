/* Fuzzes bench/eddy-bench/result.h, and what is made of a result that strangers wrote: reports and comparisons. */
#include "compare.h"
#include "html.h"
#include "print.h"
#include "remarks.h"
#include "result.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *report(const struct result *result, enum table_form form)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		abort();
	if (form == TABLE_HTML)
		html_report(result, file);
	else
		print_report(result, file, form);
	if (fclose(file) != 0 || strlen(text) != size)
		abort();
	return text;
}

/* Elements stand within each other, and no text of the result is taken for one. */
static void check_elements(const char *html)
{
	size_t depth = 0;

	while ((html = strchr(html, '<'))) {
		const char *tag = html + 1, *end = strchr(tag, '>');
		size_t quotes = 0;

		if (!end || end == tag)
			abort();
		for (const char *at = tag; at < end; at++) {
			quotes += *at == '"';
			if (*at == '<')
				abort();
		}
		if (quotes % 2)
			abort();
		if (*tag == '/' && depth-- == 0)
			abort();
		else if (*tag != '/' && *tag != '!' && end[-1] != '/')
			depth++;
		html = end;
	}
	if (depth)
		abort();
}

static struct result *parsed(const char *path)
{
	char error[RESULT_ERROR_SIZE], *bytes = NULL;
	size_t size = 0;
	FILE *file = fopen(path, "r");
	struct result *result;
	ssize_t len;

	if (!file)
		abort();
	len = getdelim(&bytes, &size, 0, file);
	if (len <= 0 || result_parse(path, bytes, (size_t)len, &result, error) < 0)
		abort();
	fclose(file);
	free(bytes);
	return result;
}

/* What was saved can be read, and says the same. */
static struct result *saved(const struct result *result)
{
	char error[RESULT_ERROR_SIZE], path[] = "/tmp/eddy-fuzz-XXXXXX";
	int fd = mkstemp(path);
	struct result *again;

	if (fd < 0 || result_save(result, path, error) < 0)
		abort();
	close(fd);
	again = parsed(path);
	remarks_derive(again);
	unlink(path);
	if (again->cell_count != result->cell_count || again->remark_count != result->remark_count)
		abort();
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct cell *cell = result_cell(again, result->cells[i]->name);

		if (!cell || cell->remark_count != result->cells[i]->remark_count ||
		    cell->target_count != result->cells[i]->target_count ||
		    cell->goal_count != result->cells[i]->goal_count)
			abort();
	}
	return again;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char error[RESULT_ERROR_SIZE] = "", *html;
	struct result *result, *again;
	int r = result_parse("a.json", (const char *)data, size, &result, error);

	if (r < 0) {
		if (r != -EBADMSG || !*error || strchr(error, '\n'))
			abort();
		return 0;
	}
	remarks_derive(result);
	again = saved(result);
	html = report(result, TABLE_HTML);
	check_elements(html);
	free(html);
	free(report(result, TABLE_MARKDOWN));
	free(report(result, TABLE_TEXT));
	comparison_free(compare_results(result, again, COMPARE_TOLERANCE));
	result_free(again);
	result_free(result);
	return 0;
}
