/* SIGQUIT to a thread that was there before the loop is answered all the same, as long as the loop runs,
 * and what the thread waits in goes on.
 * expect: signal QUIT
 * expect: stderr ^shown shown the thread goes on\n$
 */
#include <eddy/io.h>
#include <eddy/loop.h>
#include <eddy/task.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int dumps[2], end[2];

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	printf("not so: %s\n", what);
	fflush(stdout);
	_exit(1);
}

static bool is_as_by_default(void)
{
	struct sigaction action;

	return sigaction(SIGQUIT, NULL, &action) == 0 && action.sa_handler == SIG_DFL;
}

static void *wait_for_end(void *arg)
{
	char c;

	(void)arg;
	check(read(end[0], &c, 1) == 1, "the thread goes on");
	printf("the thread goes on\n");
	return NULL;
}

/* Until a whole dump has come through stderr: its counters are last. */
static void await_dump(void)
{
	char text[8192];
	size_t len = 0;

	while (len < sizeof(text) - 1) {
		ssize_t r =
			eddy_read(dumps[0], text + len, sizeof(text) - 1 - len, EDDY_OFFSET_NONE);

		check(r > 0, "a dump comes");
		len += (size_t)r;
		text[len] = 0;
		if (strstr(text, "full completion queues") && text[len - 1] == '\n')
			break;
	}
	printf("shown ");
}

static int quits(void *arg)
{
	int status;
	pid_t child;

	pthread_kill(*(pthread_t *)arg, SIGQUIT);
	await_dump();
	/* This one is for whoever lets it through. */
	kill(getpid(), SIGQUIT);
	await_dump();
	child = fork();
	if (child == 0)
		_exit(!is_as_by_default());
	check(waitpid(child, &status, 0) == child && status == 0, "a child begins without it");
	return 0;
}

int main(void)
{
	struct eddy_loop_options options = { .name = "quit" };
	pthread_t thread;

	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	check(pipe(dumps) == 0 && pipe(end) == 0, "there are pipes");
	check(pthread_create(&thread, NULL, wait_for_end, NULL) == 0, "there is a thread");
	check(dup2(dumps[1], STDERR_FILENO) == STDERR_FILENO, "stderr is a pipe");
	check(eddy_run(&options, quits, &thread) == 0, "runs");
	check(is_as_by_default(), "nothing is left behind");
	check(write(end[1], "x", 1) == 1 && pthread_join(thread, NULL) == 0, "the thread ends");
	fflush(stdout);
	kill(getpid(), SIGQUIT);
	pause();
	return 0;
}
