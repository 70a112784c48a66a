/* parked: what a task costs that waits, on a guarded stack of its own.
 *
 *     parked TASKS
 *
 * Spawns them; all wait for one event. Prints the resident bytes and the page tables of each, the
 * mappings that were added, and the processor time of the spawn and of the end of each.
 */
#include "micro.h"

#include <eddy/runtime.h>
#include <string.h>

static unsigned long tasks;

static int park(void *arg)
{
	return eddy_event_wait(arg);
}

static unsigned long long kib_of(const char *field)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long long kib = 0;
	char line[256];

	if (!file)
		micro_die("/proc/self/status");
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, field, strlen(field)) == 0)
			kib = strtoull(line + strlen(field) + 1, NULL, 10);
	fclose(file);
	return kib;
}

static unsigned mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned lines = 0;

	if (!file)
		micro_die("/proc/self/maps");
	for (int c; (c = getc(file)) != EOF;)
		lines += c == '\n';
	fclose(file);
	return lines;
}

static int all(void *arg)
{
	unsigned long long resident = kib_of("VmRSS:"), tables = kib_of("VmPTE:");
	unsigned before = mappings();
	struct micro begun = micro_begin(0);
	uint64_t spawned, ended;
	struct eddy_scope scope;
	struct eddy_event event;

	(void)arg;
	eddy_event_init(&event);
	eddy_scope_begin(&scope, NULL);
	for (unsigned long i = 0; i < tasks; i++) {
		int r = eddy_scope_spawn(&scope, "parked", park, &event);

		if (r < 0) {
			fprintf(stderr, "parked: task %lu: %s\n", i, strerror(-r));
			_Exit(1);
		}
	}
	/* They stand in the queue before us. */
	eddy_yield();
	spawned = micro_clock(CLOCK_PROCESS_CPUTIME_ID);
	printf("{\"bytes\": %.1f, \"table_bytes\": %.1f, \"mappings\": %u, ",
	       (double)(kib_of("VmRSS:") - resident) * 1024 / (double)tasks,
	       (double)(kib_of("VmPTE:") - tables) * 1024 / (double)tasks, mappings() - before);
	ended = micro_clock(CLOCK_PROCESS_CPUTIME_ID);
	eddy_event_set(&event);
	eddy_scope_join(&scope);
	ended = micro_clock(CLOCK_PROCESS_CPUTIME_ID) - ended;
	printf("\"cpu_ns\": %.1f, \"end_ns\": %.1f}\n",
	       (double)(spawned - begun.begun_cpu_ns) / (double)tasks,
	       (double)ended / (double)tasks);
	return eddy_scope_end(&scope);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: parked TASKS\n", stderr);
		return 2;
	}
	tasks = strtoul(argv[1], NULL, 10);
	return eddy_run(NULL, all, NULL) ? 1 : 0;
}
