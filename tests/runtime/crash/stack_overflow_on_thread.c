/* Runs off the end of the stack of an offload thread.
 * expect: signal SEGV
 * expect: stderr ^eddy: stack overflow in an offloaded function: its thread's stack has [0-9]+ KiB; give it more by ulimit -s\n$
 */
#include <eddy/offload.h>
#include <eddy/task.h>

__attribute__((noinline)) static int dig(int depth)
{
	char frame[3000];

	frame[0] = (char)depth;
	__asm__ volatile("" : : "r"(frame) : "memory");
	return depth ? dig(depth - 1) + frame[0] : 0;
}

static int digger(void *arg)
{
	(void)arg;
	return dig(10000000);
}

static int root(void *arg)
{
	return eddy_offload(digger, arg);
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
