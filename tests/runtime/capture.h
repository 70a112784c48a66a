/* capture.h: what is written to a descriptor, as a text that is searched for patterns. */
#ifndef EDDY_TESTS_CAPTURE_H
#define EDDY_TESTS_CAPTURE_H

#include "expect.h"

#include <regex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

static char captured[256 * 1024];

/* A descriptor to write to. */
static inline int capture_open(void)
{
	return memfd_create("captured", MFD_CLOEXEC);
}

/* Close it, and keep in `captured` what it was written. */
static inline void capture_close(int fd)
{
	ssize_t len = pread(fd, captured, sizeof(captured) - 1, 0);

	captured[len > 0 ? len : 0] = '\0';
	close(fd);
}

/* How many lines of what was captured match the pattern, an extended regular expression. */
static inline int captured_lines(const char *pattern)
{
	char *text = strdup(captured), *at = text, *line;
	regex_t regex;
	int count = 0;

	EXPECT_EQ(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	while ((line = strsep(&at, "\n")))
		count += regexec(&regex, line, 0, NULL, 0) == 0;
	regfree(&regex);
	free(text);
	return count;
}

/* Note it, and show the text, unless just one line matches. */
#define EXPECT_LINE(pattern)                                                                       \
	do {                                                                                       \
		int expect_lines = captured_lines(pattern);                                        \
                                                                                                   \
		if (expect_lines != 1) {                                                           \
			expect_note(__LINE__, "lines that match " #pattern, expect_lines);         \
			fprintf(stderr, "%s\n", captured);                                         \
		}                                                                                  \
	} while (0)

/* Run `fn(arg)` in a child, after `before` unless that is NULL. Return: the signal that ended it; what it said is in `captured`. */
static inline int die_of(eddy_task_fn *fn, void *arg, bool in_loop, void (*before)(void))
{
	int fd = capture_open(), status = 0;
	pid_t child = fork();

	if (child == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
		signal(SIGABRT, SIG_DFL);
		alarm(10);
		dup2(fd, STDERR_FILENO);
		if (before)
			before();
		_exit(in_loop ? eddy_run(NULL, fn, arg) : fn(arg));
	}
	EXPECT(waitpid(child, &status, 0) == child);
	capture_close(fd);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

#endif
