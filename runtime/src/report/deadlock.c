/* Deadlock detection. In a deadlock no task of any loop is ready, and nothing can make one ready:
 * no op of the program, no timer, no offloaded function, no message under way, and no thread that
 * could post one. The check is not made when a loop goes to sleep, but after it has slept for a
 * while, because loops that mostly get messages sleep often.
 *
 * Invariants:
 * 1. Only a loop's thread changes its `is_stuck`, with the registry locked. It is set while the loop
 *    has only internal ops and timers, which wake no task. Only a message, or a signal of
 *    eddy_main(), moves a stuck loop on, and it drops the suspicion before it handles that.
 * 2. So while the registry is locked and all loops are stuck, no task runs, and messages posted by
 *    a loop before it got stuck are in a queue. If all queues are empty, only another thread could
 *    post.
 * 3. Pending signals and queues are checked last: a thread that posted and ended before the threads
 *    were checked has left its message there.
 * 4. On any doubt (another thread, a signal handler that might post) there is no verdict; the loop
 *    checks again later, with a doubled delay each time.
 */
#include "report.h"

#include "dump.h"
#include "core/loop.h"
#include "io/offload_pool.h"
#include "stall_trace.h"
#include "base/thread.h"

#include <dirent.h>
#include <eddy/internal/proc.h>
#include <eddy/internal/signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MIN (10 * EDDY_MS)
#define PATIENCE_MAX (10 * EDDY_SECOND)

static _Thread_local struct {
	struct eddyi_suspicion suspicion;
	uint64_t look_again_ns;
	uint64_t patience_ns;
} mine;

static bool is_suspect(const struct eddy_loop *loop)
{
	return loop->root.running && loop->ops == loop->own_ops && !loop->outside &&
	       loop->timers.count == eddy_timer_is_armed(&loop->trim_timer) &&
	       eddy_list_is_empty(&loop->ready) && !atomic_load(&loop->messages);
}

static bool is_loop(struct eddy_node *loops, pid_t tid)
{
	for (struct eddy_node *node = loops->next; node != loops; node = node->next)
		if (eddy_of(node, struct eddy_loop, registered)->tid == tid)
			return true;
	return false;
}

/* Threads that run none of the program's code and wake no task: those of the offload pool, which is
 * idle, the library's writers, and the kernel's. */
static bool is_harmless(const char *tid)
{
	static const char *const names[] = {
		"eddy-offload\n", "eddy-watch\n", "eddy-timeline\n", "eddy-log\n", "eddy-dump\n",
		"eddy-record\n",  "iou-"
	};
	char name[32];

	eddyi_proc_read(name, sizeof(name), "/proc/self/task/%.20s/comm", tid);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static bool has_other_threads(struct eddy_node *loops)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	bool found = !dir;

	while (!found && (entry = readdir(dir)))
		found = entry->d_name[0] != '.' && !is_loop(loops, (pid_t)atoi(entry->d_name)) &&
			!is_harmless(entry->d_name);
	if (dir)
		closedir(dir);
	return found;
}

/* Handlers of faults are ignored: no fault happens while all threads sleep. */
static bool has_signal_handlers(void)
{
	struct sigaction action;
	sigset_t handled;

	eddyi_thread_signals(&handled);
	for (int signo = 1; signo < NSIG; signo++)
		if (sigismember(&handled, signo) == 1 && sigaction(signo, NULL, &action) == 0 &&
		    action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN &&
		    !eddyi_stall_is_handler(&action) && !eddyi_dump_signal_is_handler(&action) &&
		    !eddyi_signal_is_handler(&action))
			return true;
	return false;
}

static bool all_are_stuck(struct eddy_node *loops)
{
	for (struct eddy_node *node = loops->next; node != loops; node = node->next)
		if (!eddy_of(node, struct eddy_loop, registered)->is_stuck)
			return false;
	return true;
}

static bool has_messages(struct eddy_node *loops)
{
	for (struct eddy_node *node = loops->next; node != loops; node = node->next)
		if (atomic_load(&eddy_of(node, struct eddy_loop, registered)->messages))
			return true;
	return false;
}

/* Registry locked, which keeps all loops asleep. */
static bool is_deadlock(struct eddy_node *loops)
{
	if (!all_are_stuck(loops) || has_signal_handlers() || eddyi_offload_is_busy())
		return false;
	/* Twice: a thread that ends during the look may hide one that it has started. */
	if (has_other_threads(loops) || has_other_threads(loops))
		return false;
	return !eddyi_signal_is_pending() && !has_messages(loops);
}

static void report(struct eddy_node *loops)
{
	struct eddyi_out out = { .fd = STDERR_FILENO };
	struct eddy_node *node;

	eddyi_out(
		&out,
		"eddy: deadlock: all tasks wait for each other, and nothing else can wake one: no "
		"operation, timer, offloaded function or message is pending\n");
	for (node = loops->next; node != loops; node = node->next)
		eddyi_dump_loop(&out, eddy_of(node, struct eddy_loop, registered));
	eddyi_out_flush(&out);
	eddyi_panic_of("", "", "deadlock, see above");
}

static void check(struct eddy_loop *loop)
{
	struct eddy_node *loops = eddyi_registry_lock();

	loop->is_stuck = true;
	if (is_deadlock(loops))
		report(loops);
	eddyi_registry_unlock();
}

static void drop(struct eddy_loop *loop)
{
	loop->suspicion = NULL;
	if (!loop->is_stuck)
		return;
	eddyi_registry_lock();
	loop->is_stuck = false;
	eddyi_registry_unlock();
}

uint64_t eddyi_deadlock_look(struct eddy_loop *loop)
{
	uint64_t now;

	if (!is_suspect(loop))
		return EDDY_NEVER;
	now = eddy_now();
	if (!loop->suspicion) {
		mine.suspicion.drop = drop;
		loop->suspicion = &mine.suspicion;
		mine.patience_ns = PATIENCE_MIN;
	} else if (now >= mine.look_again_ns) {
		check(loop);
		mine.patience_ns *= 2;
		if (mine.patience_ns > PATIENCE_MAX)
			mine.patience_ns = PATIENCE_MAX;
	} else {
		return mine.look_again_ns;
	}
	mine.look_again_ns = now + mine.patience_ns;
	return mine.look_again_ns;
}
