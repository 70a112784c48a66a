/* A second thread panics while the first one writes what is buffered.
 * expect: signal ABRT
 * expect: stderr the last words
 */
#include <eddy/internal/panic.h>
#include <eddy/task.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_bool writes;

static void write_last(bool in_handler)
{
	(void)in_handler;
	writes = true;
	usleep(10000);
	if (write(STDERR_FILENO, "the last words\n", 15) < 0)
		_exit(1);
}

static void *second(void *arg)
{
	while (!writes)
		usleep(1000);
	eddy_yield();
	return arg;
}

int main(void)
{
	pthread_t thread;

	eddyi_at_panic(write_last);
	pthread_create(&thread, NULL, second, NULL);
	return eddy_yield();
}
