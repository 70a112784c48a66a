#include "report.h"
#include "html.h"
#include "print.h"
#include "remarks.h"
#include "result.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static int usage(FILE *out)
{
	fputs("usage: eddy-bench report RESULT.json [--html FILE] [--markdown FILE] [--json FILE]\n"
	      "\n"
	      "Prints a saved result, or writes it to files; a FILE of - is stdout.\n"
	      "  --html FILE      a page with charts\n"
	      "  --markdown FILE  tables\n"
	      "  --json FILE      the result, with all derived figures\n",
	      out);
	return out == stdout ? 0 : 2;
}

static int save_print(const struct result *result, const char *path, enum table_form form,
		      char error[RESULT_ERROR_SIZE])
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	int r;

	if (file && form == TABLE_HTML)
		html_report(result, file);
	else if (file)
		print_report(result, file, form);
	if (!file || ferror(file) | fclose(file)) {
		snprintf(error, RESULT_ERROR_SIZE, "out of memory");
		r = -1;
	} else {
		r = save_file(path, text, size, error);
	}
	free(text);
	return r;
}

int report_write(struct result *result, const struct report_files *files,
		 char error[RESULT_ERROR_SIZE])
{
	int r = 0;

	/* What was measured is not to be lost: one that fails keeps no other back. */
	remarks_derive(result);
	if (files->json)
		r |= result_save(result, files->json, error);
	if (files->html)
		r |= save_print(result, files->html, TABLE_HTML, error);
	if (files->markdown)
		r |= save_print(result, files->markdown, TABLE_MARKDOWN, error);
	if (files->text)
		r |= save_print(result, files->text, TABLE_TEXT, error);
	return r ? -1 : 0;
}

int report_check(const struct report_files *files, char error[RESULT_ERROR_SIZE])
{
	const char *const paths[] = { files->json, files->html, files->markdown };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (paths[i] && save_check(paths[i], error) < 0)
			return -1;
		for (size_t j = 0; paths[i] && j < i; j++) {
			if (!paths[j] || strcmp(paths[i], paths[j]) != 0)
				continue;
			snprintf(error, RESULT_ERROR_SIZE,
				 "%.255s: two reports can't be written to the same file", paths[i]);
			return -1;
		}
	}
	return 0;
}

int report_main(int argc, char **argv)
{
	static const struct option options[] = { { "html", required_argument, NULL, 'h' },
						 { "markdown", required_argument, NULL, 'm' },
						 { "json", required_argument, NULL, 'j' },
						 { "help", no_argument, NULL, 'e' },
						 { 0 } };
	struct report_files files = { 0 };
	char error[RESULT_ERROR_SIZE];
	struct result *result;
	int option, r;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'h')
			files.html = optarg;
		else if (option == 'm')
			files.markdown = optarg;
		else if (option == 'j')
			files.json = optarg;
		else
			return usage(option == 'e' ? stdout : stderr);
	}
	if (optind != argc - 1)
		return usage(stderr);
	if (!files.html && !files.markdown && !files.json)
		files.text = "-";
	r = report_check(&files, error);
	if (!r)
		r = result_load(argv[optind], &result, error);
	if (!r) {
		r = report_write(result, &files, error);
		result_free(result);
	}
	if (r < 0)
		fprintf(stderr, "eddy-bench: %s\n", error);
	return r < 0 ? 2 : 0;
}
