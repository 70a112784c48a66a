/* What stands in lines beside the tables: verdicts, the machine, settings. */
#include "format.h"
#include "must.h"
#include "tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is printed to the stream becomes *text. */
static FILE *open_text(char **text, size_t *size)
{
	return must(open_memstream(text, size));
}

char *tables_verdicts(const struct result *result)
{
	size_t counts[VERDICTS], size, all = tables_count(result, counts);
	const char *comma = ":";
	char *text;
	FILE *file;

	if (!all)
		return NULL;
	file = open_text(&text, &size);
	fprintf(file, "%zu goal%s", all, all == 1 ? "" : "s");
	for (int verdict = VERDICTS - 1; verdict >= 0; verdict--) {
		if (!counts[verdict])
			continue;
		fprintf(file, "%s %zu %s", comma, counts[verdict], verdict_title(verdict));
		comma = ";";
	}
	fclose(file);
	return text;
}

char *tables_machine(const struct result *result)
{
	const struct machine *machine = &result->machine;
	char *text, bytes[FORMAT_SIZE];
	size_t size;
	FILE *file = open_text(&text, &size);

	fputs(machine->cpu ? machine->cpu : "an unknown processor", file);
	if (machine->processors >= 1)
		fprintf(file, ", %.0f processor%s", machine->processors,
			machine->processors > 1 ? "s" : "");
	if (machine->memory_bytes > 0)
		fprintf(file, ", %s", format_bytes(bytes, machine->memory_bytes));
	if (machine->virtual)
		fprintf(file, ", virtual (%s)", machine->virtual);
	if (machine->kernel)
		fprintf(file, ", Linux %s", machine->kernel);
	if (!isnan(machine->load_before))
		fprintf(file, "; load %.1f before", machine->load_before);
	fclose(file);
	return text;
}

char *tables_settings(const struct result *result)
{
	const struct settings *settings = &result->settings;
	const char *gap = "";
	char *text;
	size_t size;
	FILE *file = open_text(&text, &size);

	if (settings->rounds >= 1 && settings->seconds > 0) {
		fprintf(file, "%.0f round%s of %g s each", settings->rounds,
			settings->rounds > 1 ? "s" : "", settings->seconds);
		gap = "; ";
	}
	if (settings->warmup > 0) {
		fprintf(file, "%s%g s of each were run before and are not counted", gap,
			settings->warmup);
		gap = "; ";
	}
	if (!isnan(settings->server_cpu) && !isnan(settings->client_cpu))
		fprintf(file, "%sthe server on processor %.0f, the client on processor %.0f", gap,
			settings->server_cpu, settings->client_cpu);
	fclose(file);
	return text;
}
