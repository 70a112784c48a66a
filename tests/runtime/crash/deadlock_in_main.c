/* Ctrl-C would end it, and so it is no deadlock? It is one: nothing that the program does can end it.
 * expect: signal ABRT
 * expect: stderr ^eddy: deadlock: all tasks wait for each other
 * expect: stderr └─ #1 "main" .*: event 0x[0-9a-f]+, for [0-9]+ ms\n
 */
#include <eddy/event.h>
#include <eddy/main.h>

static int wait_for_nobody(void *arg)
{
	struct eddy_event event;

	(void)arg;
	eddy_event_init(&event);
	return eddy_event_wait(&event);
}

int main(void)
{
	return eddy_main(wait_for_nobody, NULL);
}
