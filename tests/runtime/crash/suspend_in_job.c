/* Suspends in a function of the offload pool.
 * expect: signal ABRT
 * expect: stderr ^eddy: eddy_sleep\(\): this call suspends or needs a loop, but is made in a job of eddy_offload\(\): block there instead
 */
#include <eddy/offload.h>
#include <eddy/task.h>

static int job(void *arg)
{
	(void)arg;
	return eddy_sleep(1);
}

static int root(void *arg)
{
	return eddy_offload(job, arg);
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
