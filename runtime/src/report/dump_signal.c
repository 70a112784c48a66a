/* A thread prints the dump, so that a task that holds its loop can't delay it. The handler only
 * wakes the thread; it may run on any thread.
 *
 * Invariant: `asked` exists forever, so that a late handler may post it. The thread exists while
 * `answering` is set; a forked child clears it.
 */
#include "report.h"

#include "base/thread.h"

#include <eddy/dump.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic(struct eddy_loop *) answering; /* from its begin to its end; NULL: none */
static atomic_bool ends;
static pthread_t thread;
static sem_t asked;

static void ask(int signo)
{
	int saved = errno;

	(void)signo;
	sem_post(&asked);
	errno = saved;
}

bool eddyi_dump_signal_is_handler(const struct sigaction *action)
{
	return action->sa_handler == ask;
}

static void *answer(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "eddy-dump");
	for (;;) {
		while (sem_wait(&asked) < 0)
			;
		if (atomic_load(&ends))
			return NULL;
		/* One dump for all that have come. */
		while (sem_trywait(&asked) == 0)
			;
		eddy_dump_all(STDERR_FILENO);
	}
}

/* Unless the program has installed a handler meanwhile. */
static void handle_no_more(void)
{
	struct sigaction action;

	if (sigaction(SIGQUIT, NULL, &action) == 0 && eddyi_dump_signal_is_handler(&action))
		signal(SIGQUIT, SIG_DFL);
}

/* The child has no thread that could answer. */
static void in_child(void)
{
	handle_no_more();
	atomic_store(&answering, NULL);
}

static void prepare(void)
{
	sem_init(&asked, 0, 0);
	pthread_atfork(NULL, NULL, in_child);
}

static bool is_free_to_use(void)
{
	struct sigaction action;
	sigset_t blocked;

	return sigaction(SIGQUIT, NULL, &action) == 0 && action.sa_handler == SIG_DFL &&
	       pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGQUIT);
}

void eddyi_dump_signal_begin(struct eddy_loop *loop)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct sigaction action = { .sa_handler = ask, .sa_flags = SA_RESTART | SA_ONSTACK };
	struct eddy_loop *none = NULL;

	pthread_once(&once, prepare);
	if (!is_free_to_use() || !atomic_compare_exchange_strong(&answering, &none, loop))
		return;
	while (sem_trywait(&asked) == 0)
		;
	atomic_store(&ends, false);
	if (eddyi_thread_start(&thread, answer, NULL) == 0)
		sigaction(SIGQUIT, &action, NULL);
	else
		atomic_store(&answering, NULL);
}

void eddyi_dump_signal_end(const struct eddy_loop *loop)
{
	if (atomic_load(&answering) != loop)
		return;
	handle_no_more();
	atomic_store(&ends, true);
	sem_post(&asked);
	pthread_join(thread, NULL);
	atomic_store(&answering, NULL);
}
