/* The doctor on this machine, and on ones that are worse: made so for it alone, by a seccomp filter
 * or a limit that it inherits, or as a user without privileges. And what a program says there that
 * can't start. */
#include "../on_tsan.h"

#include <criterion/criterion.h>
#include "base/feature.h"
#include <eddy/loops.h>
#include <eddy/main.h>
#include <eddy/task.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "sandbox/sandbox.h"

static int forbid_error;
static unsigned forbidden = SYS_io_uring_setup;
static rlim_t files, files_soft, space, locked, threads;
static uid_t user; /* other than root */
static const char *backlog;
static bool hog_pipes, as_program;
static int (*program)(void); /* NULL: of eddy_main() */
static char says[16384];

/* Let io_uring_setup, or another call, fail with `forbid_error`, as container runtimes and old kernels do. */
static void forbid_rings(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, forbidden, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)forbid_error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(126);
}

static void limit(int resource, rlim_t to)
{
	if (setrlimit(resource, &(struct rlimit){ to, to }) < 0)
		_exit(126);
}

/* It belongs to a network. */
static void shorten_backlog(void)
{
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		_exit(126);
	fd = open("/proc/sys/net/core/somaxconn", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, backlog, strlen(backlog)) < 0)
		_exit(126);
	close(fd);
}

/* Take as many big pipes as this user gets. */
static void take_pipes(void)
{
	int fds[2];

	while (pipe(fds) == 0 && fcntl(fds[1], F_SETPIPE_SZ, 1 << 20) > 0)
		;
}

static int nothing(__attribute__((unused)) void *arg)
{
	return 0;
}

static void become_doctor(int out)
{
	/* Its folder may be nobody's business. */
	int doctor = open(EDDY_DOCTOR, O_PATH | O_CLOEXEC);

	if (dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
		_exit(126);
	if (user)
		limit(RLIMIT_MEMLOCK, locked);
	if (user && (setgid(user) < 0 || setuid(user) < 0))
		_exit(126);
	if (hog_pipes)
		take_pipes();
	if (space)
		limit(RLIMIT_AS, space);
	if (threads)
		limit(RLIMIT_NPROC, threads);
	if (files)
		limit(RLIMIT_NOFILE, files);
	if (files_soft)
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){ files_soft, 10240 });
	if (backlog)
		shorten_backlog();
	if (forbid_error)
		forbid_rings();
	if (as_program)
		_exit(program ? program() : eddy_main(nothing, NULL));
	if (files)
		execl(EDDY_DOCTOR, "eddy-doctor", (char *)NULL);
	syscall(SYS_execveat, doctor, "", (char *const[]){ "eddy-doctor", NULL }, environ,
		AT_EMPTY_PATH);
	_exit(127);
}

/* Run it and keep what it says. Return: its exit status. */
static int run_doctor(void)
{
	int fds[2], status;
	size_t len = 0;
	ssize_t r;
	pid_t child;

	cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
	child = fork();
	if (child == 0)
		become_doctor(fds[1]);
	close(fds[1]);
	while ((r = read(fds[0], says + len, sizeof(says) - 1 - len)) > 0)
		len += (size_t)r;
	says[len] = 0;
	close(fds[0]);
	cr_assert_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int with_run(void)
{
	return eddy_run(NULL, nothing, NULL) ? 1 : 0;
}

static int with_small_stack(void)
{
	return eddy_run(&(struct eddy_loop_options){ .stack_size = 1 }, nothing, NULL) ? 1 : 0;
}

static int with_loops(void)
{
	return eddy_loops_run_blocking(NULL, nothing, NULL) ? 1 : 0;
}

/* The first loop is there, others are not. */
static int more_loops(void *arg)
{
	forbid_error = EPERM;
	forbid_rings();
	return eddy_loops_run(&(struct eddy_loops_options){ .count = 3 }, nothing, arg);
}

static int with_more_loops(void)
{
	return eddy_run(NULL, more_loops, NULL) ? 1 : 0;
}

static int too_many_loops(void *arg)
{
	return eddy_loops_run(&(struct eddy_loops_options){ .count = EDDY_LOOPS_MAX + 1 }, nothing,
			      arg);
}

static int with_too_many_loops(void)
{
	return eddy_run(NULL, too_many_loops, NULL) ? 1 : 0;
}

static int run_program(int error)
{
	forbid_error = error;
	as_program = true;
	return run_doctor();
}

static void begin(void)
{
	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind has system calls and limits of its own");
}

TestSuite(doctor, .init = begin);

Test(doctor, this_machine_is_fit)
{
	cr_expect_eq(run_doctor(), 0, "%s", says);
	cr_expect(strstr(says, "\nok   io_uring: works\n"), "%s", says);
	cr_expect(!strstr(says, "FAIL"), "%s", says);
	cr_expect(strstr(says, "\nThis machine can run eddy.\n"));
}

Test(doctor, every_feature_is_listed)
{
	cr_expect_eq(run_doctor(), 0, "%s", says);
	for (int i = 0; i < EDDYI_FEATURES; i++) {
		const struct eddyi_feature_info *info = eddyi_feature_info(i);
		char line[128];

		if (eddyi_feature_is_there(i))
			snprintf(line, sizeof(line), "\nok   %s: there\n", info->name);
		else
			snprintf(line, sizeof(line), "\nnone %s: Linux %s has it; without, ",
				 info->name, info->since);
		cr_expect(strstr(says, line), "%s in %s", line, says);
	}
	/* Where there is no ring nothing is known of them. */
	forbid_error = EPERM;
	run_doctor();
	cr_expect(!strstr(says, "IORING_OP_"), "%s", says);
}

Test(doctor, a_filter_that_forbids_rings)
{
	forbid_error = EPERM;
	cr_expect_eq(run_doctor(), 0, "%s", says);
	cr_expect(strstr(says,
			 "\nwarn io_uring: Operation not permitted, so epoll and threads take "
			 "its place, which costs up to a quarter of the speed — a seccomp filter"),
		  "%s", says);
	cr_expect(strstr(says, "\nwarn seccomp: a filter, which forbids io_uring — "), "%s", says);
	cr_expect(strstr(says, "\nok   locked memory:"), "%s", says);
}

Test(doctor, a_filter_that_hides_rings)
{
	char line[128];

	snprintf(line, sizeof(line), "\nwarn io_uring: %s, so epoll ", strerror(ENOSYS));
	forbid_error = ENOSYS;
	cr_expect_eq(run_doctor(), 0, "%s", says);
	cr_expect(strstr(says, line), "%s", says);
	cr_expect(strstr(says, "\nwarn seccomp: "), "%s", says);
}

Test(doctor, an_environment_without_rings)
{
	setenv("EDDY_EXECUTOR", "poll", 1);
	cr_expect_eq(run_doctor(), 0, "%s", says);
	cr_expect(strstr(says, "\nwarn EDDY_EXECUTOR: is poll, so programs do not use io_uring"),
		  "%s", says);
	cr_expect(strstr(says, "\nok   io_uring: works"), "%s", says);
	setenv("EDDY_EXECUTOR", "epoll", 1);
	cr_expect_eq(run_doctor(), 1, "%s", says);
	cr_expect(strstr(says, "\nFAIL EDDY_EXECUTOR: is epoll — EDDY_EXECUTOR is ring or poll"),
		  "%s", says);
	/* Programs that start without them, and that do not. */
	forbid_error = EPERM;
	setenv("EDDY_EXECUTOR", "ring", 1);
	cr_expect_eq(run_doctor(), 1, "%s", says);
	cr_expect(strstr(says, "\nFAIL io_uring: Operation not permitted"), "%s", says);
	setenv("EDDY_EXECUTOR", "poll", 1);
	cr_expect_eq(run_program(EPERM), 0, "%s", says);
}

Test(doctor, landlock)
{
	int version = eddyi_landlock_version();
	char line[64];

	snprintf(line, sizeof(line), "\nok   landlock: ABI %d: a sandbox restricts files", version);
	cr_expect_eq(run_doctor(), 0, "%s", says);
	cr_expect(strstr(says, version > 0 ? line : "\nwarn landlock: "), "%s", says);
	forbidden = SYS_landlock_create_ruleset;
	forbid_error = EOPNOTSUPP;
	cr_expect_eq(run_doctor(), 0, "%s", says);
	cr_expect(strstr(says, "\nwarn landlock: Operation not supported: a sandbox does not "
			       "restrict files — boot with `landlock` "),
		  "%s", says);
}

Test(doctor, no_memory_for_rings)
{
	forbid_error = ENOMEM;
	cr_expect_eq(run_doctor(), 1, "%s", says);
	cr_expect(strstr(says, "\nFAIL locked memory: "), "%s", says);
	cr_expect(strstr(says, "\nok   seccomp: a filter, which allows io_uring"), "%s", says);
}

Test(doctor, few_workers)
{
	cr_expect_eq(run_doctor(), 0, "%s", says);
	cr_expect(strstr(says, "\nok   io workers: at most 16 for each loop, "), "%s", says);
	threads = 3;
	cr_expect_eq(run_doctor(), 0, "%s", says);
	cr_expect(strstr(says, "\nwarn io workers: at most 6 for each loop, "), "%s", says);
}

Test(doctor, few_files)
{
	files = 256;
	cr_expect_eq(run_doctor(), 0, "%s", says);
	cr_expect(strstr(says, "\nwarn open files: 256, "), "%s", says);
	files = 4;
	cr_expect_eq(run_doctor(), 1, "%s", says);
	cr_expect(strstr(says, "\nFAIL open files: 4, "), "%s", says);
}

/* Services have few, and may raise them. */
Test(doctor, few_files_that_can_be_more)
{
	files_soft = 1024;
	cr_expect_eq(run_doctor(), 0, "%s", says);
	cr_expect(strstr(says, "\nok   open files: 1024, which servers raise to the hard limit\n"),
		  "%s", says);
	files_soft = 4;
	cr_expect_eq(run_doctor(), 1, "%s", says);
	cr_expect(strstr(says, "\nFAIL open files: 4, "), "%s", says);
}

Test(doctor, a_short_backlog)
{
	if (getuid() != 0)
		cr_skip_test("needs root, for a network of its own");
	backlog = "128";
	cr_expect_eq(run_doctor(), 0, "%s", says);
	cr_expect(strstr(says, "\nwarn net.core.somaxconn: 128, "), "%s", says);
	cr_expect(strstr(says, "`sysctl net.core.somaxconn=4096`"), "%s", says);
	backlog = "4096";
	cr_expect_eq(run_doctor(), 0, "%s", says);
	cr_expect(strstr(says, "\nok   net.core.somaxconn: 4096\n"), "%s", says);
}

/* Whoever has set the filter can open it. */
Test(doctor, the_remedy_is_of_the_place)
{
	forbid_error = EPERM;
	unsetenv("KUBERNETES_SERVICE_HOST");
	setenv("INVOCATION_ID", "0", 1);
	if (access("/.dockerenv", F_OK) < 0 && access("/run/.containerenv", F_OK) < 0) {
		run_doctor();
		cr_expect(strstr(says, "io_uring — `SystemCallFilter=io_uring_setup io_uring_enter "
				       "io_uring_register` "),
			  "%s", says);
		unsetenv("INVOCATION_ID");
		run_doctor();
		cr_expect(strstr(says, "io_uring — `docker run --security-opt seccomp=unconfined"),
			  "%s", says);
	}
	setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
	run_doctor();
	cr_expect(strstr(says, "io_uring — set `securityContext: {seccompProfile: "), "%s", says);
}

Test(doctor, no_address_space)
{
	if (EDDYI_ASAN || EDDYI_TSAN)
		cr_skip_test("needs a build without sanitizers");
	/* Enough for the program, too little for its ring and stacks. */
	space = 6 << 20;
	cr_expect_eq(run_doctor(), 1, "%s", says);
	cr_expect(strstr(says,
			 "\nFAIL io_uring: Cannot allocate memory — the address space is too small "
			 "for an io_uring: type `ulimit -v unlimited`"),
		  "%s", says);
	cr_expect(strstr(says, "\nFAIL address space: 6144 KiB — `ulimit -v unlimited`"), "%s",
		  says);
	cr_expect(strstr(says, "\nok   locked memory: "), "%s", says);
}

/* A user whom nobody else is: rings end a little after their program, and count until then. */
static uid_t fresh_user(void)
{
	static unsigned count;

	return 100000 + ((unsigned)getpid() * 8 + count++) % 1000000;
}

/* Root's rings are not counted; of others each loop takes its share of what the user may lock. */
Test(doctor, locked_memory_of_nobody)
{
	long loops = sysconf(_SC_NPROCESSORS_ONLN);

	if (getuid() != 0)
		cr_skip_test("needs root, to be somebody else");
	user = fresh_user();
	run_doctor();
	if (strstr(says, "\nok   io_uring: works\n"))
		cr_skip_test("needs a kernel that counts what rings lock");
	cr_expect(strstr(says, "\nFAIL io_uring: Cannot allocate memory — no locked memory "
			       "is left for an io_uring "),
		  "%s", says);
	cr_expect(strstr(says,
			 "\nFAIL locked memory: 0 KiB, which all of this user's rings share, 256 "
			 "KiB each — `ulimit -l unlimited`, "),
		  "%s", says);
	user = fresh_user();
	locked = (rlim_t)(4 * loops) << 18;
	cr_expect_eq(run_doctor(), 0, "%s", says);
	cr_expect(strstr(says, "\nok   locked memory: "), "%s", says);
	if (loops > 1) {
		user = fresh_user();
		locked = ((rlim_t)loops << 18) - 1;
		cr_expect_eq(run_doctor(), 0, "%s", says);
		cr_expect(strstr(says, "\nwarn locked memory: "), "%s", says);
	}
	locked = 0;
	setenv("EDDY_EXECUTOR", "ring", 1);
	cr_expect_eq(run_program(0), 1);
	cr_expect(strstr(says, ": can't start: no locked memory is left for an io_uring "), "%s",
		  says);
}

Test(doctor, pipes_used_up)
{
	if (getuid() != 0)
		cr_skip_test("needs root, to be somebody else");
	if (access("/proc/sys/fs/pipe-user-pages-soft", R_OK) < 0)
		cr_skip_test("needs /proc");
	user = fresh_user();
	hog_pipes = true;
	locked = 4 << 20;
	cr_expect_eq(run_doctor(), 0, "%s", says);
	cr_expect(strstr(says, "\nwarn fs.pipe-user-pages-soft: "), "%s", says);
	cr_expect(strstr(says, ", which this user's pipes have used up — as root: `sysctl "
			       "fs.pipe-user-pages-soft="),
		  "%s", says);
}

/* A program says on one line what is wrong and what to type. */
Test(doctor, program_that_cannot_start)
{
	cr_expect_eq(run_program(0), 0, "%s", says);
	cr_expect(!strstr(says, "start"), "%s", says);
	cr_expect_eq(run_program(EPERM), 0, "%s", says);
	setenv("EDDY_EXECUTOR", "ring", 1);
	cr_expect_eq(run_program(EPERM), 1);
	cr_expect(strstr(says, ": can't start: a seccomp filter forbids io_uring (Docker's default "
			       "profile does): "),
		  "%s", says);
	cr_expect(strstr(says, "io_uring_setup"), "%s", says);
	cr_expect_eq(run_program(ENOSYS), 1);
	cr_expect(strstr(says,
			 ": can't start: this kernel was built without io_uring, or a seccomp "
			 "filter hides it: "),
		  "%s", says);
	cr_expect_eq(run_program(ENOMEM), 1);
	cr_expect(strstr(says, ": can't start: there is not enough memory for an io_uring: "), "%s",
		  says);
	forbid_error = 0;
	files = 4;
	cr_expect_eq(run_doctor(), 1);
	cr_expect(strstr(says, ": can't start: too many open files: raise the limit (`ulimit -n "
			       "65536`)"),
		  "%s", says);
	cr_expect_eq(strchr(says, '\n'), says + strlen(says) - 1);
}

/* Without eddy_main() and without a subscriber too: one line, which a sanitizer's may precede. */
static void expect_refusal(int error, int (*fn)(void), const char *why)
{
	const char *line;

	program = fn;
	cr_expect_eq(run_program(error), 1);
	line = strstr(says, why);
	cr_assert(line, "not \"%s\" but %s", why, says);
	cr_expect_eq(strchr(line, '\n'), says + strlen(says) - 1, "%s", says);
}

Test(doctor, loops_that_cannot_start)
{
	if (RUNNING_ON_TSAN)
		cr_skip_test("ThreadSanitizer starts no threads in a child");
	static const char forbidden_ring[] =
		"ERROR eddy::loop: can't start the loop \"main\": a seccomp "
		"filter forbids io_uring (Docker's default profile does): ";

	setenv("EDDY_EXECUTOR", "ring", 1);
	expect_refusal(EPERM, with_run, forbidden_ring);
	expect_refusal(EPERM, with_loops, forbidden_ring);
	expect_refusal(
		0, with_small_stack,
		"ERROR eddy::loop: can't start the loop \"main\": an option is out of range: "
		".stack_size is 32 KiB to 1 GiB");
	expect_refusal(0, with_more_loops,
		       "ERROR eddy::loop: can't start 3 loops: a seccomp filter forbids io_uring ");
	expect_refusal(0, with_too_many_loops, " loops are too many: at most ");
}
