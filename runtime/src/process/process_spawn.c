/* The child shares this process's memory until it runs its program, as after vfork(2): nothing is
 * copied, and its errors are simply there. posix_spawn(3) does the same, but leaves two signals
 * ignored and gives no pidfd.
 *
 * Invariants:
 * 1. From clone(2) to execve(2) the thread that made the child stands still: they share errno and the
 *    thread's other variables. So the child makes system calls and nothing else.
 * 2. No signal handler runs in the child: every signal is blocked before it is made, and let through
 *    once all are back at their defaults.
 * 3. The child writes to nothing but its own stack and struct child.
 */
#include "process.h"

#include "core/switch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_STACK (16 * EDDY_KIB)
#define PATH_DEFAULT "/bin:/usr/bin"
/* The kernel's sigset_t and sigaction, which are not those of the C library: that keeps two signals
 * for itself. */
#define KERNEL_NSIG 64
#define KERNEL_SIGSET_SIZE (KERNEL_NSIG / 8)

struct child {
	_Alignas(16) char stack[CHILD_STACK];
	const struct eddyi_process_spawn *spawn;
	char *paths; /* to be tried one after another, each with its NUL, the last one empty */
	char *const *argv;
	char *const *env;
	bool searches; /* in PATH */
	int error;     /* why the program does not run; positive */
};

/* Every place where the program may be. Return: NULL when there is no memory. */
static char *make_paths(const char *program, bool searches)
{
	const char *path = searches ? getenv("PATH") : "";
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

		/* An empty one is the current folder. */
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

/* Put every descriptor in its place, and close the rest. The sources are lifted above all places
 * first, so that none is overwritten before it is used. */
static bool place_descriptors(const struct eddyi_process_spawn *spawn)
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
			syscall(SYS_fcntl, i, F_SETFD, 0); /* it may be closed here, too */
		else if (syscall(SYS_dup3, spawn->sources[i], i, 0) < 0)
			return false;
	}
	/* Also those that somebody has opened without O_CLOEXEC. */
	syscall(SYS_close_range, (unsigned)count, ~0U, 0);
	return true;
}

static void reset_signals(void)
{
	/* Large enough for the kernel's on every machine, and all zero: SIG_DFL, no flags. */
	static const uint64_t by_default[8], none;

	for (long signo = 1; signo <= KERNEL_NSIG; signo++)
		syscall(SYS_rt_sigaction, signo, by_default, NULL, KERNEL_SIGSET_SIZE);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, KERNEL_SIGSET_SIZE);
}

/* As execvp(3) does, but a file that is no program is an error and not a shell script.
 * Return: why none could be run. */
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

/* The child, from here on. */
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
/* TSan's clone() takes every child for a copy: one that has our memory, for the moment, would switch its
 * checks of this thread off for good. */
int __clone(int (*fn)(void *arg), void *stack, int flags, void *arg, ...);
#define clone __clone
#endif

static int make_child(struct child *child, struct eddyi_process_spawn *spawn)
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

		while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 && errno == EINTR)
			;
		close(pidfd);
		return -child->error;
	}
	spawn->pid = pid;
	spawn->pidfd = pidfd;
	return 0;
}

int eddyi_process_spawn(struct eddyi_process_spawn *spawn)
{
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
	if (child->paths)
		r = make_child(child, spawn);
	free(child->paths);
	free(child);
	return r;
}
