#include <eddy/signal.h>

#include <eddy/internal/debug.h>
#include <eddy/io.h>
#include <eddy/scope.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define RETRY_NS (10 * EDDY_MS)

static int fill(sigset_t *set, const int *signos)
{
	sigemptyset(set);
	for (; *signos; signos++)
		if (*signos == SIGKILL || *signos == SIGSTOP || sigaddset(set, *signos) < 0)
			return -EINVAL;
	return 0;
}

/* The program may have closed 0 to 2, and 0 means that nothing was opened. */
static int open_above_standard(const sigset_t *set)
{
	int fd = signalfd(-1, set, SFD_NONBLOCK | SFD_CLOEXEC), above, error;

	if (fd < 0)
		return -errno;
	if (fd > STDERR_FILENO)
		return fd;
	above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	error = errno;
	close(fd);
	return above < 0 ? -error : above;
}

int eddy_signals_open(const int *signos, struct eddy_signals *ret_signals)
{
	sigset_t set, before;
	int r = fill(&set, signos), fd;

	if (r < 0)
		return r;
	/* Block first, so that signals sent in between stay pending. */
	pthread_sigmask(SIG_BLOCK, &set, &before);
	fd = open_above_standard(&set);
	if (fd < 0) {
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		return fd;
	}
	for (; *signos; signos++)
		if (sigismember(&before, *signos))
			sigdelset(&set, *signos);
	*ret_signals = (struct eddy_signals){ .fd = eddyi_opened(fd), .blocked = set };
	return 0;
}

/* Return: a signal number; -EAGAIN. */
static int fetch(int fd)
{
	struct signalfd_siginfo info;
	ssize_t len;

	do
		len = read(fd, &info, sizeof(info));
	while (len < 0 && errno == EINTR);
	return len < 0 ? -errno : (int)info.ssi_signo;
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
	/* Poll, then read on this thread: a signalfd returns the signals of the thread that reads,
	 * and a kernel worker might not see those sent to the loop's thread. */
	do {
		r = wait_for_some(signals);
		if (r < 0)
			return r;
		r = fetch(signals->fd);
	} while (r == -EAGAIN);
	return r;
}

void eddy_signals_close(struct eddy_signals *signals)
{
	if (signals->fd <= 0)
		return;
	/* Discard pending signals: unblocked, they would end the process during its cleanup. */
	while (fetch(signals->fd) > 0)
		;
	eddyi_opened_forget(signals->fd);
	close(signals->fd);
	signals->fd = -1;
	/* Only those that were blocked by eddy_signals_open(). */
	pthread_sigmask(SIG_UNBLOCK, &signals->blocked, NULL);
}

void eddy_signals_reset(void)
{
	sigset_t none;

	for (int signo = 1; signo < NSIG; signo++)
		signal(signo, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
