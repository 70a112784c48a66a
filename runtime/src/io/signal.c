/* Signals are collected by a handler, so that a second SIGINT or SIGTERM can end a process whose
 * loop is held by a task.
 *
 * Invariants:
 * 1. `kinds[signo].fd` is that of the newest collector that has the signal, or 0. It is replaced
 *    under `lock`, which then waits for handlers that may have read the old one (`passing`).
 * 2. The handler has no track (outside.h): what it leaves is recorded when it is taken.
 * 3. While a signal is pending, the event counter of its collector is not 0. It may be higher than
 *    the number of pending signals.
 */
#include "base/thread.h"
#include "core/recorded.h"

#include <eddy/internal/debug.h>
#include <eddy/internal/outside.h>
#include <eddy/internal/signal.h>
#include <eddy/io.h>
#include <eddy/scope.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define RETRY_NS (10 * EDDY_MS)
/* A loop that has not taken a signal for so long is held by a task. */
#define HELD_NS EDDY_SECOND

static struct {
	atomic_int fd;
	_Atomic uint64_t since_ns; /* it has been pending; 0: it is not */
	/* Before the first collector. */
	struct sigaction action;
	bool blocked; /* on its thread */
} kinds[NSIG];

static atomic_uint passing; /* handlers in progress */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct eddy_signals *newest; /* under `lock` */

static void wake(int fd)
{
	const uint64_t one = 1;
	struct eddyi_track *track = eddyi_track;

	eddyi_track = NULL;
	while (!eddyi_is_replay() && eddyi_write_now(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	eddyi_track = track;
}

static void end_process(int signo)
{
	/* The kernel spares process 1 of a container. */
	if (EDDYI_CAN_RECORD)
		eddyi_recording_end_by(signo);
	if (eddyi_getpid_now() == 1)
		_exit(128 + signo);
	signal(signo, SIG_DFL);
	raise(signo); /* delivered when the handler returns */
}

static void collect(int signo)
{
	struct eddyi_track *track = eddyi_track;
	int saved = errno, fd;
	uint64_t now, since = 0;

	eddyi_track = NULL;
	now = eddy_now();
	atomic_fetch_add(&passing, 1);
	fd = atomic_load(&kinds[signo].fd);
	if (fd && atomic_compare_exchange_strong(&kinds[signo].since_ns, &since, now))
		wake(fd);
	else if (fd && (signo == SIGINT || signo == SIGTERM) && now > since &&
		 now - since >= HELD_NS)
		end_process(signo);
	atomic_fetch_sub(&passing, 1);
	eddyi_track = track;
	errno = saved;
}

bool eddyi_signal_is_handler(const struct sigaction *action)
{
	return action->sa_handler == collect;
}

bool eddyi_signal_is_pending(void)
{
	sigset_t pending;
	bool found = false;

	sigpending(&pending);
	for (int signo = 1; signo < NSIG && !found; signo++)
		found = atomic_load(&kinds[signo].fd) &&
			(sigismember(&pending, signo) == 1 || atomic_load(&kinds[signo].since_ns));
	return found;
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
	int fd = eddyi_eventfd_now(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC), above, error;

	if (fd < 0)
		return -errno;
	if (fd > STDERR_FILENO)
		return fd;
	above = eddyi_fcntl_now(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	error = errno;
	eddyi_close_now(fd);
	return above < 0 ? -error : above;
}

static void mask(int how, int signo, sigset_t *ret_before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signo);
	pthread_sigmask(how, &set, ret_before);
}

static void begin(int signo)
{
	struct sigaction action = { .sa_handler = collect, .sa_flags = SA_RESTART | SA_ONSTACK };
	sigset_t before;

	/* A replay has the recorded signals, and ends by one that is sent to it. */
	if (eddyi_is_replay())
		return;
	sigaction(signo, &action, &kinds[signo].action);
	mask(SIG_UNBLOCK, signo, &before);
	kinds[signo].blocked = sigismember(&before, signo) == 1;
}

static void end(int signo)
{
	struct sigaction now;

	if (kinds[signo].blocked)
		mask(SIG_BLOCK, signo, NULL);
	/* Unless the program has installed a handler meanwhile. */
	if (sigaction(signo, NULL, &now) == 0 && eddyi_signal_is_handler(&now))
		sigaction(signo, &kinds[signo].action, NULL);
}

/* Return: the descriptor of the newest collector that has the signal; 0. Lock held. */
static int collector_of(int signo)
{
	for (struct eddy_signals *each = newest; each; each = each->older)
		if (sigismember(&each->set, signo) == 1)
			return each->fd;
	return 0;
}

/* Give a signal to its newest collector, also if it is pending. Lock held. */
static void hand_on(int signo)
{
	int before = atomic_load(&kinds[signo].fd), fd = collector_of(signo);

	if (fd == before)
		return;
	if (!fd)
		end(signo);
	atomic_store(&kinds[signo].fd, fd);
	while (atomic_load(&passing))
		eddyi_thread_yield();
	if (!fd)
		atomic_store(&kinds[signo].since_ns, 0);
	else if (atomic_load(&kinds[signo].since_ns))
		wake(fd);
	if (!before)
		begin(signo);
}

static void hand_on_all(const sigset_t *set)
{
	for (int signo = 1; signo < NSIG; signo++)
		if (sigismember(set, signo) == 1)
			hand_on(signo);
}

static _Thread_local sigset_t mask_before_fork;

/* So that no signal to the child meets the handler. */
static void before_fork(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask_before_fork);
}

static void in_parent(void)
{
	pthread_sigmask(SIG_SETMASK, &mask_before_fork, NULL);
}

/* A child has the program's dispositions: the descriptors are shared with its parent. */
static void in_child(void)
{
	for (int signo = 1; signo < NSIG; signo++) {
		if (atomic_load(&kinds[signo].fd)) {
			end(signo);
			if (kinds[signo].blocked)
				sigaddset(&mask_before_fork, signo);
		}
		atomic_store(&kinds[signo].fd, 0);
		atomic_store(&kinds[signo].since_ns, 0);
	}
	atomic_store(&passing, 0);
	newest = NULL;
	pthread_mutex_init(&lock, NULL);
	pthread_sigmask(SIG_SETMASK, &mask_before_fork, NULL);
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

int eddy_signals_open(const int *signos, struct eddy_signals *ret_signals)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	sigset_t set;
	int r = fill(&set, signos), fd;

	if (r < 0)
		return r;
	fd = open_above_standard();
	if (fd < 0)
		return fd;
	pthread_once(&once, watch_forks);
	*ret_signals = (struct eddy_signals){ .fd = eddyi_opened(fd), .set = set };
	pthread_mutex_lock(&lock);
	ret_signals->older = newest;
	newest = ret_signals;
	hand_on_all(&set);
	pthread_mutex_unlock(&lock);
	return 0;
}

int eddyi_signals_take(const struct eddy_signals *signals)
{
	uint64_t one;

	if (eddyi_read_now(signals->fd, &one, sizeof(one)) < 0)
		return -EAGAIN;
	for (int signo = 1; signo < NSIG; signo++)
		if (sigismember(&signals->set, signo) == 1 &&
		    atomic_load(&kinds[signo].fd) == signals->fd &&
		    eddyi_outside_value("signal",
					(int64_t)atomic_exchange(&kinds[signo].since_ns, 0)))
			return signo;
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
		r = eddyi_signals_take(signals);
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
	/* A forked child has none. */
	while (*at && (*at)->fd != fd)
		at = &(*at)->older;
	if (*at)
		*at = (*at)->older;
	hand_on_all(&signals->set);
	pthread_mutex_unlock(&lock);
	signals->fd = -1;
	eddyi_opened_forget(fd);
	eddyi_close_now(fd);
}

void eddy_signals_reset(void)
{
	sigset_t none;

	for (int signo = 1; signo < NSIG; signo++)
		signal(signo, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
