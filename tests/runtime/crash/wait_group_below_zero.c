/* Has done more than there was to be done.
 * expect: signal ABRT
 * expect: stderr more has been done than there was to be done
 */
#include <eddy/loop.h>
#include <eddy/wait_group.h>

static int root(void *arg)
{
	eddy_wait_group_init(arg);
	eddy_wait_group_add(arg, 1);
	eddy_wait_group_done(arg);
	eddy_wait_group_done(arg);
	return 0;
}

int main(void)
{
	struct eddy_wait_group group;

	return eddy_run(NULL, root, &group);
}
