/* echo_eddy: sends back what it receives, a task for each connection, as one would write it.
 *
 *     echo_eddy PORT
 */
#include <eddy/runtime.h>
#include <stdio.h>

#define ROOM 4096

static int serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char bytes[ROOM];
	ssize_t len;

	while ((len = eddy_recv(fd, bytes, sizeof(bytes), 0)) > 0)
		if (eddy_send_all(fd, bytes, (size_t)len, 0) < 0)
			break;
	return eddy_close(fd);
}

static int echo(void *arg)
{
	struct eddy_listeners listeners;
	struct eddy_scope scope;
	int fd, r = eddy_listen(arg, NULL, &listeners);

	if (r < 0)
		return r;
	eddy_scope_begin(&scope, NULL);
	while ((fd = eddy_accept(listeners.fds[0], NULL, NULL)) >= 0)
		eddy_scope_spawn(&scope, "connection", serve, (void *)(intptr_t)fd);
	return eddy_scope_end(&scope);
}

int main(int argc, char **argv)
{
	char address[32];

	if (argc != 2) {
		fputs("usage: echo_eddy PORT\n", stderr);
		return 2;
	}
	snprintf(address, sizeof(address), "127.0.0.1:%s", argv[1]);
	return eddy_run(NULL, echo, address) ? 1 : 0;
}
