/* Touches what is not there.
 * expect: signal SEGV
 * expect: stderr ^eddy: SIGSEGV at 0x[0-9a-f]+ in task "toucher" \(#1, spawned at eddy_run\(\)\)\n$
 */
#include <eddy/task.h>

static int toucher(void *arg)
{
	char *address = (char *)16;

	/* No compiler is to see that it points nowhere. */
	__asm__ volatile("" : "+r"(address));
	*(volatile char *)address = 1;
	return arg != NULL;
}

int main(void)
{
	return eddy_run(&(struct eddy_loop_options){ .name = "toucher" }, toucher, NULL);
}
