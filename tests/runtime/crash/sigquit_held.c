/* A task holds its loop: SIGQUIT names it, and the second SIGINT ends the process.
 * expect: signal INT
 * expect: stderr ^eddy: loop 1 "main" \(thread [0-9]+\) does not answer: #1 "main" \(eddy_run\(\)\) holds it, its turn began [0-9.]+ m?s ago\n
 */
#include <eddy/main.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static void *send_signals(void *arg)
{
	kill(getpid(), SIGQUIT);
	kill(getpid(), SIGINT);
	/* More than the second that a healthy loop has to take it. */
	usleep(1050 * 1000);
	kill(getpid(), SIGINT);
	return arg;
}

static int hold(void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, send_signals, arg))
		return -1;
	for (time_t end = time(NULL) + 60; time(NULL) < end;)
		;
	return 0;
}

int main(void)
{
	return eddy_main(hold, NULL);
}
