#include "process.h"

#include "core/loop.h"

#include <eddy/internal/debug.h>
#include <eddy/internal/outside.h>
#include <eddy/io.h>
#include <eddy/offload.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_AGAIN_NS EDDY_MS

/* Descriptors for a child that is about to start. */
struct plumbing {
	int ours[3];   /* our ends of pipes; -1 for none */
	int theirs[3]; /* opened for the child, closed here after its start; -1 for none */
};

static void close_three(int fds[3])
{
	for (int i = 0; i < 3; i++) {
		if (fds[i] >= 0)
			eddyi_close_now(fds[i]);
		fds[i] = -1;
	}
}

/* Move a descriptor above 2. If 0 to 2 are closed in this process, our descriptors must not take
 * their numbers, which a child inherits. */
static int lift(int *fd)
{
	int lifted;

	if (*fd > STDERR_FILENO)
		return 0;
	lifted = eddyi_fcntl_now(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (lifted < 0)
		return -errno;
	eddyi_close_now(*fd);
	*fd = lifted;
	return 0;
}

static int open_pipe(struct plumbing *plumbing, int i)
{
	int fds[2], our_end = i == 0, r;

	if (eddyi_pipe2_now(fds, O_CLOEXEC) < 0)
		return -errno;
	plumbing->ours[i] = fds[our_end];
	plumbing->theirs[i] = fds[!our_end];
	r = lift(&plumbing->ours[i]);
	if (r == 0)
		r = lift(&plumbing->theirs[i]);
	if (r < 0)
		return r;
	/* Only on our end: few programs handle -EAGAIN. */
	return eddyi_fcntl_now(plumbing->ours[i], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int open_null(struct plumbing *plumbing, int i)
{
	plumbing->theirs[i] =
		eddyi_open_now("/dev/null", (i == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC, 0);
	return plumbing->theirs[i] < 0 ? -errno : lift(&plumbing->theirs[i]);
}

/* Set sources[i], which becomes the child's `i`; -1 to inherit `i`. Return: 0, -errno. */
static int plumb(struct plumbing *plumbing, int i, struct eddy_process_stream stream, int *sources)
{
	int r = 0;

	sources[i] = -1;
	switch (stream.kind) {
	case EDDY_PROCESS_DEFAULT:
	case EDDY_PROCESS_INHERIT:
		return 0;
	case EDDY_PROCESS_FD:
		sources[i] = stream.fd;
		return stream.fd < 0 ? -EBADF : 0;
	case EDDY_PROCESS_MERGE:
		eddyi_assert(i == 2, "EDDY_PROCESS_MERGE is only allowed for err");
		sources[i] = sources[1] < 0 ? 1 : sources[1];
		return 0;
	case EDDY_PROCESS_NULL:
		r = open_null(plumbing, i);
		break;
	case EDDY_PROCESS_PIPE:
		r = open_pipe(plumbing, i);
		break;
	}
	sources[i] = plumbing->theirs[i];
	return r;
}

static int spawn_off_loop(void *arg)
{
	return eddyi_process_spawn(arg);
}

static int start(const struct eddy_process_options *options, struct plumbing *plumbing,
		 struct eddyi_process_spawn *spawn)
{
	const struct eddy_process_stream streams[3] = { options->in, options->out, options->err };
	int r = 0;

	for (int i = 0; i < 3 && r == 0; i++)
		r = plumb(plumbing, i, streams[i], spawn->sources);
	for (size_t i = 0; i < options->fd_count && r == 0; i++) {
		spawn->sources[3 + i] = options->fds[i];
		r = options->fds[i] < 0 ? -EBADF : 0;
	}
	return r < 0 ? r : eddy_offload(spawn_off_loop, spawn);
}

int eddy_process_start(const struct eddy_process_options *options, struct eddy_process *ret_process)
{
	struct plumbing plumbing = { .ours = { -1, -1, -1 }, .theirs = { -1, -1, -1 } };
	struct eddyi_process_spawn spawn = { .options = options };
	int r;

	eddyi_assert(options->argv && options->argv[0],
		     "argv is empty: its first element must be the program");
	eddyi_assert(!options->group || !options->sibling, "group and sibling can't both be set");
	spawn.count = 3 + (int)options->fd_count;
	spawn.sources = malloc((size_t)spawn.count * sizeof(int));
	if (!spawn.sources)
		return -ENOMEM;
	r = start(options, &plumbing, &spawn);
	free(spawn.sources);
	close_three(plumbing.theirs);
	if (r < 0) {
		close_three(plumbing.ours);
		return r;
	}
	*ret_process = (struct eddy_process){
		.pid = spawn.pid,
		.pidfd = eddyi_opened(spawn.pidfd),
		.in = eddyi_opened(plumbing.ours[0]),
		.out = eddyi_opened(plumbing.ours[1]),
		.err = eddyi_opened(plumbing.ours[2]),
		.group = options->group,
		.sibling = options->sibling,
		.grace_ns = options->grace_ns,
	};
	return 0;
}

static struct eddy_process_status status_of(const siginfo_t *info)
{
	bool exited = info->si_code == CLD_EXITED;

	return (struct eddy_process_status){
		.code = exited ? info->si_status : -1,
		.signo = exited ? 0 : info->si_status,
		.core_dumped = info->si_code == CLD_DUMPED,
	};
}

/* Check a sibling, whose status our parent takes. Return: -EAGAIN if it runs; else -ECHILD. */
static int see_end(struct eddy_process *process)
{
	struct pollfd end = { .fd = process->pidfd, .events = POLLIN };

	if (eddyi_poll_now(&end, 1, 0) <= 0)
		return -EAGAIN;
	process->reaped = true;
	return -ECHILD;
}

/* Take the status of a child that has ended. The leader of a group stays a zombie until it is
 * closed, so that no other group gets its number.
 * Return: 0; -EAGAIN if it has not ended; -ECHILD. */
static int take_status(struct eddy_process *process, bool reap)
{
	siginfo_t info = { 0 };

	/* Another waiting task may have taken it. */
	if (process->reaped)
		return process->ended ? 0 : -ECHILD;
	if (process->sibling)
		return see_end(process);
	if (process->ended && !reap)
		return 0;
	if (eddyi_waitid_now(P_PIDFD, (id_t)process->pidfd, &info,
			     WEXITED | WNOHANG | (reap ? 0 : WNOWAIT)) < 0) {
		/* It was reaped elsewhere. */
		process->reaped = true;
		return -errno;
	}
	if (!info.si_pid)
		return -EAGAIN;
	process->status = status_of(&info);
	process->ended = true;
	process->reaped = reap;
	return 0;
}

static int await_end(struct eddy_process *process, bool reap)
{
	int r = take_status(process, reap);

	while (r == -EAGAIN) {
		r = eddy_poll(process->pidfd, POLLIN);
		if (r >= 0)
			r = take_status(process, reap);
	}
	return r;
}

int eddy_process_wait(struct eddy_process *process, struct eddy_process_status *ret_status)
{
	int r;

	eddyi_assert(process->pid && process->pidfd >= 0,
		     "the process was closed or never started before the wait");
	r = await_end(process, !process->group);
	if (r == 0 && ret_status)
		*ret_status = process->status;
	return r;
}

int eddy_process_kill(struct eddy_process *process, int signo)
{
	int r;

	eddyi_assert(process->pid && process->pidfd >= 0,
		     "the process was closed or never started before the signal");
	if (process->reaped)
		return -ESRCH;
	if (process->group)
		r = eddyi_kill_now(-process->pid, signo);
	else
		r = eddyi_pidfd_send_signal_now(process->pidfd, signo);
	return r < 0 ? -errno : 0;
}

/* Send SIGTERM and wait for the end, for the grace period at most. */
static void terminate(struct eddy_process *process)
{
	struct eddy_scope scope;

	eddy_process_kill(process, SIGTERM);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = process->grace_ns });
	await_end(process, !process->group);
	eddy_scope_end(&scope);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		eddy_close(*fd);
	*fd = -1;
}

static void close_descriptors(struct eddy_process *process)
{
	close_fd(&process->in);
	close_fd(&process->out);
	close_fd(&process->err);
	close_fd(&process->pidfd);
}

void eddy_process_close(struct eddy_process *process)
{
	struct eddy_scope shield;

	/* pid 0: never started. */
	if (process->pidfd < 0 || !process->pid)
		return;
	eddyi_task();
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	if (!process->ended && !process->reaped && process->grace_ns)
		terminate(process);
	if (!process->reaped) {
		eddy_process_kill(process, SIGKILL);
		/* A poll may fail for lack of memory. */
		while (await_end(process, true) < 0 && !process->reaped)
			eddy_sleep(POLL_AGAIN_NS);
	}
	close_descriptors(process);
	eddy_scope_end(&shield);
}

void eddy_process_release(struct eddy_process *process)
{
	struct eddy_scope shield;

	if (!process->pid)
		return;
	eddyi_task();
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	close_descriptors(process);
	eddy_scope_end(&shield);
}
