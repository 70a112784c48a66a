/* Follows a pointer that was read from freed memory, as http fills it under EDDY_DEBUG.
 * expect: signal SEGV
 * expect: stderr ^eddy: SIGSEGV at 0x[0-9a-f]+ in task "main" \(#1, GET /late\): a pointer was read from memory that has been freed, as that of a request that has been answered; EDDY_DEBUG fills it with 0xdd\n$
 */
#include <eddy/internal/debug.h>
#include <eddy/task.h>
#include <stdlib.h>
#include <string.h>

struct request {
	const char *path;
};

static int root(void *arg)
{
	struct request *volatile request = malloc(sizeof(*request));

	(void)arg;
	memset(request, 0xdd, sizeof(*request));
	eddyi_task_set_label("GET /late");
	return request->path[3];
}

int main(void)
{
	setenv("EDDY_DEBUG", "1", 1);
	setenv("EDDY_LOG", "off", 1);
#if !defined(__x86_64__) && !defined(__aarch64__)
	return 77;
#endif
	return eddy_run(NULL, root, NULL);
}
