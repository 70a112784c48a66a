#include "base/thread.h"

#include <criterion/criterion.h>

static sigset_t inside;

static void *looks(__attribute__((unused)) void *arg)
{
	pthread_sigmask(SIG_BLOCK, NULL, &inside);
	return NULL;
}

Test(thread, takes_no_signal_but_its_faults)
{
	static const int others[] = { SIGTERM, SIGURG, SIGQUIT, SIGXFSZ, SIGPIPE };
	static const int faults[] = { SIGSEGV, SIGBUS, SIGABRT };
	sigset_t after;
	pthread_t thread;

	cr_assert_eq(eddyi_thread_start(&thread, looks, NULL), 0);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		cr_expect_eq(sigismember(&inside, others[i]), 1);
		cr_expect_eq(sigismember(&after, others[i]), 0);
	}
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		cr_expect_eq(sigismember(&inside, faults[i]), 0);
}
