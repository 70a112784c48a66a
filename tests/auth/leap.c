#include "leap.h"

#include <stdatomic.h>
#include <time.h>

#define SECOND 1000000000

static atomic_uint_least64_t ahead_ns;

/* The linker's names (--wrap). */
int __real_clock_gettime(clockid_t clock, struct timespec *ret_time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time);

void leap(uint64_t duration_ns)
{
	atomic_fetch_add(&ahead_ns, duration_ns);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	int r = __real_clock_gettime(clock, ret_time);
	uint64_t ns;

	if (r < 0 || (clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_COARSE &&
		      clock != CLOCK_REALTIME))
		return r;
	ns = (uint64_t)ret_time->tv_nsec + atomic_load(&ahead_ns);
	ret_time->tv_sec += (time_t)(ns / SECOND);
	ret_time->tv_nsec = (long)(ns % SECOND);
	return 0;
}
