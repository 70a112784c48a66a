/* 14_proxy: a zero-copy TCP proxy: bytes go from socket to pipe to socket by splice(2).
 *
 *     $ 14_proxy localhost:7002 localhost:7001
 *     Listening on localhost:7002
 *
 * With 04_echo running, `echo hello | nc -N localhost 7002` prints hello.
 */
#include <eddy/runtime.h>
#include <stdio.h>

static int pass_on(void *arg)
{
	struct eddy_relay *relay = arg;
	int r = eddy_transfer_between(relay);

	/* Pass the end of the stream on. The other direction may have more to send. */
	return r < 0 ? r : eddy_shutdown(relay->to, SHUT_WR);
}

static int proxy(int client, void *upstream)
{
	int server = eddy_dial(upstream, NULL);
	struct eddy_scope scope;

	if (server < 0)
		return server;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .fail_fast = true });
	eddy_scope_spawn(&scope, "up", pass_on,
			 &(struct eddy_relay){ .from = client, .to = server });
	eddy_scope_spawn(&scope, "down", pass_on,
			 &(struct eddy_relay){ .from = server, .to = client });
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return eddy_close(server);
}

static int serve(void *arg)
{
	char **args = arg;
	struct eddy_listeners listeners;
	int r = eddy_listen(args[0], NULL, &listeners);

	if (r < 0)
		return r;
	fprintf(stderr, "Listening on %s\n", listeners.name);
	r = eddy_serve(&listeners, NULL, proxy, args[1]);
	eddy_listeners_close(&listeners);
	return r;
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return eddy_main(serve, argv + 1);
	fputs("usage: 14_proxy ADDRESS UPSTREAM\n", stderr);
	return 2;
}
