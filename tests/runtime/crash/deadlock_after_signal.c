/* A loop at rest goes on by a signal of eddy_main(), and has work of its own to do: what waits for that on
 * another loop is in no deadlock; nor while the signal has not arrived yet, because no thread takes it.
 * expect: exit 0
 * expect: stderr ^$
 */
#include <eddy/event.h>
#include <eddy/loops.h>
#include <eddy/main.h>
#include <eddy/scope.h>
#include <eddy/shared_event.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define LONG (60 * EDDY_MS)

static struct eddy_shared_event cleaned_up;

static void mask(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(how, &set, NULL);
}

/* Takes the signal after a while. A thread of this name does not count as one that could wake a task. */
static void *take(void *arg)
{
	pthread_setname_np(pthread_self(), "eddy-dump");
	nanosleep(&(struct timespec){ .tv_nsec = LONG }, NULL);
	mask(SIG_UNBLOCK);
	return arg;
}

static int each(void *arg)
{
	struct eddy_scope shield;
	pthread_t taker;

	(void)arg;
	mask(SIG_BLOCK);
	if (eddy_loops_index() == 0) {
		struct eddy_event never;

		eddy_event_init(&never);
		eddy_event_wait(&never);
	} else {
		eddy_sleep(LONG);
		kill(getpid(), SIGTERM);
		pthread_create(&taker, NULL, take, NULL);
		pthread_detach(taker);
	}
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	if (eddy_loops_index() == 0) {
		eddy_sleep(LONG);
		eddy_shared_event_set(&cleaned_up);
	} else {
		eddy_shared_event_wait(&cleaned_up);
	}
	return eddy_scope_end(&shield);
}

static int run(void *arg)
{
	return eddy_loops_run(&(struct eddy_loops_options){ .count = 2 }, each, arg);
}

int main(void)
{
	eddy_shared_event_init(&cleaned_up);
	return eddy_main(run, NULL);
}
