/* 09_scan: find the open TCP ports of this machine, with a hundred tasks.
 *
 *     $ 09_scan 7000 7999
 *     7001 is open
 */
#include <eddy/runtime.h>
#include <stdio.h>
#include <stdlib.h>

struct scan {
	int next; /* no lock: other tasks run only when this one suspends */
	int last;
};

static bool is_open(int port)
{
	char address[32];
	int fd;

	snprintf(address, sizeof(address), "127.0.0.1:%d", port);
	fd = eddy_dial(address, &(struct eddy_dial_options){ .timeout_ns = EDDY_SECOND });
	if (fd >= 0)
		eddy_close(fd);
	return fd >= 0;
}

static int ask(void *arg)
{
	struct scan *scan = arg;

	while (scan->next <= scan->last && !eddy_is_cancelled()) {
		int port = scan->next++;

		if (is_open(port))
			printf("%d is open\n", port);
	}
	return 0;
}

static int run(void *arg)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 100; i++)
		eddy_scope_spawn(&scope, "ask", ask, arg);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

int main(int argc, char **argv)
{
	struct scan scan = { argc > 1 ? atoi(argv[1]) : 1, argc > 2 ? atoi(argv[2]) : 65535 };

	return eddy_main(run, &scan);
}
