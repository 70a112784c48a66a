/* 16_chat: a chat server. A client's first line is its name; later lines go to all others.
 *
 *     $ 16_chat localhost:7003
 *     Listening on localhost:7003
 *
 * and in two other terminals:
 *
 *     $ nc localhost 7003          $ nc localhost 7003
 *     alice                        bob
 *     * bob is here                hello, alice
 *     bob: hello, alice
 */
#include <eddy/runtime.h>
#include <stdarg.h>
#include <stdio.h>

struct client {
	int fd;
	struct eddy_chan outbox; /* of struct line */
	struct eddy_node node;   /* in the room's list */
};

struct line {
	int len;
	char text[300];
};

static void tell_others(struct eddy_node *room, struct client *me, const char *format, ...)
{
	struct line line;
	va_list args;

	va_start(args, format);
	line.len = vsnprintf(line.text, sizeof(line.text), format, args);
	va_end(args);
	for (struct eddy_node *node = room->next; node != room; node = node->next)
		if (node != &me->node) /* never waits: a client that does not read misses lines */
			eddy_chan_try_send(&eddy_of(node, struct client, node)->outbox, &line);
}

static int write_lines(void *arg)
{
	struct client *client = arg;
	struct line line;
	int r = 0;

	while (r == 0 && (r = eddy_chan_recv(&client->outbox, &line)) == 0)
		r = eddy_send_all(client->fd, line.text, (size_t)line.len, 0);
	return r;
}

/* A client is on the stack of its task: there is no memory to manage. */
static int chat(int fd, void *room)
{
	struct client me = { .fd = fd };
	struct eddy_scope scope;
	struct eddy_lines lines;
	struct eddy_str line;
	char buf[256], name[20];

	eddy_lines_init(&lines, fd, buf, sizeof(buf));
	if (eddy_lines_next(&lines, &line) <= 0 ||
	    eddy_chan_init(&me.outbox, sizeof(struct line), 16) < 0)
		return 0;
	snprintf(name, sizeof(name), "%.*s", EDDY_FMT(line));
	eddy_list_append(room, &me.node);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "writer", write_lines, &me);
	tell_others(room, &me, "* %s is here\n", name);
	while (eddy_lines_next(&lines, &line) > 0)
		tell_others(room, &me, "%s: %.*s\n", name, EDDY_FMT(line));
	tell_others(room, &me, "* %s has left\n", name);
	eddy_list_remove(&me.node);
	eddy_scope_end(&scope); /* cancels the writer */
	eddy_chan_deinit(&me.outbox);
	return 0;
}

static int serve(void *address)
{
	struct eddy_listeners listeners;
	struct eddy_node room;
	int r = eddy_listen(address, NULL, &listeners);

	if (r < 0)
		return r;
	fprintf(stderr, "Listening on %s\n", listeners.name);
	eddy_list_init(&room);
	r = eddy_serve(&listeners, NULL, chat, &room);
	eddy_listeners_close(&listeners);
	return r;
}

int main(int argc, char **argv)
{
	return eddy_main(serve, argc > 1 ? argv[1] : "localhost:7003");
}
