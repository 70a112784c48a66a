/* Suspends in an offloaded function that runs on the loop's stack, since the pool has no threads.
 * expect: signal ABRT
 * expect: stderr ^eddy: eddy_yield\(\): this call suspends or needs a loop, but is made in a job of eddy_offload\(\): block there instead
 */
#include <eddy/offload.h>
#include <eddy/task.h>
#include <errno.h>
#include <pthread.h>

/* In place of the C library's. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	(void)thread;
	(void)attr;
	(void)fn;
	(void)arg;
	return EAGAIN;
}

static int job(void *arg)
{
	(void)arg;
	return eddy_yield();
}

static int root(void *arg)
{
	return eddy_offload(job, arg);
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
