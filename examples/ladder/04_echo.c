/* 04_echo: a TCP server with one task for each connection.
 *
 *     $ 04_echo localhost:7001
 *     Listening on localhost:7001
 *
 * and in another terminal:
 *
 *     $ echo hello | nc -N localhost 7001
 *     hello
 *
 * Ctrl-C cancels the task of every connection, which closes it.
 */
#include <eddy/runtime.h>
#include <stdio.h>

static int echo(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char buf[4096];
	ssize_t n;

	while ((n = eddy_recv(fd, buf, sizeof(buf), 0)) > 0)
		if (eddy_send_all(fd, buf, (size_t)n, 0) < 0)
			break;
	return eddy_close(fd);
}

static int accept_all(void *arg)
{
	int listener = (int)(intptr_t)arg, fd;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	while ((fd = eddy_accept(listener, NULL, NULL)) >= 0)
		if (eddy_scope_spawn(&scope, "echo", echo, (void *)(intptr_t)fd) < 0)
			eddy_close(fd);
	eddy_scope_end(&scope);
	return fd; /* the error that ended the loop */
}

static int serve(void *address)
{
	struct eddy_listeners listeners;
	struct eddy_scope scope;
	int r = eddy_listen(address, NULL, &listeners);

	if (r < 0) {
		fprintf(stderr, "%s: %s\n", (const char *)address, eddy_net_strerror(r));
		return 1;
	}
	fprintf(stderr, "Listening on %s\n", listeners.name);
	eddy_scope_begin(&scope, NULL);
	for (size_t i = 0; i < listeners.count; i++)
		eddy_scope_spawn(&scope, "accept", accept_all, (void *)(intptr_t)listeners.fds[i]);
	r = eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	eddy_listeners_close(&listeners);
	return r;
}

int main(int argc, char **argv)
{
	return eddy_main(serve, argc > 1 ? argv[1] : "localhost:7001");
}
