/* Signals are collected by a handler, so that a second SIGINT or SIGTERM can end a process whose
 * loop is held by a task.
 *
 * Invariants:
 * 1. `kinds[signo].fd` is the newest collector's that has the signal, or 0. It is closed only after
 *    it has been replaced and the handlers that may have read it are done (`passing`).
 * 2. The event counter of a collector counts its pending signals: the handler marks one as pending
 *    first, and eddy_signals_next() reads the counter first.
 */
#include <eddy/signal.h>

#include "signals.h"

#include <eddy/internal/debug.h>
#include <eddy/io.h>
#include <eddy/scope.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define RETRY_NS (10 * EDDY_MS)
/* A loop that has not taken a signal for so long is held by a task. */
#define HELD_NS EDDY_SECOND

static struct {
	atomic_int fd;
	_Atomic uint64_t since_ns; /* it has been pending; 0: it is not */
	struct sigaction before;
} kinds[NSIG];

static atomic_uint passing; /* handlers in progress */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct eddy_signals *newest; /* guarded by `lock` */

static void collect(int signo)
{
	uint64_t one = 1, now = eddy_now(), none = 0;
	int saved = errno, fd;

	atomic_fetch_add(&passing, 1);
	fd = atomic_load(&kinds[signo].fd);
	if (fd && atomic_compare_exchange_strong(&kinds[signo].since_ns, &none, now)) {
		while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
			;
	} else if (fd && (signo == SIGINT || signo == SIGTERM) && now - none >= HELD_NS) {
		signal(signo, SIG_DFL);
		raise(signo); /* delivered when this handler returns */
	}
	atomic_fetch_sub(&passing, 1);
	errno = saved;
}

bool eddyi_signal_is_handler(const struct sigaction *action)
{
	return action->sa_handler == collect;
}

static int fill(sigset_t *set, const int *signos)
{
	sigemptyset(set);
	for (; *signos; signos++)
		if (*signos == SIGKILL || *signos == SIGSTOP || sigaddset(set, *signos) < 0)
			return -EINVAL;
	return 0;
}

/* The program may have closed 0 to 2, and 0 means that nothing was opened. */
static int open_above_standard(void)
{
	int fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC), above, error;

	if (fd < 0)
		return -errno;
	if (fd > STDERR_FILENO)
		return fd;
	above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	error = errno;
	close(fd);
	return above < 0 ? -error : above;
}

/* Lock held. Return: the descriptor of the newest collector that has the signal; 0. */
static int collector_of(int signo)
{
	for (struct eddy_signals *each = newest; each; each = each->older)
		if (sigismember(&each->set, signo) == 1)
			return each->fd;
	return 0;
}

/* Lock held. Give each signal of the set to its newest collector. Without one, its disposition is
 * that from before the first. */
static void hand_out(const sigset_t *set)
{
	struct sigaction action = { .sa_handler = collect, .sa_flags = SA_RESTART | SA_ONSTACK };

	for (int signo = 1; signo < NSIG; signo++) {
		struct sigaction now;
		int before = atomic_load(&kinds[signo].fd), fd = collector_of(signo);

		if (sigismember(set, signo) != 1 || before == fd)
			continue;
		/* Unless the program has installed a handler meanwhile. */
		if (!fd && sigaction(signo, NULL, &now) == 0 && eddyi_signal_is_handler(&now))
			sigaction(signo, &kinds[signo].before, NULL);
		atomic_store(&kinds[signo].fd, fd);
		atomic_store(&kinds[signo].since_ns, 0);
		if (!before)
			sigaction(signo, &action, &kinds[signo].before);
	}
}

int eddy_signals_open(const int *signos, struct eddy_signals *ret_signals)
{
	sigset_t set;
	int r = fill(&set, signos), fd;

	if (r < 0)
		return r;
	fd = open_above_standard();
	if (fd < 0)
		return fd;
	*ret_signals = (struct eddy_signals){ .fd = eddyi_opened(fd), .set = set };
	pthread_mutex_lock(&lock);
	ret_signals->older = newest;
	newest = ret_signals;
	hand_out(&set);
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_UNBLOCK, &set, &ret_signals->mask);
	return 0;
}

/* Return: a signal number; -EAGAIN. */
static int take(const struct eddy_signals *signals)
{
	uint64_t one;

	if (read(signals->fd, &one, sizeof(one)) < 0)
		return -EAGAIN;
	for (int signo = 1; signo < NSIG; signo++)
		if (sigismember(&signals->set, signo) == 1 &&
		    atomic_load(&kinds[signo].fd) == signals->fd &&
		    atomic_exchange(&kinds[signo].since_ns, 0))
			return signo;
	/* A forked child that has not executed a program received it. */
	return -EAGAIN;
}

/* Poll until a signal is pending. Retries on failure, such as a lack of memory: an error would make
 * the task miss all further signals. Return: 0; -ECANCELED. */
static int wait_for_some(const struct eddy_signals *signals)
{
	while (eddy_poll(signals->fd, POLLIN) < 0)
		if (eddy_is_cancelled() || eddy_sleep(RETRY_NS) < 0)
			return -ECANCELED;
	return 0;
}

int eddy_signals_next(struct eddy_signals *signals)
{
	int r;

	if (signals->fd <= 0)
		return -EBADF;
	do {
		r = wait_for_some(signals);
		if (r < 0)
			return r;
		r = take(signals);
	} while (r == -EAGAIN);
	return r;
}

void eddy_signals_close(struct eddy_signals *signals)
{
	struct eddy_signals **at = &newest;
	int fd = signals->fd;

	if (fd <= 0)
		return;
	pthread_mutex_lock(&lock);
	while ((*at)->fd != fd)
		at = &(*at)->older;
	*at = signals->older;
	hand_out(&signals->set);
	pthread_mutex_unlock(&lock);
	while (atomic_load(&passing))
		sched_yield();
	signals->fd = -1;
	eddyi_opened_forget(fd);
	close(fd);
	/* Those that were blocked by the program. */
	for (int signo = 1; signo < NSIG; signo++)
		if (sigismember(&signals->set, signo) != 1)
			sigdelset(&signals->mask, signo);
	pthread_sigmask(SIG_BLOCK, &signals->mask, NULL);
}

void eddy_signals_reset(void)
{
	sigset_t none;

	for (int signo = 1; signo < NSIG; signo++)
		signal(signo, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
