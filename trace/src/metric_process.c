/* Figures of this process from /proc. */
#include "metric.h"

#include <dirent.h>
#include <eddy/internal/loop.h>
#include <eddy/internal/outside.h>
#include <eddy/internal/proc.h>
#include <eddy/stats.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void read_memory(struct eddyi_process_figures *figures)
{
	uint64_t page = (uint64_t)eddyi_sysconf_now(_SC_PAGESIZE);
	unsigned long long mapped = 0, resident = 0;
	char text[256];

	eddyi_proc_read(text, sizeof(text), "/proc/self/statm");
	sscanf(text, "%llu %llu", &mapped, &resident);
	figures->mapped = mapped * page;
	figures->resident = resident * page;
}

/* ---- descriptors ---- */

static uint64_t count_entries(const char *path)
{
	DIR *dir = eddyi_opendir_now(path);
	struct dirent *entry;
	uint64_t count = 0;

	if (!dir)
		return 0;
	while ((entry = eddyi_readdir_now(dir)))
		count += entry->d_name[0] != '.';
	eddyi_closedir_now(dir);
	return count;
}

static void read_descriptors(struct eddyi_process_figures *figures)
{
	struct rlimit limit = { 0, 0 };
	uint64_t count;
	struct stat st;

	/* Since Linux 6.2 its size is the count. A listing includes its own descriptor. */
	if (eddyi_stat_now("/proc/self/fd", &st) == 0 && st.st_size > 0)
		figures->descriptors = (uint64_t)st.st_size;
	else if ((count = count_entries("/proc/self/fd")))
		figures->descriptors = count - 1;
	eddyi_getrlimit_now(RLIMIT_NOFILE, &limit);
	figures->descriptors_max = limit.rlim_cur;
}

/* ---- threads ---- */

static void read_threads(struct eddyi_process_figures *figures)
{
	figures->threads = count_entries("/proc/self/task");
	figures->io_workers = eddyi_stats_io_workers();
}

/* ---- start time ---- */

static uint64_t started_ms;

/* Field 22: ticks since boot. The name in parentheses may contain blanks and parentheses. */
static void read_start(void)
{
	char text[1024], *at;
	unsigned long long ticks = 0;
	uint64_t boot = eddyi_clock(CLOCK_REALTIME) - eddyi_clock(CLOCK_BOOTTIME);

	eddyi_proc_read(text, sizeof(text), "/proc/self/stat");
	at = strrchr(text, ')');
	for (int i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	if (at)
		ticks = strtoull(at, NULL, 10);
	started_ms = boot / EDDY_MS + ticks * 1000 / (uint64_t)eddyi_sysconf_now(_SC_CLK_TCK);
}

void eddyi_process_figures_read(struct eddyi_process_figures *ret_figures)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	/* Once, as the clock may be set later. */
	pthread_once(&once, read_start);
	ret_figures->started_ms = started_ms;
	ret_figures->cpu_ns = eddyi_clock(CLOCK_PROCESS_CPUTIME_ID);
	read_memory(ret_figures);
	read_descriptors(ret_figures);
	read_threads(ret_figures);
}
