/* eddy's own metrics, except those of requests, and the text of all metrics. */
#include "metric.h"

#include <dirent.h>
#include <eddy/internal/figure.h>
#include <eddy/internal/loop.h>
#include <eddy/internal/outside.h>
#include <eddy/internal/proc.h>
#include <eddy/log_writer.h>
#include <eddy/offload.h>
#include <eddy/scope.h>
#include <eddy/stats.h>
#include <eddy/task.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The wait for a thread of the offload pool. */
#define PATIENCE_NS (EDDY_SECOND / 4)

/* ---- figures of the process ---- */

/* Figures of this process from /proc; read on a plain thread. */
struct figures {
	uint64_t cpu_ns;
	uint64_t resident; /* bytes */
	uint64_t mapped;   /* bytes */
	uint64_t descriptors;
	uint64_t descriptors_max;
	uint64_t started_ms; /* since 1970 */
	uint64_t threads;
	uint64_t io_workers; /* io_uring worker threads among them */
};

static void read_memory(struct figures *figures)
{
	uint64_t page = (uint64_t)eddyi_sysconf_now(_SC_PAGESIZE);
	unsigned long long mapped = 0, resident = 0;
	char text[256];

	eddyi_proc_read(text, sizeof(text), "/proc/self/statm");
	sscanf(text, "%llu %llu", &mapped, &resident);
	figures->mapped = mapped * page;
	figures->resident = resident * page;
}

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

static void read_descriptors(struct figures *figures)
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

static void read_threads(struct figures *figures)
{
	figures->threads = count_entries("/proc/self/task");
	figures->io_workers = eddyi_stats_io_workers();
}

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

static void read_figures(struct figures *ret_figures)
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

/* ---- values ---- */

/* Values read at one moment, for the text written on this thread. */
struct snapshot {
	struct eddy_stats stats;
	struct figures process;
	uint64_t loops;
	uint64_t offload_threads;
	uint64_t offload_running;
	uint64_t offload_queued;
	uint64_t offload_short_running;
	uint64_t offload_short_queued;
	uint64_t spliced_in_here; /* excluding `written_by_ring` */
	uint64_t records_dropped;
	bool has_process;
};

static _Thread_local const struct snapshot *now;

static int read_now(void *arg, uint64_t *ret_value)
{
	if (!now)
		return -EAGAIN;
	*ret_value = *(const uint64_t *)((const char *)now + (uintptr_t)arg);
	return 0;
}

static int read_process(void *arg, uint64_t *ret_value)
{
	return now && now->has_process ? read_now(arg, ret_value) : -EAGAIN;
}

static int read_one(void *arg, uint64_t *ret_value)
{
	(void)arg;
	*ret_value = 1;
	return 0;
}

/* ---- definitions ---- */

struct own {
	const char *name;
	const char *help;
	enum eddy_metric_type type;
	size_t at; /* offset of a uint64_t */
	unsigned decimals;
	struct eddy_metric_label labels[3];
};

#define AT(member) offsetof(struct snapshot, member)
#define NO_LABEL                                                                                   \
	{                                                                                          \
		{                                                                                  \
			NULL, NULL                                                                 \
		}                                                                                  \
	}
#define COUNTER(name, member, help)                                                                \
	{                                                                                          \
		name, help, EDDY_METRIC_COUNTER, AT(member), 0, NO_LABEL                           \
	}
#define GAUGE(name, member, help)                                                                  \
	{                                                                                          \
		name, help, EDDY_METRIC_GAUGE, AT(member), 0, NO_LABEL                             \
	}
#define MOVED(to, by, member)                                                                      \
	{                                                                                          \
		"eddy_transfer_bytes_total", "Bytes of files and relayed streams transferred.",    \
			EDDY_METRIC_COUNTER, AT(member), 0,                                        \
		{                                                                                  \
			{ "direction", to }, { "technique", by }, { NULL, NULL },                  \
		}                                                                                  \
	}

static const struct own of_process[] = {
	{ "process_cpu_seconds_total", "Processor time of all threads, user and system.",
	  EDDY_METRIC_COUNTER, AT(process.cpu_ns), 9, NO_LABEL },
	{ "process_start_time_seconds", "Start time of the process, in seconds since 1970.",
	  EDDY_METRIC_GAUGE, AT(process.started_ms), 3, NO_LABEL },
	GAUGE("process_resident_memory_bytes", process.resident, "Resident memory."),
	GAUGE("process_virtual_memory_bytes", process.mapped, "Address space."),
	GAUGE("process_open_fds", process.descriptors, "Open descriptors."),
	GAUGE("process_max_fds", process.descriptors_max, "Limit of open descriptors."),
	GAUGE("process_threads", process.threads, "Threads, including those of eddy_io_workers."),
	GAUGE("eddy_io_workers", process.io_workers,
	      "Kernel worker threads (iou-wrk), which run the blocking operations of the rings."),
};

static const struct own of_runtime[] = {
	GAUGE("eddy_loops", loops, "Running loops, each a thread with a ring."),
	GAUGE("eddy_io_workers_max", stats.loop.io_workers_max,
	      "Limit of eddy_io_workers, the sum over all loops."),
	COUNTER("eddy_loop_turns_total", stats.loop.turns,
		"Rounds of tasks, messages, timers and completions."),
	COUNTER("eddy_loop_enters_total", stats.loop.enters,
		"System calls that submit entries or wait for completions."),
	COUNTER("eddy_loop_messages_total", stats.loop.messages, "Messages delivered to loops."),
	COUNTER("eddy_loop_timers_total", stats.loop.timers_fired, "Timers that have fired."),
	COUNTER("eddy_loop_stalls_total", stats.loop.stalls,
		"Times that a task held its loop for longer than stall_ns; 0 if that is not set."),
	GAUGE("eddy_tasks", stats.loop.tasks, "Live tasks."),
	GAUGE("eddy_tasks_pooled", stats.loop.tasks_pooled, "Pooled stacks, for later tasks."),
	COUNTER("eddy_tasks_spawned_total", stats.loop.tasks_spawned, "Spawned tasks."),
	COUNTER("eddy_task_switches_total", stats.loop.resumptions, "Switches to a task."),
	GAUGE("eddy_task_stack_max_bytes", stats.loop.stack_used_max,
	      "The deepest use of a stack, in whole pages; measured when a stack has been idle for "
	      "a second, and by dumps."),
	GAUGE("eddy_ops_in_flight", stats.loop.ops,
	      "Ring entries in the kernel; parked connections have one each."),
	COUNTER("eddy_ops_completed_total", stats.loop.ops_completed, "Completed ring entries."),
	COUNTER("eddy_ops_cancelled_total", stats.loop.ops_cancelled,
		"Requests to the kernel to cancel an entry."),
	COUNTER("eddy_ops_to_workers_total", stats.loop.ops_worked,
		"Entries of kinds that the kernel always gives to its workers (splice, fsync, "
		"statx, new files, changes of folders, IOSQE_ASYNC); not others that block."),
	COUNTER("eddy_cq_overflows_total", stats.loop.cq_overflows,
		"Turns with more completions than the completion queue holds."),
	MOVED("out", "splice", stats.transfer.spliced_out),
	MOVED("out", "ring-splice", stats.transfer.ring_spliced_out),
	MOVED("out", "sendfile", stats.transfer.sendfile_out),
	MOVED("out", "read-send", stats.transfer.read_sent_out),
	MOVED("out", "mmap", stats.transfer.mapped_out),
	MOVED("out", "send-zc", stats.transfer.zc_out),
	MOVED("out", "dontcache", stats.transfer.dontcache_out),
	MOVED("out", "copy", stats.transfer.copied_out),
	MOVED("in", "splice", spliced_in_here),
	MOVED("in", "splice_by_worker", stats.transfer.written_by_ring),
	MOVED("in", "ring-splice", stats.transfer.ring_spliced_in),
	MOVED("in", "recv-write", stats.transfer.received_in),
	MOVED("in", "copy", stats.transfer.copied_in),
	MOVED("between", "splice", stats.transfer.spliced_between),
	MOVED("between", "copy", stats.transfer.copied_between),
	COUNTER("eddy_transfer_zc_copied_bytes_total", stats.transfer.zc_copied,
		"Bytes of technique send-zc that the kernel copied, as over the loopback."),
	COUNTER("eddy_transfer_warmed_bytes_total", stats.transfer.warmed,
		"Bytes of files read from a disk before they were spliced."),
	COUNTER("eddy_transfer_stalls_total", stats.transfer.stalls,
		"Times that a transfer waited for its peer."),
	GAUGE("eddy_offload_threads", offload_threads, "Threads of the offload pool."),
	GAUGE("eddy_offload_running", offload_running,
	      "Jobs running on a thread of the pool, including the scrape itself."),
	GAUGE("eddy_offload_queued", offload_queued, "Jobs waiting for a thread of the pool."),
	COUNTER("eddy_offload_jobs_total", stats.offload.begun, "Started jobs."),
	GAUGE("eddy_offload_short_running", offload_short_running,
	      "Short jobs among the running ones."),
	GAUGE("eddy_offload_short_queued", offload_short_queued,
	      "Short jobs among the waiting ones."),
	COUNTER("eddy_offload_short_jobs_total", stats.offload.short_begun,
		"Started short jobs, such as steps of TLS handshakes."),
	COUNTER("eddy_offload_refused_total", stats.offload.refused,
		"Jobs rejected because the pool's queue was full."),
	COUNTER("eddy_log_records_dropped_total", records_dropped,
		"Records dropped by the log writer: its buffer was full, or writing failed."),
};

static int declare(const struct own *own, size_t count, int (*read)(void *arg, uint64_t *ret_value))
{
	struct eddy_metric *metric;
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		r = eddy_metric_declare(
			&(struct eddy_metric_options){
				.name = own[i].name,
				.help = own[i].help,
				.type = own[i].type,
				.labels = own[i].labels,
				.decimals = own[i].decimals,
				.read = read,
				.arg = (void *)(uintptr_t)own[i].at,
			},
			&metric);
	return r;
}

/* ---- figures of other layers ---- */

static int read_figure(void *arg, uint64_t *ret_value)
{
	*ret_value = eddyi_figure_read(arg);
	return 0;
}

static int declare_figure(const struct eddyi_figure *figure)
{
	struct eddy_metric *metric;

	return eddy_metric_declare(
		&(struct eddy_metric_options){
			.name = figure->name,
			.help = figure->help,
			.type = figure->is_gauge ? EDDY_METRIC_GAUGE : EDDY_METRIC_COUNTER,
			.labels = EDDY_METRIC_LABELS({ figure->label, figure->value }),
			.decimals = figure->decimals,
			.read = read_figure,
			.arg = (void *)figure,
		},
		&metric);
}

/* Declare figures offered since the last call; they come first. Return: 0; -ENOMEM: call again. */
static int declare_figures(void)
{
	static const struct eddyi_figure *_Atomic known;
	const struct eddyi_figure *first = eddyi_figure_next(NULL), *until = atomic_load(&known);
	int r = 0;

	for (const struct eddyi_figure *at = first; at != until && r != -ENOMEM;
	     at = eddyi_figure_next(at))
		r = declare_figure(at);
	if (r == -ENOMEM)
		return r;
	atomic_store(&known, first);
	return 0;
}

/* ---- declaration ---- */

/* Return: 0; -ENOMEM, and the next call continues. */
static int declare_all(void)
{
	static atomic_bool done;
	struct eddy_metric *metric;
	int r;

	if (atomic_load(&done))
		return declare_figures();
	r = eddy_metric_declare(
		&(struct eddy_metric_options){
			.name = "eddy_build_info",
			.help = "Version and compiler of eddy; always 1.",
			.type = EDDY_METRIC_GAUGE,
			.labels = EDDY_METRIC_LABELS({ "version", EDDYI_VERSION },
						     { "compiler", __VERSION__ }),
			.read = read_one,
		},
		&metric);
	if (r == 0)
		r = declare(of_process, sizeof(of_process) / sizeof(of_process[0]), read_process);
	if (r == 0)
		r = declare(of_runtime, sizeof(of_runtime) / sizeof(of_runtime[0]), read_now);
	if (r == 0)
		atomic_store(&done, true);
	return r == 0 ? declare_figures() : r;
}

/* ---- text format ---- */

static void take_snapshot(struct snapshot *snapshot)
{
	const struct eddy_stats *stats = &snapshot->stats;

	snapshot->stats = eddy_stats();
	snapshot->loops = stats->loops;
	snapshot->offload_threads = stats->offload.threads;
	snapshot->offload_running = stats->offload.running;
	snapshot->offload_queued = stats->offload.queued;
	snapshot->offload_short_running = stats->offload.short_running;
	snapshot->offload_short_queued = stats->offload.short_queued;
	/* They were not read at the same moment. */
	if (stats->transfer.spliced_in > stats->transfer.written_by_ring)
		snapshot->spliced_in_here =
			stats->transfer.spliced_in - stats->transfer.written_by_ring;
	snapshot->records_dropped = eddy_log_writer_dropped();
}

static int write_all(struct eddyi_metric_out *out, bool has_process)
{
	struct snapshot snapshot = { .has_process = has_process };
	int r = declare_all();

	if (r < 0)
		return r;
	take_snapshot(&snapshot);
	if (has_process)
		read_figures(&snapshot.process);
	now = &snapshot;
	eddyi_metric_write_all(out);
	now = NULL;
	return out->failed ? -ENOMEM : 0;
}

static int write_outside(void *arg)
{
	return write_all(arg, true);
}

/* In a task. If the pool is busy, the text is written here, so that it can be diagnosed. */
static int write_in_task(struct eddyi_metric_out *out)
{
	struct eddy_scope scope;
	int r, ended;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = PATIENCE_NS });
	r = eddy_offload(write_outside, out);
	ended = eddy_scope_end(&scope);
	if (r == -ECANCELED && ended == -ETIMEDOUT && !eddy_is_cancelled())
		r = write_all(out, false);
	return r;
}

int eddy_metric_text(char **ret_text, size_t *ret_len)
{
	struct eddyi_metric_out out = { 0 };
	int r = eddy_task_self() ? write_in_task(&out) : write_all(&out, true);

	if (r < 0) {
		free(out.bytes);
		return r;
	}
	*ret_text = out.bytes;
	*ret_len = out.len;
	return 0;
}
