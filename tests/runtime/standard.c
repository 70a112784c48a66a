#include "base/standard.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_null_device(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

/* Return: 0 if the child is as expected. */
static int look(void)
{
	struct stat before, after;
	int next;

	fstat(STDIN_FILENO, &before);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	eddyi_standard_open();
	fstat(STDIN_FILENO, &after);
	if (after.st_dev != before.st_dev || after.st_ino != before.st_ino)
		return 1;
	if (!is_null_device(STDOUT_FILENO) || !is_null_device(STDERR_FILENO))
		return 2;
	next = open("/", O_PATH);
	/* Once per process. */
	close(STDERR_FILENO);
	eddyi_standard_open();
	return next <= STDERR_FILENO ? 3 : fcntl(STDERR_FILENO, F_GETFD) >= 0 ? 4 : 0;
}

Test(standard, closed_descriptors_are_opened)
{
	int status = -1;
	pid_t child = fork();

	if (!child)
		_exit(look());
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(WEXITSTATUS(status), 0);
	cr_expect(WIFEXITED(status));
}
