#include "report.h"
#include "result.h"

#include <getopt.h>
#include <stdio.h>

static int usage(void)
{
	fputs("usage: eddy-bench report RESULT.json [--json FILE]\n", stderr);
	return 2;
}

int report_main(int argc, char **argv)
{
	static const struct option options[] = { { "json", required_argument, NULL, 'j' }, { 0 } };
	char error[RESULT_ERROR_SIZE];
	const char *json = NULL;
	struct result *result;
	int option, r;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option != 'j')
			return usage();
		json = optarg;
	}
	if (optind != argc - 1)
		return usage();
	if (result_load(argv[optind], &result, error) < 0) {
		fprintf(stderr, "eddy-bench: %s\n", error);
		return 2;
	}
	r = json ? result_save(result, json, error) : 0;
	if (r < 0)
		fprintf(stderr, "eddy-bench: %s\n", error);
	result_free(result);
	return r < 0 ? 2 : 0;
}
