/* eddy-bench compare: prints what became worse or better between two saved results. */
#include "compare.h"
#include "format.h"
#include "table.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_FEW 5

static const char *const kinds[CHANGE_KINDS] = {
	[CHANGE_NOT_JUDGED] = "not judged",
	[CHANGE_WORSE] = "worse",
	[CHANGE_BETTER] = "better",
	[CHANGE_NONE] = "as before",
};

static int usage(FILE *file)
{
	fputs("usage: eddy-bench compare OLD.json NEW.json [--all] [--tolerance PERCENT] [--markdown]\n"
	      "\n"
	      "Reports what became worse or better by more than noise. If both results have the same peer, the ratios to it are\n"
	      "compared, else the figures themselves.\n"
	      "  --all                also list what did not change\n"
	      "  --tolerance PERCENT  ignore smaller changes; default 3\n"
	      "  --markdown           print the table in Markdown\n"
	      "Exit status: 0: nothing is worse; 1: something is worse; 2: nothing could be compared.\n",
	      file);
	return file == stdout ? 0 : 2;
}

struct asked {
	bool all;
	enum table_form form;
	double tolerance;
};

static void add_side(struct table *table, const struct change *change, double value)
{
	char text[FORMAT_SIZE], name[FORMAT_LINE_SIZE];

	if (change->against)
		table_addf(table, "%s × %s", format_ratio(text, value),
			   format_cut(name, change->against, 20));
	else
		table_add(table,
			  format_value(text, figure_unit(change->figure, change->cell), value));
}

static void add_change(struct table *table, const struct change *change)
{
	char text[FORMAT_LINE_SIZE], ratio[FORMAT_SIZE];

	table_add(table, format_cut(text, change->cell->title, 60));
	table_add(table, format_cut(text, change->target->name, 30));
	table_add(table, change->figure->title);
	add_side(table, change, change->before);
	add_side(table, change, change->after);
	if (isnan(change->quotient.median))
		table_add(table, "–");
	else
		table_addf(table, "%s ×", format_ratio(ratio, change->quotient.median));
	table_add(table,
		  format_interval(text, change->figure, change->cell, true, &change->quotient));
	if (change->why)
		table_addf(table, "%s: %s", kinds[change->kind], change->why);
	else
		table_add(table, kinds[change->kind]);
	if (change->kind == CHANGE_WORSE)
		table_mark(table, kinds[change->kind]);
}

static void print_table(const struct comparison *comparison, const struct asked *asked)
{
	/* What is worse stands first. */
	static const enum change_kind order[] = { CHANGE_WORSE, CHANGE_BETTER, CHANGE_NONE,
						  CHANGE_NOT_JUDGED };
	struct table *table = table_new();
	size_t lines = 0;

	table_add_column(table, "what", TABLE_LEFT);
	table_add_column(table, "target", TABLE_LEFT);
	table_add_column(table, "figure", TABLE_LEFT);
	table_add_column(table, "before", TABLE_RIGHT);
	table_add_column(table, "after", TABLE_RIGHT);
	table_add_column(table, "change", TABLE_RIGHT);
	table_add_column(table, "99.9 % interval", TABLE_RIGHT);
	table_add_column(table, "verdict", TABLE_LEFT);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (!asked->all && order[i] != CHANGE_WORSE && order[i] != CHANGE_BETTER)
			continue;
		for (size_t j = 0; j < comparison->count; j++) {
			if (comparison->changes[j].kind != order[i])
				continue;
			add_change(table, &comparison->changes[j]);
			lines++;
		}
	}
	if (lines) {
		table_print(table, stdout, asked->form);
		putchar('\n');
	}
	table_free(table);
}

static void print_machine(const char *what, const struct machine *machine)
{
	printf("  %s: %s, %.0f processors, Linux %s, %s\n", what, machine->cpu ? machine->cpu : "?",
	       machine->processors, machine->kernel ? machine->kernel : "?",
	       machine->virtual ? machine->virtual : "not virtual");
}

/* The first word is said only if there is one. */
static void print_only(const char *what, const struct result *in, const struct result *not_in)
{
	const char *comma = what;

	for (size_t i = 0; i < in->cell_count; i++) {
		if (result_cell(not_in, in->cells[i]->name))
			continue;
		printf("%s%s", comma, in->cells[i]->name);
		comma = ", ";
	}
	if (comma != what)
		putchar('\n');
}

/* Three rounds lie apart from three others in one of ten cases, whatever is measured; five from five in one of 126. */
static void print_few_rounds(const struct comparison *comparison)
{
	size_t fewest = ROUNDS_FEW;

	for (size_t i = 0; i < comparison->count; i++)
		if (comparison->changes[i].quotient.count < fewest &&
		    comparison->changes[i].kind != CHANGE_NOT_JUDGED)
			fewest = comparison->changes[i].quotient.count;
	if (fewest < ROUNDS_FEW)
		printf("with only %zu rounds, some changes may be random\n", fewest);
}

/* Noise is known of each run alone: what a machine does all through one of them looks like the server's. */
static void print_alone(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->count; i++) {
		const struct change *change = &comparison->changes[i];

		if (change->kind != CHANGE_WORSE || change->against)
			continue;
		puts("changes without a peer in both runs may come from the machine: measure an "
		     "unchanged server as well");
		return;
	}
}

/* A yardstick that is another one says something else. */
static void print_versions(const struct result *before, const struct result *after)
{
	const char *said[RESULT_TARGETS_MAX];
	size_t count = 0, k;

	for (size_t i = 0; i < after->cell_count; i++) {
		const struct cell *cell = result_cell(before, after->cells[i]->name);

		for (size_t j = 0; cell && j < after->cells[i]->target_count; j++) {
			const struct target *new = after->cells[i]->targets[j];
			const struct target *old = cell_target(cell, new->name);

			for (k = 0; k < count && strcmp(said[k], new->name) != 0; k++)
				;
			if (k < count || count == RESULT_TARGETS_MAX || !old || !old->version ||
			    !new->version || strcmp(old->version, new->version) == 0)
				continue;
			said[count++] = new->name;
			printf("%s was %s and is %s\n", new->name, old->version, new->version);
		}
	}
}

static int compare(const struct result *before, const struct result *after,
		   const struct asked *asked)
{
	struct comparison *comparison = compare_results(before, after, asked->tolerance);
	size_t counts[CHANGE_KINDS] = { 0 };
	int status = 0;

	for (size_t i = 0; i < comparison->count; i++)
		counts[comparison->changes[i].kind]++;
	print_table(comparison, asked);
	print_versions(before, after);
	print_few_rounds(comparison);
	print_alone(comparison);
	if (comparison->is_other_machine) {
		puts("the machines differ; only ratios to a peer are judged:");
		print_machine("before", &before->machine);
		print_machine("after", &after->machine);
	}
	print_only("only before: ", before, after);
	print_only("only after: ", after, before);
	if (comparison->count == counts[CHANGE_NOT_JUDGED]) {
		puts("nothing can be compared");
		status = 2;
	} else {
		printf("%zu worse, %zu better, %zu as before, %zu not judged\n",
		       counts[CHANGE_WORSE], counts[CHANGE_BETTER], counts[CHANGE_NONE],
		       counts[CHANGE_NOT_JUDGED]);
		status = counts[CHANGE_WORSE] > 0;
	}
	comparison_free(comparison);
	return status;
}

/* A number of percent, all of it. Return: false where it is none. */
static bool read_percent(const char *text, double *ret_share)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || *end || !(percent >= 0 && percent <= 1000))
		return false;
	*ret_share = percent / 100;
	return true;
}

int compare_main(int argc, char **argv)
{
	static const struct option options[] = { { "all", no_argument, NULL, 'a' },
						 { "tolerance", required_argument, NULL, 't' },
						 { "markdown", no_argument, NULL, 'm' },
						 { "help", no_argument, NULL, 'h' },
						 { 0 } };
	struct asked asked = { .tolerance = COMPARE_TOLERANCE };
	struct result *before = NULL, *after = NULL;
	char error[RESULT_ERROR_SIZE];
	int option, status = 2;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'a')
			asked.all = true;
		else if (option == 'm')
			asked.form = TABLE_MARKDOWN;
		else if (option == 'h')
			return usage(stdout);
		else if (option != 't' || !read_percent(optarg, &asked.tolerance))
			return usage(stderr);
	}
	if (optind != argc - 2)
		return usage(stderr);
	if (result_load(argv[optind], &before, error) < 0 ||
	    result_load(argv[optind + 1], &after, error) < 0)
		fprintf(stderr, "eddy-bench: %s\n", error);
	else
		status = compare(before, after, &asked);
	result_free(before);
	result_free(after);
	return status;
}
