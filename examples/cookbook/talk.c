/* talk: a client of WebSockets: sends messages, and prints those that it receives, until it has
 * COUNT of them.
 *
 *     $ chat localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ talk ws://localhost:7878/rooms/tea 2 'The water is cold.' 'The kettle boils.'
 *     The water is cold.
 *     The kettle boils.
 *     $ talk ws://localhost:7878/rooms/tea 3 &
 *     The water is cold.
 *     The kettle boils.
 *     $ talk ws://localhost:7878/kitchen 1 2>&1 || echo "exit status $?"
 *     talk: the server refused the WebSocket with status 404
 *     exit status 1
 *     $ kill %1
 *     2026-11-21T09:00:01.000000Z  INFO eddy::app: Shutting down the server
 *     $ wait %2
 *     the server has closed the socket: 1001
 */
#include <eddy/client_ws.h>
#include <eddy/runtime.h>
#include <stdio.h>
#include <stdlib.h>

static int print_messages(struct eddy_ws *ws, unsigned long count)
{
	struct eddy_ws_message message;
	int r = 1;

	for (; count > 0 && (r = eddy_ws_recv(ws, &message)) > 0; count--)
		printf("%.*s\n", EDDY_FMT(message.bytes));
	if (r == 0)
		printf("the server has closed the socket: %u\n", eddy_ws_peer_code(ws));
	return r;
}

/* `arg` is URL COUNT MESSAGE… */
static int talk(void *arg)
{
	char **args = arg;
	struct eddy_client *client = eddy_client_new(NULL);
	struct eddy_ws *ws = NULL;
	int r = client ? eddy_client_ws(client, args[0], NULL, NULL, &ws) : -ENOMEM;

	if (client && r < 0)
		fprintf(stderr, "talk: %s\n", eddy_client_error(client));
	for (char **text = args + 2; *text && r == 0; text++)
		r = eddy_ws_send(ws, EDDY_WS_TEXT, eddy_str_from(*text));
	if (r == 0)
		r = print_messages(ws, strtoul(args[1], NULL, 10));
	eddy_ws_free(ws); /* closes the socket with code 1000, unless it is closed */
	eddy_client_free(client);
	return r < 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2)
		return eddy_main(talk, argv + 1);
	fprintf(stderr, "Usage: talk URL COUNT [MESSAGE…]\n");
	return 2;
}
