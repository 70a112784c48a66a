/* Arms a timer that is armed.
 * expect: signal ABRT
 * expect: stderr a timer is armed twice
 */
#include <eddy/task.h>
#include <eddy/timer.h>

static struct eddy_timer timer;

static int root(void *arg)
{
	(void)arg;
	eddy_timer_arm(&timer, EDDY_NEVER);
	eddy_timer_arm(&timer, EDDY_NEVER);
	return 0;
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
