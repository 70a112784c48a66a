/* Suspends where no loop runs.
 * expect: signal ABRT
 * expect: stderr this call needs a loop: make it inside eddy_main\(\) or eddy_run\(\)
 */
#include <eddy/task.h>

int main(void)
{
	return eddy_sleep(1);
}
