/* report.h: what is in a result, said in whatever form is asked for; `eddy-bench report`. */
#ifndef EDDY_BENCH_REPORT_H
#define EDDY_BENCH_REPORT_H

#include "result.h"

/* Where it goes to; NULL: not in that form, "-": stdout. */
struct report_files {
	const char *text;
	const char *markdown;
	const char *html;
	const char *json;
};

/* Derive the remarks, and write each file, also where another could not be. Return: 0, or below, and a line in `error`. */
int report_write(struct result *result, const struct report_files *files,
		 char error[RESULT_ERROR_SIZE]);

/* See whether all of them can be written, each somewhere else, before much is measured. Return: 0, or below, and a line in `error`. */
int report_check(const struct report_files *files, char error[RESULT_ERROR_SIZE]);

/* Run it; argv[0] is the word itself. Return: an exit status. */
int report_main(int argc, char **argv);

#endif
