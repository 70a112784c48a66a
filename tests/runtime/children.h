/* children.h: what the tests of processes share. */
#ifndef EDDY_TESTS_CHILDREN_H
#define EDDY_TESTS_CHILDREN_H

#include "expect.h"

#include <eddy/io.h>
#include <eddy/process.h>
#include <string.h>
#include <sys/wait.h>

#define ARGV(...) ((const char *[]){ __VA_ARGS__, NULL })
#define SH(script) ARGV("sh", "-c", script)

/* Valgrind copies the memory that a child should share, and runs the children's programs as well: the .init of these suites. */
static inline void skip_under_valgrind(void)
{
	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind starts children in its own way");
}

static struct eddy_process_status status;
static struct eddy_process process;
static struct eddy_process_output output;

/* Start it, wait for it and close it. Return: its exit code, minus its signal, or below -1000: -errno. */
static inline int outcome(const struct eddy_process_options *options)
{
	int r = eddy_process_start(options, &process);

	if (r < 0)
		return r - 1000;
	r = eddy_process_wait(&process, &status);
	eddy_process_close(&process);
	if (r < 0)
		return r - 1000;
	return status.signo ? -status.signo : status.code;
}

/* Read until there are `len` bytes. Return: how many there are: fewer at the end. */
static inline ssize_t take(int fd, char *text, size_t len)
{
	size_t at = 0;
	ssize_t r = 1;

	while (at < len && r > 0) {
		r = eddy_read(fd, text + at, len - at, EDDY_OFFSET_NONE);
		if (r < 0)
			return r;
		at += (size_t)r;
	}
	return (ssize_t)at;
}

static inline bool same(const char *have, const char *wanted)
{
	if (strcmp(have, wanted) == 0)
		return true;
	fprintf(stderr, "\"%s\" is not \"%s\"\n", have, wanted);
	return false;
}

/* Whether this process has a child, dead or alive. */
static inline bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

#endif
