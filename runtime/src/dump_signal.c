/* The signal is blocked and fetched from a signalfd, so that no handler ever runs in the middle of
 * anything. One loop of the process does that at a time; its thread's mask is what threads inherit that
 * are made from here on.
 */
#include "dump_signal.h"

#include "loop.h"

#include <eddy/dump.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static atomic_bool is_answered; /* by some loop */

static void quit_set(sigset_t *ret_set)
{
	sigemptyset(ret_set);
	sigaddset(ret_set, SIGQUIT);
}

void eddyi_dump_signal_in_child(void)
{
	sigset_t set;

	if (!atomic_exchange(&is_answered, false))
		return;
	quit_set(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static bool is_free_to_use(void)
{
	struct sigaction action;
	sigset_t blocked;

	return sigaction(SIGQUIT, NULL, &action) == 0 && action.sa_handler == SIG_DFL &&
	       pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGQUIT);
}

/* Return: whether there was one. */
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
	sigset_t set;

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
	/* Let through, it would end the process in the middle of its clean-up. */
	while (fetch(loop->dump_fd))
		;
	close(loop->dump_fd);
	quit_set(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	is_answered = false;
}
