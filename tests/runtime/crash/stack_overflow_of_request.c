/* Overflows the stack of a task that has said what it works on.
 * expect: signal SEGV
 * expect: stderr ^eddy: stack overflow in task "main" \(#1, GET /deep\): its stack has 256 KiB; give it more
 */
#include <eddy/internal/debug.h>
#include <eddy/task.h>

__attribute__((noinline)) static int dig(int depth)
{
	char frame[30000];

	frame[0] = (char)depth;
	__asm__ volatile("" : : "r"(frame) : "memory");
	return depth ? dig(depth - 1) + frame[0] : 0;
}

static int root(void *arg)
{
	(void)arg;
	eddyi_task_set_label("GET /deep");
	return dig(100000);
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
