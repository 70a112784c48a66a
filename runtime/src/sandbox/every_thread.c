/* Uses the signal by which the C library makes all threads call setuid(2) and the like: no thread
 * can block it, since sigprocmask(3) ignores it, and no program has a handler for it. The C
 * library's handler is restored afterwards. The Go runtime makes calls on its threads in the same
 * way.
 *
 * Invariants:
 * 1. An entry of `all` is complete before `count` includes it, and a thread reads only its own.
 * 2. If all threads with an entry are done, and a look at /proc/self/task then finds no thread
 *    without one, all threads are done: any thread that could create another is done.
 */
#include "sandbox.h"

#include <eddy/internal/proc.h>
#include <eddy/loop.h>

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* SIGSETXID of glibc; below SIGRTMIN. */
#define SIGNAL 33
#define THREADS_MAX 8192
#define TIMEOUT_NS (10 * EDDY_SECOND)
/* Flags of a kernel thread in /proc/PID/stat. */
#define PF_KERNELS (0x10 | 0x4000)

struct entry {
	pid_t tid;
	atomic_bool done;
};

static struct {
	pthread_mutex_t lock;
	int (*fn)(void *arg);
	void *arg;
	struct entry *all;
	atomic_size_t count;
	atomic_int failure;
} calling = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void call(void)
{
	int none = 0, r = calling.fn(calling.arg);

	if (r < 0)
		atomic_compare_exchange_strong(&calling.failure, &none, r);
}

static struct entry *entry_of(pid_t tid)
{
	size_t count = atomic_load(&calling.count);

	for (size_t i = 0; i < count; i++)
		if (calling.all[i].tid == tid)
			return &calling.all[i];
	return NULL;
}

static void handle(int signo)
{
	struct entry *entry = entry_of((pid_t)syscall(SYS_gettid));
	int saved = errno;

	(void)signo;
	if (entry && !atomic_load(&entry->done)) {
		call();
		atomic_store(&entry->done, true);
	}
	errno = saved;
}

/* ---- the signal ---- */

/* The kernel's structure. The handler is first on all machines; the rest is the C library's. */
struct action {
	void (*handler)(int signo);
	unsigned char rest[128];
};

static int set_action(int signo, const struct action *action, struct action *before)
{
	return syscall(SYS_rt_sigaction, signo, action, before, _NSIG / 8) < 0 ? -errno : 0;
}

static int install(struct action *before)
{
	struct sigaction as_usual = { .sa_handler = handle, .sa_flags = SA_RESTART | SA_ONSTACK };
	struct sigaction urgent;
	struct action action;
	int r;

	/* Tolerates SIGURG, which is ignored by default and may arrive at any time. */
	sigfillset(&as_usual.sa_mask);
	if (sigaction(SIGURG, &as_usual, &urgent) < 0)
		return -errno;
	r = set_action(SIGURG, NULL, &action);
	sigaction(SIGURG, &urgent, NULL);
	if (r < 0)
		return r;
	action.handler = handle;
	return set_action(SIGNAL, &action, before);
}

/* ---- the threads ---- */

/* Whether it is a thread of the program that exists. */
static bool is_ours(pid_t tid)
{
	unsigned flags = 0;
	const char *end;
	char line[512];

	eddyi_proc_read(line, sizeof(line), "/proc/self/task/%d/stat", (int)tid);
	/* After the name, which may contain any byte: state, five numbers, flags. */
	end = strrchr(line, ')');
	return end && sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
	       !(flags & PF_KERNELS);
}

/* Send the signal to a thread. Return: 1; 0 if it has an entry, is the kernel's or gone; -errno. */
static int send_for(pid_t tid)
{
	size_t count = atomic_load(&calling.count);

	if (entry_of(tid) || !is_ours(tid))
		return 0;
	if (count == THREADS_MAX)
		return -ENOMEM;
	calling.all[count].tid = tid;
	atomic_store(&calling.count, count + 1);
	if (syscall(SYS_tgkill, getpid(), tid, SIGNAL) == 0)
		return 1;
	/* It has ended. */
	atomic_store(&calling.all[count].done, true);
	return errno == ESRCH ? 0 : -errno;
}

/* Send the signal to all new threads. Return: their number; -errno. */
static int send_for_all(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *item;
	int sent = 0, r = 0;

	if (!dir)
		return -errno;
	while (r >= 0 && (item = readdir(dir))) {
		r = item->d_name[0] == '.' ? 0 : send_for((pid_t)atoi(item->d_name));
		sent += r > 0;
	}
	closedir(dir);
	return r < 0 ? r : sent;
}

static bool are_all_done(void)
{
	size_t count = atomic_load(&calling.count);

	for (size_t i = 0; i < count; i++) {
		struct entry *entry = &calling.all[i];

		if (!atomic_load(&entry->done) && is_ours(entry->tid))
			return false;
	}
	return true;
}

static int call_others(void)
{
	const struct timespec moment = { .tv_nsec = 100000 };
	uint64_t until = eddy_now() + TIMEOUT_NS;
	int sent;

	do {
		sent = send_for_all();
		while (sent >= 0 && !are_all_done()) {
			if (eddy_now() > until)
				return -ETIMEDOUT;
			nanosleep(&moment, NULL);
		}
	} while (sent > 0);
	return sent;
}

int eddyi_every_thread(int (*fn)(void *arg), void *arg)
{
	struct action before;
	int r;

	pthread_mutex_lock(&calling.lock);
	calling.fn = fn;
	calling.arg = arg;
	atomic_store(&calling.failure, 0);
	calling.all = calloc(THREADS_MAX, sizeof(*calling.all));
	r = calling.all ? install(&before) : -ENOMEM;
	if (r == 0) {
		calling.all[0].tid = gettid();
		atomic_store(&calling.all[0].done, true);
		atomic_store(&calling.count, 1);
		call();
		r = call_others();
		atomic_store(&calling.count, 0);
		set_action(SIGNAL, &before, NULL);
	}
	/* After a timeout, a late handler may still read it. */
	if (r != -ETIMEDOUT)
		free(calling.all);
	if (r == 0)
		r = atomic_load(&calling.failure);
	pthread_mutex_unlock(&calling.lock);
	return r;
}
