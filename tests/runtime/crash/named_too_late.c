/* The process dies as it looks for the place of a call, with eddy in a shared library: the message has been written.
 * expect: signal KILL
 * expect: stderr ^eddy: eddy_yield\(\): this call needs a loop: [^\n]*\nthe last words\n$
 */
#include <eddy/internal/panic.h>
#include <eddy/task.h>
#include <signal.h>
#include <unistd.h>

/* In place of the C library's. */
int backtrace(void **frames, int size)
{
	(void)frames;
	raise(SIGKILL);
	return size;
}

static void write_last(bool in_handler)
{
	(void)in_handler;
	if (write(STDERR_FILENO, "the last words\n", 15) < 0)
		_exit(1);
}

int main(void)
{
	eddyi_at_panic(write_last);
	return eddy_yield();
}
