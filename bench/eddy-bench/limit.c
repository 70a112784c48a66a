#include "limit.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

/* Files that are no connections. */
#define OTHERS 64

int limit_raise(unsigned connections, char error[OPTIONS_ERROR_SIZE])
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max >= connections + OTHERS)
		return 0;
	snprintf(error, OPTIONS_ERROR_SIZE,
		 "%u connections need as many open files, but the limit is %llu: raise ulimit -Hn",
		 connections, (unsigned long long)limit.rlim_max);
	return -EMFILE;
}
