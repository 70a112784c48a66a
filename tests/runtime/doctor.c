/* The doctor on this machine, and on ones that are worse: made so for it alone, by a seccomp filter
 * or a limit that it inherits. */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int forbid_error;
static rlim_t files;
static char says[16384];

/* Let io_uring_setup fail with `forbid_error`, as container runtimes and old kernels do. */
static void forbid_rings(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)forbid_error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(126);
}

static void become_doctor(int out)
{
	if (dup2(out, STDOUT_FILENO) < 0)
		_exit(126);
	if (files && setrlimit(RLIMIT_NOFILE, &(struct rlimit){ files, files }) < 0)
		_exit(126);
	if (forbid_error)
		forbid_rings();
	execl(EDDY_DOCTOR, "eddy-doctor", (char *)NULL);
	_exit(127);
}

/* Run it and keep what it says. Return: its exit status. */
static int run_doctor(void)
{
	int fds[2], status;
	size_t len = 0;
	ssize_t r;
	pid_t child;

	cr_assert_eq(pipe(fds), 0);
	child = fork();
	if (child == 0)
		become_doctor(fds[1]);
	close(fds[1]);
	while ((r = read(fds[0], says + len, sizeof(says) - 1 - len)) > 0)
		len += (size_t)r;
	close(fds[0]);
	cr_assert_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(doctor, this_machine_is_fit)
{
	cr_expect_eq(run_doctor(), 0, "%s", says);
	cr_expect(strstr(says, "\nok   io_uring: works\n"), "%s", says);
	cr_expect(!strstr(says, "FAIL"), "%s", says);
	cr_expect(strstr(says, "\nThis machine is fit for eddy.\n"));
}

Test(doctor, a_filter_that_forbids_rings)
{
	forbid_error = EPERM;
	cr_expect_eq(run_doctor(), 1, "%s", says);
	cr_expect(strstr(says, "\nFAIL io_uring: Operation not permitted — a seccomp filter"), "%s",
		  says);
	cr_expect(strstr(says, "\nFAIL seccomp: a filter, which forbids io_uring — `docker run "
			       "--security-opt seccomp=unconfined"),
		  "%s", says);
	cr_expect(strstr(says, "\nok   locked memory:"), "%s", says);
}

Test(doctor, a_filter_that_hides_rings)
{
	forbid_error = ENOSYS;
	cr_expect_eq(run_doctor(), 1, "%s", says);
	cr_expect(strstr(says, "\nFAIL io_uring: Function not implemented — "), "%s", says);
	cr_expect(strstr(says, "\nFAIL seccomp: "), "%s", says);
}

Test(doctor, no_memory_for_rings)
{
	forbid_error = ENOMEM;
	cr_expect_eq(run_doctor(), 1, "%s", says);
	cr_expect(strstr(says, "\nFAIL locked memory: "), "%s", says);
	cr_expect(strstr(says, "\nok   seccomp: a filter, which lets io_uring through"), "%s",
		  says);
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
