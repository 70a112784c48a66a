/* 15_tail: print a file and what is appended to it, like tail -f.
 *
 *     $ 15_tail app.log
 *     one line
 *     another, a minute later
 *     ^C
 */
#include <eddy/runtime.h>
#include <errno.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

/* Print from `*offset` to the end. */
static int print_news(int fd, uint64_t *offset)
{
	struct stat stat;
	char buf[16384];
	ssize_t n;
	int r = 0;

	if (fstat(fd, &stat) == 0 && (uint64_t)stat.st_size < *offset)
		*offset = 0; /* the file was truncated */
	while (r == 0 && (n = eddy_read(fd, buf, sizeof(buf), *offset)) != 0) {
		r = n < 0 ? (int)n :
			    eddy_write_all(STDOUT_FILENO, buf, (size_t)n, EDDY_OFFSET_NONE);
		*offset += (uint64_t)n;
	}
	return r;
}

static int follow(void *path)
{
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), fd, r;
	uint64_t offset = 0;
	char events[4096];

	fd = eddy_openat(AT_FDCWD, path, O_RDONLY, 0);
	if (fd < 0)
		return fd;
	/* io_uring can't wait for a file to grow, but it can read an inotify descriptor. With
	 * IN_NONBLOCK it polls the descriptor; otherwise a thread of the kernel would block. */
	if (inotify_add_watch(watch, path, IN_MODIFY) < 0)
		return -errno;
	while ((r = print_news(fd, &offset)) == 0) {
		r = (int)eddy_read(watch, events, sizeof(events), EDDY_OFFSET_NONE);
		if (r < 0)
			break;
	}
	eddy_close(fd);
	eddy_close(watch);
	return r;
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return eddy_main(follow, argv[1]);
	fputs("usage: 15_tail FILE\n", stderr);
	return 2;
}
