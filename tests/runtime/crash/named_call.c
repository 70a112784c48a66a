/* Suspends where no loop runs, with eddy in a shared library: the message names the call and its place.
 * expect: signal ABRT
 * expect: stderr ^eddy: eddy_send_all\(\): this call needs a loop: make it in a task of eddy_main\(\) or eddy_run\(\), or in a handler\neddy: eddy_send_all\(\) was called at crash-named_call\+0x[0-9a-f]+\n$
 */
#include <eddy/io.h>

int main(void)
{
	return eddy_send_all(1, "x", 1, 0) + 1;
}
