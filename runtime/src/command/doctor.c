/* eddy-doctor: checks whether this machine can run eddy, and prints the commands that fix problems.
 *
 *     $ eddy-doctor
 *     ok   kernel: 6.1.0-18-amd64
 *     FAIL io_uring: Operation not permitted — io_uring is switched off on this machine: type …
 *
 * Prints one line for each finding: `ok`, `none` (this kernel lacks it, and eddy works without),
 * `warn` (eddy works, but worse) or `FAIL`. Exit status: 0 if nothing failed, else 1.
 *
 * A layer adds findings by a program eddy-doctor-NAME, which prints such lines and exits with 1
 * after a `FAIL`. It is found as programs.h says.
 */
#include "base/seccomp.h"
#include "sandbox/sandbox.h"
#include "programs.h"

#include <eddy/internal/loop.h>
#include <eddy/buffers.h>
#include <eddy/internal/proc.h>
#include "base/feature.h"
#include <eddy/task.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIPE_SIZE (1024 * 1024)
#define PIPE_PAGES 16384
#define FILES 10240
/* The default of servers (eddy/net.h). */
#define BACKLOG 4096
/* Approximate memory that the kernel locks for one loop. */
#define RING_LOCKS (256 * 1024)
/* For each kind: the default of .io_workers_max. */
#define IO_WORKERS 8

static int failures;
/* Result of creating a ring; other checks depend on it. */
static int ring;
/* Limit of a loop with default options. */
static unsigned long long io_workers;

static void EDDY_PRINTF(3, 4) say(const char *verdict, const char *name, const char *format, ...)
{
	va_list args;

	printf("%-4s %s: ", verdict, name);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	failures += strcmp(verdict, "FAIL") == 0;
}

static long read_number(const char *path, long otherwise)
{
	char text[32];

	return eddyi_proc_read(text, sizeof(text), "%s", path) > 0 ? strtol(text, NULL, 10) :
								     otherwise;
}

static void check_kernel(void)
{
	unsigned major = 0, minor = 0;
	struct utsname name;

	uname(&name);
	sscanf(name.release, "%u.%u", &major, &minor);
	if (major > 6 || (major == 6 && minor >= 1))
		say("ok", "kernel", "%s", name.release);
	else
		say("FAIL", "kernel",
		    "%s — eddy needs Linux 6.1 or newer: upgrade the distribution, or its "
		    "kernel (Debian 11: `apt install -t bullseye-backports linux-image-amd64`)",
		    name.release);
}

/* Do what each server does first, on a default loop. */
static int try_ring(void *arg)
{
	int r = eddy_buffers_prepare();

	(void)arg;
	io_workers = eddy_loop_stats(NULL).io_workers_max;
	return r < 0 ? r : eddy_sleep(EDDY_MS);
}

static bool is_refused(void)
{
	return ring == -EPERM || ring == -EACCES || ring == -ENOSYS;
}

static void check_ring(void)
{
	const char *wanted = getenv("EDDY_EXECUTOR");
	bool needed = wanted && strcmp(wanted, "ring") == 0;

	if (wanted && strcmp(wanted, "poll") == 0)
		say("warn", "EDDY_EXECUTOR", "is poll, so programs do not use io_uring");
	else if (wanted && *wanted && !needed)
		say("FAIL", "EDDY_EXECUTOR", "is %s — EDDY_EXECUTOR is ring or poll", wanted);
	setenv("EDDY_EXECUTOR", "ring", 1);
	ring = eddyi_run(NULL, try_ring, NULL);
	if (ring == 0) {
		say("ok", "io_uring", "works");
		return;
	}
	setenv("EDDY_EXECUTOR", "poll", 1);
	if (!needed && is_refused() && eddyi_run(NULL, try_ring, NULL) == 0)
		say("warn", "io_uring",
		    "%s, so epoll and threads take its place, which costs up to a quarter of the speed — %s",
		    strerror(-ring), eddy_ring_advice(ring));
	else
		say("FAIL", "io_uring", "%s — %s", strerror(-ring), eddy_ring_advice(ring));
}

static void check_disabled(void)
{
	static const char name[] = "kernel.io_uring_disabled";
	long value = read_number("/proc/sys/kernel/io_uring_disabled", -1);

	if (value < 0)
		say("ok", name, "this kernel has no such switch");
	else if (value == 0)
		say("ok", name, "0");
	else if (!is_refused())
		say("ok", name, "%ld, but not for this user", value);
	else if (value == 1)
		say("warn", name,
		    "1 — as root: `sysctl kernel.io_uring_group=%u`, or for every user `sysctl "
		    "kernel.io_uring_disabled=0`",
		    (unsigned)getgid());
	else
		say("warn", name, "%ld — as root: `sysctl kernel.io_uring_disabled=0`", value);
}

/* Get "Seccomp:" of /proc/self/status: 0 none, 1 strict, 2 a filter. */
static int seccomp_mode(void)
{
	FILE *in = fopen("/proc/self/status", "re");
	char line[256];
	int mode = 0;

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	if (in)
		fclose(in);
	return mode;
}

static void check_seccomp(void)
{
	bool filtered = seccomp_mode() != 0;

	if (!filtered)
		say("ok", "seccomp", "no filter");
	else if (!is_refused())
		say("ok", "seccomp", "a filter, which allows io_uring");
	else if (read_number("/proc/sys/kernel/io_uring_disabled", 0) > 0)
		say("warn", "seccomp",
		    "a filter — if io_uring is still refused once it is switched on: %s",
		    eddyi_seccomp_remedy());
	else
		say("warn", "seccomp", "a filter, which forbids io_uring — %s",
		    eddyi_seccomp_remedy());
}

static void check_landlock(void)
{
	int version = eddyi_landlock_version();

	if (version >= 4)
		say("ok", "landlock", "ABI %d: a sandbox restricts files and ports", version);
	else if (version > 0)
		say("ok", "landlock", "ABI %d: a sandbox restricts files; ports from Linux 6.7 on",
		    version);
	else
		say("warn", "landlock",
		    "%s: a sandbox does not restrict files — boot with `landlock` before the "
		    "modules that `lsm=` lists, or use a kernel that has it",
		    strerror(-version));
}

static const char *limit_text(rlim_t value, bool bytes)
{
	static char text[32];

	if (value == RLIM_INFINITY)
		return "unlimited";
	if (bytes)
		snprintf(text, sizeof(text), "%llu KiB", (unsigned long long)value / 1024);
	else
		snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return text;
}

/* The limit applies to the sum of a user's rings, but not to root's. */
static void check_locked(rlim_t limit, bool failed)
{
	static const char name[] = "locked memory";
	long loops = sysconf(_SC_NPROCESSORS_ONLN);

	if (failed)
		say("FAIL", name,
		    "%s, which all of this user's rings share, %d KiB each — `ulimit -l unlimited`, "
		    "LimitMEMLOCK=infinity in a unit, or more memory for the container",
		    limit_text(limit, true), RING_LOCKS / 1024);
	else if (geteuid() != 0 && limit / RING_LOCKS < (rlim_t)loops)
		say("warn", name,
		    "%s, too little for a loop on each of %ld processors, %d KiB each — `ulimit -l "
		    "unlimited`, or LimitMEMLOCK=infinity in a unit",
		    limit_text(limit, true), loops, RING_LOCKS / 1024);
	else
		say("ok", name, "%s", limit_text(limit, true));
}

/* If a ring failed for lack of memory, report the limit that is set. */
static void check_memory(void)
{
	struct rlimit space, locked;

	getrlimit(RLIMIT_AS, &space);
	getrlimit(RLIMIT_MEMLOCK, &locked);
	if (ring == -ENOMEM && space.rlim_cur != RLIM_INFINITY)
		say("FAIL", "address space", "%s — `ulimit -v unlimited`, or no LimitAS= in a unit",
		    limit_text(space.rlim_cur, true));
	else
		say("ok", "address space", "%s", limit_text(space.rlim_cur, true));
	check_locked(locked.rlim_cur, ring == -ENOMEM && space.rlim_cur == RLIM_INFINITY);
}

/* The kernel reduces the number to the limit of this user's threads. */
static void check_workers(void)
{
	static const char name[] = "io workers";

	if (!io_workers)
		say("warn", name, "the kernel can't limit its worker threads");
	else if (io_workers < 2 * IO_WORKERS)
		say("warn", name,
		    "at most %llu for each loop, so calls wait for slow disks that other calls use "
		    "— `ulimit -u unlimited`, or LimitNPROC=infinity in a unit",
		    io_workers);
	else
		say("ok", name,
		    "at most %llu for each loop, half of them for files; .io_workers_max changes it",
		    io_workers);
}

static void check_files(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (ring != -EMFILE && limit.rlim_cur < FILES && limit.rlim_max >= FILES)
		say("ok", "open files", "%s, which servers raise to the hard limit",
		    limit_text(limit.rlim_cur, false));
	else if (limit.rlim_cur >= FILES)
		say("ok", "open files", "%s", limit_text(limit.rlim_cur, false));
	else
		say(ring == -EMFILE ? "FAIL" : "warn", "open files",
		    "%s, and every connection needs one — `ulimit -n 65536`, or LimitNOFILE=65536 "
		    "in a unit",
		    limit_text(limit.rlim_cur, false));
}

static void check_backlog(void)
{
	static const char name[] = "net.core.somaxconn";
	long most = read_number("/proc/sys/net/core/somaxconn", BACKLOG);

	if (most >= BACKLOG)
		say("ok", name, "%ld", most);
	else
		say("warn", name,
		    "%ld, so further connections of a burst wait for a second or longer — as root: "
		    "`sysctl net.core.somaxconn=%d`",
		    most, BACKLOG);
}

static void check_pipes(void)
{
	long pages = read_number("/proc/sys/fs/pipe-user-pages-soft", 0);
	long size = read_number("/proc/sys/fs/pipe-max-size", PIPE_SIZE);
	int fds[2], got = -1;

	if (pipe2(fds, O_CLOEXEC) == 0) {
		got = fcntl(fds[1], F_SETPIPE_SZ, PIPE_SIZE);
		close(fds[0]);
		close(fds[1]);
	}
	if (size < PIPE_SIZE)
		say("warn", "fs.pipe-max-size",
		    "%ld, so files are sent in small pieces — as root: `sysctl "
		    "fs.pipe-max-size=%d`",
		    size, PIPE_SIZE);
	else
		say("ok", "fs.pipe-max-size", "%ld", size);
	if (pages && (pages < PIPE_PAGES || (got < PIPE_SIZE && size >= PIPE_SIZE)))
		say("warn", "fs.pipe-user-pages-soft",
		    "%ld%s — as root: `sysctl fs.pipe-user-pages-soft=%d`", pages,
		    got < PIPE_SIZE ? ", which this user's pipes have used up" : "",
		    pages < PIPE_PAGES ? PIPE_PAGES : 4 * PIPE_PAGES);
	else
		say("ok", "fs.pipe-user-pages-soft", "%ld", pages);
}

static void check_guards(void)
{
	long maps = read_number("/proc/sys/vm/max_map_count", 65530);

	if (eddyi_feature_is_there(EDDYI_FEATURE_GUARD_INSTALL))
		say("ok", "guards of stacks", "by MADV_GUARD_INSTALL");
	else
		say("warn", "guards of stacks",
		    "by mprotect (Linux 6.13 has better), enough for %ld tasks — for more, as root: `sysctl "
		    "vm.max_map_count=1048576`",
		    maps / 2);
}

/* Features newer than the oldest supported kernel; their absence is no problem. */
static void check_features(void)
{
	for (int i = 0; i < EDDYI_FEATURES; i++) {
		const struct eddyi_feature_info *info = eddyi_feature_info((enum eddyi_feature)i);

		if (eddyi_feature_is_there((enum eddyi_feature)i))
			say("ok", info->name, "there");
		else
			say("none", info->name, "Linux %s has it; without, %s", info->since,
			    info->without);
	}
}

/* For an unconnected socket, the kernel fails only after finding the module. */
static void check_tls(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r = fd < 0 ? -errno : setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", 4) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	if (r == 0 || r == -ENOTCONN)
		say("ok", "TLS in the kernel", "there");
	else
		say("warn", "TLS in the kernel",
		    "%s; only what is sent through TLS would gain by it — as root: `modprobe tls`, where the "
		    "kernel was built with it",
		    r == -ENOENT ? "absent" : strerror(-r));
}

/* ---- findings of other layers */

extern char **environ;

static int is_other(const struct dirent *entry)
{
	return strncmp(entry->d_name, "eddy-doctor-", 12) == 0 && !strchr(entry->d_name, '.');
}

static void run_other(char *path)
{
	char *args[] = { path, NULL };
	int r, status = 0;
	pid_t pid;

	fflush(stdout);
	r = posix_spawn(&pid, path, NULL, NULL, args, environ);
	if (r != 0)
		say("FAIL", path, "can't be run: %s", strerror(r));
	else if (waitpid(pid, &status, 0) < 0 || status != 0)
		failures++;
}

/* Run the folder's programs that no earlier folder has. */
static void run_others_in(const char *folder)
{
	size_t len = strlen(folder);
	struct dirent **entries;
	int count = scandir(folder, &entries, is_other, alphasort);

	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];

		if (eddyi_programs_find(entries[i]->d_name + strlen("eddy-"), path) &&
		    strncmp(path, folder, len) == 0 && path[len] == '/')
			run_other(path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static void run_linked_others(void)
{
	for (const struct eddyi_linked *linked = eddyi_linked; linked && linked->name; linked++) {
		char *args[] = { (char *)linked->name, NULL };

		if (strncmp(linked->name, "doctor-", 7) == 0)
			failures += linked->main(1, args) != 0;
	}
}

static void run_others(void)
{
	struct eddy_str rest = eddy_str_from(eddyi_programs_folders());
	char folder[PATH_MAX];

	run_linked_others();
	while (eddyi_programs_next(&rest, folder))
		run_others_in(folder);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		bool asked = strcmp(argv[1], "--help") == 0;

		fputs("usage: eddy-doctor\n"
		      "Checks whether this machine can run eddy, and says what to type if it "
		      "can't.\n",
		      asked ? stdout : stderr);
		return asked ? EXIT_SUCCESS : 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	check_kernel();
	check_ring();
	check_disabled();
	check_seccomp();
	check_landlock();
	check_memory();
	if (ring == 0)
		check_workers();
	check_files();
	check_backlog();
	check_pipes();
	check_guards();
	check_tls();
	if (ring == 0)
		check_features();
	run_others();
	puts(failures ? "\nThis machine can't run eddy yet." : "\nThis machine can run eddy.");
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
