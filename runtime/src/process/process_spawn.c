/* The child shares this process's memory until it executes its program, as after vfork(2). Nothing
 * is copied, and the child reports errors directly. posix_spawn(3) does the same, but leaves two
 * signals ignored and returns no pidfd.
 *
 * Invariants:
 * 1. From clone(2) to execve(2) the creating thread is suspended. The child shares errno and its
 *    other thread-local variables, so it makes system calls and nothing else.
 * 2. No signal handler runs in the child: all signals are blocked before clone(2), and unblocked
 *    once they have their default actions.
 * 3. The child writes only to its own stack and struct child.
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
/* The kernel's sigset_t and sigaction: the C library's differ, and reserve two signals. */
#define KERNEL_NSIG 64
#define KERNEL_SIGSET_SIZE (KERNEL_NSIG / 8)

struct child {
	_Alignas(16) char stack[CHILD_STACK];
	const struct eddyi_process_spawn *spawn;
	char *paths; /* paths to try in order, each with a NUL; an empty one ends the list */
	char *const *argv;
	char *const *env;
	bool searches; /* in PATH */
	int error;     /* the error that kept the program from running, positive */
};

/* List all paths where the program may be. Return: NULL on allocation failure. */
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
