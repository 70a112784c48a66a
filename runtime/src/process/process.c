/* Child processes.
 *
 * A child shares this process's memory until it executes its program, as after vfork(2). Nothing is
 * copied, and the child reports errors directly. posix_spawn(3) does the same, but leaves two
 * signals ignored and returns no pidfd.
 *
 * Invariants:
 * 1. From clone(2) to execve(2) the creating thread is suspended. The child shares errno and its
 *    other thread-local variables, so it makes system calls and nothing else.
 * 2. No signal handler runs in the child: all signals are blocked before clone(2), and unblocked
 *    once they have their default actions.
 * 3. The child writes only to its own stack and struct child.
 */
#include "core/loop.h"
#include "core/switch.h"

#include <eddy/internal/debug.h>
#include <eddy/internal/outside.h>
#include <eddy/io.h>
#include <eddy/offload.h>
#include <eddy/process.h>
#include <eddy/scope.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_STACK (16 * EDDY_KIB)
#define PATH_DEFAULT "/bin:/usr/bin"
/* The kernel's sigset_t and sigaction: the C library's differ, and reserve two signals. */
#define KERNEL_NSIG 64
#define KERNEL_SIGSET_SIZE (KERNEL_NSIG / 8)

/* ---- creating a child ---- */

/* Arguments and results. */
struct spawn {
	const struct eddy_process_options *options;
	/* For each descriptor of the child, from 0 on: the descriptor of ours that it becomes; -1
	 * to inherit the same number. The child modifies it. */
	int *sources;
	int count;
	pid_t pid;
	int pidfd;
};

struct child {
	_Alignas(16) char stack[CHILD_STACK];
	const struct spawn *spawn;
	char *paths; /* paths to try in order, each with a NUL; an empty one ends the list */
	char *const *argv;
	char *const *env;
	bool searches; /* in PATH */
	int error;     /* the error that kept the program from running, positive */
};

/* List all paths where the program may be. Return: NULL on allocation failure. */
static char *make_paths(const char *program, bool searches)
{
	const char *path = searches ? eddyi_getenv_now("PATH") : "";
	struct eddy_str rest = eddy_str_from(path ? path : PATH_DEFAULT);
	size_t len = strlen(program), entries = 1;
	char *paths, *at;

	for (size_t i = 0; i < rest.len; i++)
		entries += rest.ptr[i] == ':';
	paths = at = malloc(rest.len + entries * (len + 2) + 1);
	if (!paths)
		return NULL;
	do {
		struct eddy_str folder = { 0 };

		/* An empty entry is the current folder. */
		eddy_str_split(&rest, ':', &folder);
		if (folder.len) {
			memcpy(at, folder.ptr, folder.len);
			at += folder.len;
			*at++ = '/';
		}
		memcpy(at, program, len + 1);
		at += len + 1;
	} while (rest.ptr);
	*at = 0;
	return paths;
}

/* Put all descriptors in place and close the others. Sources are first moved above all targets, so
 * that none is overwritten before use. */
static bool place_descriptors(const struct spawn *spawn)
{
	int count = spawn->count;

	for (int i = 0; i < count; i++) {
		if (spawn->sources[i] < 0)
			continue;
		spawn->sources[i] =
			(int)syscall(SYS_fcntl, spawn->sources[i], F_DUPFD_CLOEXEC, count);
		if (spawn->sources[i] < 0)
			return false;
	}
	for (int i = 0; i < count; i++) {
		if (spawn->sources[i] < 0)
			syscall(SYS_fcntl, i, F_SETFD, 0); /* fails if it is closed here, too */
		else if (syscall(SYS_dup3, spawn->sources[i], i, 0) < 0)
			return false;
	}
	/* Including those opened without O_CLOEXEC. */
	syscall(SYS_close_range, (unsigned)count, ~0U, 0);
	return true;
}

static void reset_signals(void)
{
	/* Large enough for the kernel's structure on all machines, and zero: SIG_DFL, no flags. */
	static const uint64_t by_default[8], none;

	for (long signo = 1; signo <= KERNEL_NSIG; signo++)
		syscall(SYS_rt_sigaction, signo, by_default, NULL, KERNEL_SIGSET_SIZE);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, KERNEL_SIGSET_SIZE);
}

/* Like execvp(3), but a file that is not executable is an error, not run as a shell script.
 * Return: the error that kept all paths from running. */
static int run_program(const struct child *child)
{
	int error = ENOENT;

	for (const char *path = child->paths; *path; path++) {
		syscall(SYS_execve, path, child->argv, child->env);
		if (errno == EACCES)
			error = EACCES;
		else if (!child->searches || (errno != ENOENT && errno != ENOTDIR))
			return errno;
		while (*path)
			path++;
	}
	return error;
}

/* The child's code starts here. */
static int child_main(void *arg)
{
	struct child *child = arg;
	const struct eddy_process_options *options = child->spawn->options;

	if (options->group && syscall(SYS_setpgid, 0, 0) < 0)
		child->error = errno;
	else if (!place_descriptors(child->spawn))
		child->error = errno;
	else if (options->cwd && syscall(SYS_chdir, options->cwd) < 0)
		child->error = errno;
	if (!child->error) {
		reset_signals();
		child->error = run_program(child);
	}
	syscall(SYS_exit_group, 127);
	return 0;
}

#if EDDYI_TSAN
/* TSan's clone() assumes a child with a copy of the memory. With shared memory it would permanently
 * disable its checks of this thread. */
int __clone(int (*fn)(void *arg), void *stack, int flags, void *arg, ...);
#define clone __clone
#endif

static int make_child(struct child *child, struct spawn *spawn)
{
	const int parent = spawn->options->sibling ? CLONE_PARENT : 0;
	const uint64_t all = UINT64_MAX;
	uint64_t before;
	int pidfd = -1, r;
	pid_t pid;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, KERNEL_SIGSET_SIZE);
	pid = clone(child_main, child->stack + sizeof(child->stack),
		    CLONE_VM | CLONE_VFORK | CLONE_PIDFD | parent | SIGCHLD, child, &pidfd);
	r = pid < 0 ? -errno : 0;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGSET_SIZE);
	if (r < 0)
		return r;
	if (child->error) {
		siginfo_t info;

		while (eddyi_waitid_now(P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 && errno == EINTR)
			;
		eddyi_close_now(pidfd);
		return -child->error;
	}
	spawn->pid = pid;
	spawn->pidfd = pidfd;
	return 0;
}

/* Create the child. Blocks until it executes its program: call it on a pool thread.
 * Return: 0 with `pid` and `pidfd`; -errno if there is no child. */
static int spawn_child(void *arg)
{
	struct spawn *spawn = arg;
	const struct eddy_process_options *options = spawn->options;
	struct child *child = malloc(sizeof(*child));
	int r = -ENOMEM;

	if (!child)
		return r;
	child->spawn = spawn;
	child->argv = (char *const *)options->argv;
	child->env = options->env ? (char *const *)options->env : environ;
	child->error = 0;
	child->searches = options->argv[0][0] && !strchr(options->argv[0], '/');
	child->paths = make_paths(options->argv[0], child->searches);
	if (child->paths) {
		r = (int)eddyi_outside_act("process", make_child(child, spawn));
		spawn->pid = (pid_t)eddyi_outside_value("pid", spawn->pid);
		spawn->pidfd = (int)eddyi_outside_value("pidfd", spawn->pidfd);
	}
	free(child->paths);
	free(child);
	return r;
}

/* ---- owning it ---- */

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

static int start(const struct eddy_process_options *options, struct plumbing *plumbing,
		 struct spawn *spawn)
{
	const struct eddy_process_stream streams[3] = { options->in, options->out, options->err };
	int r = 0;

	for (int i = 0; i < 3 && r == 0; i++)
		r = plumb(plumbing, i, streams[i], spawn->sources);
	for (size_t i = 0; i < options->fd_count && r == 0; i++) {
		spawn->sources[3 + i] = options->fds[i];
		r = options->fds[i] < 0 ? -EBADF : 0;
	}
	return r < 0 ? r : eddy_offload(spawn_child, spawn);
}

int eddy_process_start(const struct eddy_process_options *options, struct eddy_process *ret_process)
{
	struct plumbing plumbing = { .ours = { -1, -1, -1 }, .theirs = { -1, -1, -1 } };
	struct spawn spawn = { .options = options };
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

/* Running a child from start to end: writing its input, collecting its output. */

/* ---- running it from start to end ---- */

#define OUTPUT_MAX_DEFAULT EDDY_MIB
#define OUTPUT_MAX_LIMIT (SIZE_MAX / 4)
#define COLLECT_FIRST (4 * EDDY_KIB)

struct feeder {
	struct eddy_process *process;
	struct eddy_str input;
};

static int feed(void *arg)
{
	struct feeder *feeder = arg;
	int r = eddy_write_all(feeder->process->in, feeder->input.ptr, feeder->input.len,
			       EDDY_OFFSET_NONE);

	if (r == -ECANCELED)
		return r;
	/* Close the input. A child that stops reading early is no failure. */
	eddy_close(feeder->process->in);
	feeder->process->in = -1;
	return r == -EPIPE ? 0 : r;
}

struct collector {
	int fd;
	size_t max;
	char *bytes;
	size_t len;
	size_t size; /* of `bytes`, including a NUL */
	bool done;   /* the stream has ended */
};

static int grow(struct collector *collector)
{
	size_t size = collector->size ? 2 * collector->size : COLLECT_FIRST;
	char *bytes;

	/* One byte beyond the limit detects excess output; another is for the NUL. */
	if (size > collector->max + 2)
		size = collector->max + 2;
	bytes = realloc(collector->bytes, size);
	if (!bytes)
		return -ENOMEM;
	collector->bytes = bytes;
	collector->size = size;
	return 0;
}

static int collect(void *arg)
{
	struct collector *collector = arg;

	for (;;) {
		int r = collector->len + 1 >= collector->size ? grow(collector) : 0;
		ssize_t len;

		if (r < 0)
			return r;
		len = eddy_read(collector->fd, collector->bytes + collector->len,
				collector->size - collector->len - 1, EDDY_OFFSET_NONE);
		if (len < 0)
			return (int)len;
		if (!len)
			break;
		collector->len += (size_t)len;
		if (collector->len > collector->max)
			return -EMSGSIZE;
	}
	collector->bytes[collector->len] = 0;
	collector->done = true;
	return 0;
}

/* Fill in eddy_process_run()'s defaults for streams. */
static struct eddy_process_options complete(const struct eddy_process_options *options)
{
	struct eddy_process_options ours = *options;

	if (ours.in.kind == EDDY_PROCESS_DEFAULT)
		ours.in.kind = ours.input.len ? EDDY_PROCESS_PIPE : EDDY_PROCESS_NULL;
	else
		eddyi_assert(ours.in.kind != EDDY_PROCESS_PIPE && !ours.input.len,
			     "`in` must not be set: the call writes `input` to it");
	if (ours.out.kind == EDDY_PROCESS_DEFAULT)
		ours.out.kind = EDDY_PROCESS_PIPE;
	if (ours.err.kind == EDDY_PROCESS_DEFAULT)
		ours.err.kind = EDDY_PROCESS_PIPE;
	if (!ours.output_max)
		ours.output_max = OUTPUT_MAX_DEFAULT;
	if (ours.output_max > OUTPUT_MAX_LIMIT)
		ours.output_max = OUTPUT_MAX_LIMIT;
	return ours;
}

static int spawn_for(struct eddy_scope *scope, const char *name, eddy_task_fn *fn, void *arg,
		     int fd)
{
	return fd < 0 ? 0 : eddy_scope_spawn(scope, name, fn, arg);
}

static bool is_done(const struct collector *collector)
{
	return collector->fd < 0 || collector->done;
}

static int run(struct eddy_process *process, struct feeder *feeder, struct collector collectors[2],
	       struct eddy_process_status *ret_status)
{
	struct eddy_scope scope;
	int r, failure;
	bool ended;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .fail_fast = true });
	r = spawn_for(&scope, "process input", feed, feeder, process->in);
	if (r == 0)
		r = spawn_for(&scope, "process out", collect, &collectors[0], process->out);
	if (r == 0)
		r = spawn_for(&scope, "process err", collect, &collectors[1], process->err);
	if (r == 0)
		r = eddy_process_wait(process, ret_status);
	ended = r == 0;
	if (r == 0)
		r = eddy_scope_join(&scope);
	failure = eddy_scope_end(&scope);
	if (failure < 0 && failure != -ECANCELED)
		return failure;
	/* A complete result takes precedence over cancellation. */
	if (ended && is_done(&collectors[0]) && is_done(&collectors[1]))
		return 0;
	return failure < 0 ? failure : r;
}

int eddy_process_run(const struct eddy_process_options *options,
		     struct eddy_process_output *ret_output)
{
	struct eddy_process_options ours = complete(options);
	struct eddy_process process;
	struct collector collectors[2];
	struct eddy_process_output output = { 0 };
	int r;

	eddyi_task();
	r = eddy_process_start(&ours, &process);
	if (r < 0)
		return r;
	collectors[0] = (struct collector){ .fd = process.out, .max = ours.output_max };
	collectors[1] = (struct collector){ .fd = process.err, .max = ours.output_max };
	r = run(&process, &(struct feeder){ &process, ours.input }, collectors, &output.status);
	eddy_process_close(&process);
	output.out = collectors[0].bytes;
	output.out_len = collectors[0].len;
	output.err = collectors[1].bytes;
	output.err_len = collectors[1].len;
	if (r < 0)
		eddy_process_output_deinit(&output);
	else
		*ret_output = output;
	return r;
}

void eddy_process_output_deinit(struct eddy_process_output *output)
{
	free(output->out);
	free(output->err);
	output->out = output->err = NULL;
	output->out_len = output->err_len = 0;
}
