/* sandbox_rig.h: folders inside and outside of a sandbox, a child that enters it, and what it tries there by system calls. */
#ifndef EDDY_TESTS_SANDBOX_RIG_H
#define EDDY_TESTS_SANDBOX_RIG_H

#include "expect.h"

#include <eddy/sandbox.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "sandbox/sandbox.h"

#define NOBODY 65534

static char root[] = "/tmp/eddy-sandbox-XXXXXX";
static char inside[64], outside[64], secret[80];
static int inside_dir = -1, outside_dir = -1, secret_fd = -1;

/* ---- the folders ---- */

static inline void put(const char *folder, const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, "secret", 6), 6);
	fchmod(fd, 0666);
	close(fd);
}

static inline void make_folders(void)
{
	umask(0);
	cr_assert(mkdtemp(root));
	cr_assert_eq(chmod(root, 0755), 0);
	snprintf(inside, sizeof(inside), "%s/inside", root);
	snprintf(outside, sizeof(outside), "%s/outside", root);
	snprintf(secret, sizeof(secret), "%s/secret", outside);
	cr_assert_eq(mkdir(inside, 0777), 0);
	cr_assert_eq(mkdir(outside, 0777), 0);
	put(inside, "own");
	put(outside, "secret");
	put(outside, "victim");
	inside_dir = open(inside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	outside_dir = open(outside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	secret_fd = open(secret, O_RDONLY | O_CLOEXEC);
	cr_assert_eq(symlinkat("../outside/secret", inside_dir, "link"), 0);
	cr_assert_eq(symlinkat("../outside", inside_dir, "out"), 0);
}

static inline void remove_folders(void)
{
	char command[128];

	if (!*inside)
		return;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	cr_expect_eq(system(command), 0);
}

/* ---- a child ---- */

static bool without_sandbox;

static const char *const folders[] = { inside, NULL };

/* In a child, after which the test is over. */
static inline void enter(void)
{
	int r = without_sandbox ?
			0 :
			eddy_sandbox_enter(&(struct eddy_sandbox_options){ .writable = folders });

	if (r < 0) {
		fprintf(stderr, "eddy_sandbox_enter(): %s\n", strerror(-r));
		_exit(99);
	}
}

/* Return: its status, as of waitpid(2). */
static inline int child(int (*fn)(void), uid_t user)
{
	int status = -1;
	pid_t pid = fork();

	cr_assert(pid >= 0);
	if (pid == 0) {
		int failed;

		alarm(60);
		if (user && (setgid(user) < 0 || setuid(user) < 0))
			_exit(98);
		failed = fn();
		for (int i = 0; i < expect_failed && i < EXPECT_NOTES; i++)
			fprintf(stderr, "%s\n", expect_text[i]);
		_exit(failed || expect_failed ? 1 : 0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* As whoever runs the tests, and where that is root as nobody too. */
static inline void expect_child(int (*fn)(void))
{
	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind knows neither Landlock nor its signals");
	cr_expect_eq(child(fn, 0), 0);
	if (getuid() == 0)
		cr_expect_eq(child(fn, NOBODY), 0, "as nobody");
}

static inline void expect_landlock_child(int (*fn)(void))
{
	if (eddyi_landlock_version() < 0)
		cr_skip_test("this kernel has no Landlock");
	expect_child(fn);
}

/* ---- attempts by system calls ---- */

/* Return: 0 or above when it has worked, and nothing of it is left; -errno. */
typedef int attempt_fn(void);

static inline int opened(int fd)
{
	char bytes[6];
	int r = fd < 0 ? -errno : 0;

	if (fd >= 0)
		r = read(fd, bytes, sizeof(bytes)) >= 0 || errno == EISDIR || errno == EBADF ? 0 :
											       -1;
	if (fd >= 0)
		close(fd);
	return r;
}

static inline int done(int result)
{
	return result < 0 ? -errno : 0;
}

static inline int by_path(void)
{
	return opened(open(secret, O_RDONLY | O_CLOEXEC));
}

static inline int by_path_to_write(void)
{
	return opened(open(secret, O_WRONLY | O_CLOEXEC));
}

static inline int beneath_a_descriptor(void)
{
	return opened(openat(outside_dir, "secret", O_RDONLY | O_CLOEXEC));
}

static inline int above_the_folder(void)
{
	return opened(openat(inside_dir, "../outside/secret", O_RDONLY | O_CLOEXEC));
}

static inline int through_a_link(void)
{
	return opened(openat(inside_dir, "link", O_RDONLY | O_CLOEXEC));
}

static inline int through_a_link_to_a_folder(void)
{
	return opened(openat(inside_dir, "out/secret", O_RDONLY | O_CLOEXEC));
}

static inline int opened_anew(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", secret_fd);
	return opened(open(path, O_RDWR | O_CLOEXEC));
}

static inline int by_the_root_of_proc(void)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/self/root%s", secret);
	return opened(open(path, O_RDONLY | O_CLOEXEC));
}

static inline int from_a_working_folder(void)
{
	if (fchdir(outside_dir) < 0)
		return -errno;
	return opened(open("secret", O_RDONLY | O_CLOEXEC));
}

static inline int list(void)
{
	return opened(open(outside, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static inline int make_a_nameless_file(void)
{
	return opened(open(outside, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
}

static inline int make_a_file(void)
{
	int r = opened(openat(outside_dir, "new", O_RDWR | O_CREAT | O_CLOEXEC, 0600));

	unlinkat(outside_dir, "new", 0);
	return r;
}

static inline int make_a_folder(void)
{
	int r = done(mkdirat(outside_dir, "folder", 0700));

	unlinkat(outside_dir, "folder", AT_REMOVEDIR);
	return r;
}

static inline int remove_a_file(void)
{
	int r = done(unlinkat(outside_dir, "victim", 0));

	if (r == 0)
		put(outside, "victim");
	return r;
}

static inline int link_in(void)
{
	int r = done(linkat(AT_FDCWD, secret, inside_dir, "stolen", 0));

	unlinkat(inside_dir, "stolen", 0);
	return r;
}

static inline int link_out(void)
{
	int r = done(linkat(inside_dir, "own", outside_dir, "placed", 0));

	unlinkat(outside_dir, "placed", 0);
	return r;
}

static inline int rename_in(void)
{
	int r = done(renameat(outside_dir, "victim", inside_dir, "moved"));

	if (r == 0)
		r = done(renameat(inside_dir, "moved", outside_dir, "victim"));
	return r;
}

static inline int make_a_link(void)
{
	int r = done(symlinkat("/etc", inside_dir, "etc"));

	unlinkat(inside_dir, "etc", 0);
	return r;
}

static inline int make_a_socket(void)
{
	int r = done(mknodat(outside_dir, "socket", S_IFSOCK | 0600, 0));

	unlinkat(outside_dir, "socket", 0);
	return r;
}

static inline int change_the_mode(void)
{
	return done(fchmodat(outside_dir, "victim", 0666, 0));
}

static inline int change_the_owner(void)
{
	return done(fchownat(outside_dir, "victim", (uid_t)-1, (gid_t)-1, 0));
}

static inline int change_the_time(void)
{
	return done(utimensat(outside_dir, "victim", NULL, 0));
}

static inline int cut(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/victim", outside);
	return done(truncate(path, 3));
}

static inline int set_an_attribute(void)
{
	int r = done(setxattr(secret, "user.eddy", "x", 1, 0));

	return r == -EOPNOTSUPP ? 0 : r;
}

static inline int read_an_attribute(void)
{
	char value[8];
	int r = done((int)getxattr(secret, "user.other", value, sizeof(value)));

	return r == -ENODATA || r == -EOPNOTSUPP ? 0 : r;
}

static inline int watch_a_folder(void)
{
	int fd = inotify_init1(IN_CLOEXEC), r = done(inotify_add_watch(fd, outside, IN_CREATE));

	close(fd);
	return r;
}

static inline int have_another_signalled(void)
{
	return done(fcntl(secret_fd, F_SETOWN, getppid()));
}

static inline int fork_a_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -errno : done(waitpid(pid, NULL, 0));
}

static inline int clone_by_the_new_call(void)
{
	uint64_t args[11] = { [4] = SIGCHLD };
	long pid = syscall(SYS_clone3, args, sizeof(args));

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -errno : done(waitpid((pid_t)pid, NULL, 0));
}

static inline int closed(int fd)
{
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static inline int make_a_unix_socket(void)
{
	return closed(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static inline int make_an_ip_socket(void)
{
	return closed(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static inline int make_a_netlink_socket(void)
{
	return closed(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0));
}

static inline int pair_that_could_be_connected_anew(void)
{
	int fds[2], r = done(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds));

	if (r == 0) {
		close(fds[0]);
		close(fds[1]);
	}
	return r;
}

static inline int make_a_ring(void)
{
	struct io_uring_params params = { 0 };

	return closed((int)syscall(SYS_io_uring_setup, 1, &params));
}

static inline int signal_another(void)
{
	return done(kill(getppid(), 0));
}

static inline int change_the_priority_of_another(void)
{
	return done(setpriority(PRIO_PROCESS, (id_t)getppid(),
				getpriority(PRIO_PROCESS, (id_t)getppid())));
}

static inline int move_another_to_other_processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(getppid(), sizeof(set), &set) < 0)
		return -errno;
	return done(sched_setaffinity(getppid(), sizeof(set), &set));
}

static inline int share_memory(void)
{
	int id = shmget(IPC_PRIVATE, 4096, 0600);

	return id < 0 ? -errno : done(shmctl(id, IPC_RMID, NULL));
}

#define ATTEMPT(fn)                                                                                \
	{                                                                                          \
#fn, fn                                                                            \
	}

static const struct {
	const char *name;
	attempt_fn *fn;
} attempts[] = {
	ATTEMPT(by_path),
	ATTEMPT(by_path_to_write),
	ATTEMPT(beneath_a_descriptor),
	ATTEMPT(above_the_folder),
	ATTEMPT(through_a_link),
	ATTEMPT(through_a_link_to_a_folder),
	ATTEMPT(opened_anew),
	ATTEMPT(by_the_root_of_proc),
	ATTEMPT(from_a_working_folder),
	ATTEMPT(list),
	ATTEMPT(make_a_nameless_file),
	ATTEMPT(make_a_file),
	ATTEMPT(make_a_folder),
	ATTEMPT(remove_a_file),
	ATTEMPT(link_in),
	ATTEMPT(link_out),
	ATTEMPT(rename_in),
	ATTEMPT(make_a_link),
	ATTEMPT(make_a_socket),
	ATTEMPT(change_the_mode),
	ATTEMPT(change_the_owner),
	ATTEMPT(change_the_time),
	ATTEMPT(cut),
	ATTEMPT(set_an_attribute),
	ATTEMPT(read_an_attribute),
	ATTEMPT(watch_a_folder),
	ATTEMPT(have_another_signalled),
	ATTEMPT(fork_a_child),
	ATTEMPT(clone_by_the_new_call),
	ATTEMPT(make_a_unix_socket),
	ATTEMPT(make_an_ip_socket),
	ATTEMPT(make_a_netlink_socket),
	ATTEMPT(pair_that_could_be_connected_anew),
	ATTEMPT(make_a_ring),
	ATTEMPT(signal_another),
	ATTEMPT(change_the_priority_of_another),
	ATTEMPT(move_another_to_other_processors),
	ATTEMPT(share_memory),
};

#define ATTEMPTS (sizeof(attempts) / sizeof(attempts[0]))

/* All of them, on this thread. Return: how many went otherwise than they should. */
static inline int attempt_all(const char *who)
{
	int wrong = 0;

	for (size_t i = 0; i < ATTEMPTS; i++) {
		int r = attempts[i].fn();

		if (r >= 0 ? without_sandbox : !without_sandbox && r != -ENOENT)
			continue;
		wrong++;
		fprintf(stderr, "%s: %s: %s\n", who, attempts[i].name,
			r < 0 ? strerror(-r) : "worked");
	}
	return wrong;
}

#endif
