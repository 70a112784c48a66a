/* Suspends where no loop runs.
 * expect: signal ABRT
 * expect: stderr ^eddy: eddy_sleep\(\): this call needs a loop: make it in a task of eddy_main\(\) or eddy_run\(\), or in a handler
 */
#include <eddy/task.h>

int main(void)
{
	return eddy_sleep(1);
}
