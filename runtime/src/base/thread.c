#include "thread.h"

void eddyi_thread_signals(sigset_t *ret_set)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };

	sigfillset(ret_set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(ret_set, faults[i]);
}

int eddyi_thread_start(pthread_t *ret_thread, void *(*fn)(void *))
{
	sigset_t set, before;
	int r;

	eddyi_thread_signals(&set);
	pthread_sigmask(SIG_SETMASK, &set, &before);
	r = pthread_create(ret_thread, NULL, fn, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}
