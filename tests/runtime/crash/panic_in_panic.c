/* A function that is called at a panic panics itself: it is not awaited.
 * expect: signal ABRT
 * expect: stderr ^eddy: eddy_yield\(\): .*\neddy: eddy_sleep\(\): [^\n]*\n$
 */
#include <eddy/internal/panic.h>
#include <eddy/task.h>

static void panic(bool in_handler)
{
	(void)in_handler;
	eddy_sleep(1);
}

int main(void)
{
	eddyi_at_panic(panic);
	return eddy_yield();
}
