#include "thread.h"

#include <eddy/base.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As for tasks' stacks: other libraries have large frames without stack probes. */
#define GUARD_SIZE (64 * EDDY_KIB)

void eddyi_thread_signals(sigset_t *ret_set)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };

	sigfillset(ret_set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(ret_set, faults[i]);
}

int eddyi_thread_start(pthread_t *ret_thread, void *(*fn)(void *arg), void *arg)
{
	sigset_t set, before;
	pthread_attr_t attr;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setguardsize(&attr, GUARD_SIZE);
	eddyi_thread_signals(&set);
	pthread_sigmask(SIG_SETMASK, &set, &before);
	r = pthread_create(ret_thread, &attr, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -r;
}

void eddyi_thread_yield(void)
{
	syscall(SYS_sched_yield);
}
