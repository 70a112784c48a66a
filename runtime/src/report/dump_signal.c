/* The signal is blocked and read from a signalfd, so that no handler interrupts a loop's work. One
 * loop of the process does that at a time; threads created by its thread inherit its mask. The
 * kernel may deliver the signal to any thread that existed before, whose handler passes it on.
 *
 * Invariants:
 * 1. `answering` is the thread of the loop that answers, or 0. While it is set the thread exists:
 *    it is cleared before the loop ends, which then waits for handlers that may have read it
 *    (`passing`).
 * 2. The handler is installed before `answering` is set, until after it is cleared. In between, a
 *    signal may be dropped, but does not end the process.
 */
#include "dump_signal.h"

#include "core/loop.h"
#include "core/op.h"

#include <eddy/dump.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static atomic_bool is_answered; /* by a loop */
static _Atomic pid_t answering;
static atomic_uint passing; /* handlers in progress */

static void quit_set(sigset_t *ret_set)
{
	sigemptyset(ret_set);
	sigaddset(ret_set, SIGQUIT);
}

/* Handler on threads that do not block the signal. */
static void pass_on(int signo)
{
	int saved = errno;
	pid_t tid;

	atomic_fetch_add(&passing, 1);
	tid = atomic_load(&answering);
	if (tid == gettid()) {
		/* The program has unblocked the signal on the answering thread: end the process. */
		signal(signo, SIG_DFL);
		raise(signo);
	} else if (tid) {
		tgkill(getpid(), tid, signo);
	}
	atomic_fetch_sub(&passing, 1);
	errno = saved;
}

bool eddyi_dump_signal_is_handler(const struct sigaction *action)
{
	return action->sa_handler == pass_on;
}

static void handle(void)
{
	struct sigaction action = { .sa_handler = pass_on, .sa_flags = SA_RESTART | SA_ONSTACK };

	sigaction(SIGQUIT, &action, NULL);
}

/* Unless the program has installed a handler meanwhile. */
static void handle_no_more(void)
{
	struct sigaction action;

	if (sigaction(SIGQUIT, NULL, &action) == 0 && eddyi_dump_signal_is_handler(&action))
		signal(SIGQUIT, SIG_DFL);
}

/* In a forked child, restore the default: the child has no thread to pass the signal to, and a
 * program that it executes would inherit its mask. */
static void in_child(void)
{
	sigset_t set;

	atomic_store(&answering, 0);
	atomic_store(&passing, 0);
	handle_no_more();
	if (!atomic_exchange(&is_answered, false))
		return;
	quit_set(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

static bool is_free_to_use(void)
{
	struct sigaction action;
	sigset_t blocked;

	return sigaction(SIGQUIT, NULL, &action) == 0 && action.sa_handler == SIG_DFL &&
	       pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGQUIT);
}

/* Return: whether a signal was pending. */
static bool fetch(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) == sizeof(info);
}

static void arm(struct eddy_loop *loop);

static void came(struct eddy_op *op, int result, unsigned flags)
{
	struct eddy_loop *loop = eddy_of(op, struct eddy_loop, dump_op);
	bool any = false;

	(void)flags;
	if (op->cancelling || result < 0)
		return;
	while (fetch(loop->dump_fd))
		any = true;
	if (any)
		eddy_dump_all(STDERR_FILENO);
	arm(loop);
}

static void arm(struct eddy_loop *loop)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&loop->dump_op, came);

	io_uring_prep_poll_add(sqe, loop->dump_fd, POLLIN);
	eddyi_op_start_own(&loop->dump_op, sqe);
}

void eddyi_dump_signal_begin(struct eddy_loop *loop)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	sigset_t set;

	pthread_once(&once, watch_forks);
	loop->dump_fd = -1;
	if (!is_free_to_use() || atomic_exchange(&is_answered, true))
		return;
	quit_set(&set);
	loop->dump_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (loop->dump_fd < 0) {
		is_answered = false;
		return;
	}
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	handle();
	atomic_store(&answering, gettid());
	arm(loop);
}

void eddyi_dump_signal_cancel(struct eddy_loop *loop)
{
	if (loop->dump_fd >= 0)
		eddy_op_cancel(&loop->dump_op);
}

void eddyi_dump_signal_end(struct eddy_loop *loop)
{
	sigset_t set;

	if (loop->dump_fd < 0)
		return;
	atomic_store(&answering, 0);
	while (atomic_load(&passing))
		sched_yield();
	/* Discard pending signals: unblocked, they would end the process during its cleanup. */
	while (fetch(loop->dump_fd))
		;
	close(loop->dump_fd);
	handle_no_more();
	quit_set(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	is_answered = false;
}
