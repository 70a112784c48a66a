/* 16_chat: a chat server. Who connects says a name first; then every line goes to all the others.
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
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct client {
	int fd;
	char name[20];
	struct eddy_chan outbox; /* of struct line */
	struct eddy_node node;   /* in the room */
};

struct line {
	int len;
	char text[300];
};

static void tell_others(struct eddy_node *room, struct client *from, const char *format, ...)
{
	struct line line;
	va_list args;

	va_start(args, format);
	line.len = vsnprintf(line.text, sizeof(line.text), format, args);
	va_end(args);
	for (struct eddy_node *node = room->next; node != room; node = node->next) {
		struct client *client = eddy_of(node, struct client, node);

		/* Who does not read misses lines; nobody waits for him. */
		if (client != from)
			eddy_chan_try_send(&client->outbox, &line);
	}
}

static int write_lines(void *arg)
{
	struct client *client = arg;
	struct line line;
	int r;

	while ((r = eddy_chan_recv(&client->outbox, &line)) == 0 && r == 0)
		r = eddy_send_all(client->fd, line.text, (size_t)line.len, 0);
	return r;
}

/* A client lives on the stack of its task: no memory to manage. */
static int chat(int fd, void *arg)
{
	struct client me = { .fd = fd };
	struct eddy_node *room = arg;
	struct eddy_scope scope;
	struct eddy_lines lines;
	struct eddy_str text;
	char input[256];
	int r;

	eddy_lines_init(&lines, fd, input, sizeof(input));
	r = eddy_lines_next(&lines, &text);
	if (r <= 0)
		return r;
	snprintf(me.name, sizeof(me.name), "%.*s", EDDY_FMT(text));
	r = eddy_chan_init(&me.outbox, sizeof(struct line), 16);
	if (r < 0)
		return r;
	eddy_list_append(room, &me.node);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "writer", write_lines, &me);
	tell_others(room, &me, "* %s is here\n", me.name);
	while ((r = eddy_lines_next(&lines, &text)) > 0)
		tell_others(room, &me, "%s: %.*s\n", me.name, EDDY_FMT(text));
	tell_others(room, &me, "* %s has left\n", me.name);
	eddy_list_remove(&me.node);
	eddy_scope_end(&scope); /* cancels the writer */
	eddy_chan_deinit(&me.outbox);
	return r;
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
