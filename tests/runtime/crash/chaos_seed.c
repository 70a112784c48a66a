/* A panic under chaos says what replays it.
 *
 * expect: signal ABRT
 * expect: stderr armed twice \(under EDDY_CHAOS=42,shuffle\)
 */
#include <eddy/task.h>
#include <eddy/timer.h>
#include <stdlib.h>

static void never(struct eddy_timer *timer)
{
	(void)timer;
}

static int arm_twice(void *arg)
{
	struct eddy_timer timer = { .fire = never };

	(void)arg;
	eddy_timer_arm(&timer, EDDY_NEVER);
	eddy_timer_arm(&timer, EDDY_NEVER);
	return 0;
}

int main(void)
{
	setenv("EDDY_CHAOS", "42,shuffle", 1);
	return eddy_run(NULL, arm_twice, NULL);
}
