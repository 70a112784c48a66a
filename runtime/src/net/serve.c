/* Invariants:
 * 1. `running` connections have a task; there are never more than `max`.
 * 2. An accepted connection always has an owner that closes it: the acceptor, its door, or its
 *    task.
 */
#include <eddy/serve.h>

#include "core/loop.h"
#include "io/acceptor.h"

#include <eddy/event.h>
#include <eddy/io.h>
#include <eddy/scope.h>
#include <errno.h>
#include <stdlib.h>

#define CONNECTIONS_DEFAULT 10000
#define BACK_OFF_NS (100 * EDDY_MS)

struct server {
	eddy_serve_fn *fn;
	void *arg;
	const char *name;
	size_t max;
	size_t running;
	struct eddy_event ended; /* set when a connection ends */
	struct eddy_scope scope; /* of the doors and connections */
};

/* A listening socket. */
struct door {
	struct server *server;
	int fd;
};

struct connection {
	struct server *server;
	int fd;
};

static int serve_connection(void *arg)
{
	struct connection connection = *(struct connection *)arg;
	struct server *server = connection.server;

	free(arg);
	server->fn(connection.fd, server->arg);
	eddy_close(connection.fd);
	server->running--;
	eddy_event_set(&server->ended);
	return 0;
}

/* Start a connection's task, which then owns `fd`. Return: 0, -ENOMEM, -ECANCELED. */
static int start(struct server *server, int fd)
{
	struct connection *connection = malloc(sizeof(*connection));
	int r;

	if (!connection)
		return -ENOMEM;
	*connection = (struct connection){ server, fd };
	r = eddy_scope_spawn(&server->scope, server->name, serve_connection, connection);
	if (r < 0) {
		free(connection);
		return r;
	}
	server->running++;
	return 0;
}

static int wait_for_room(struct server *server)
{
	int r = 0;

	while (server->running >= server->max && r == 0) {
		eddy_event_clear(&server->ended);
		r = eddy_event_wait(&server->ended);
	}
	return r;
}

static int keep_door(void *arg)
{
	struct door *door = arg;
	struct server *server = door->server;
	struct eddyi_acceptor acceptor;
	int r = eddyi_acceptor_open(&acceptor, door->fd, 0), fd;

	if (r < 0)
		return r;
	while ((fd = eddyi_acceptor_next(&acceptor)) >= 0) {
		/* Apply the limit after the accept, so that no door reserves the last place. */
		r = wait_for_room(server);
		if (r == 0)
			r = start(server, fd);
		if (r == 0)
			continue;
		eddy_close(fd);
		/* Out of memory: pause, since further connections would fail too. */
		eddy_sleep(BACK_OFF_NS);
	}
	eddyi_acceptor_close(&acceptor);
	return fd;
}

int eddy_serve(const struct eddy_listeners *listeners, const struct eddy_serve_options *options,
	       eddy_serve_fn *fn, void *arg)
{
	static const struct eddy_serve_options defaults;
	struct server server = { .fn = fn, .arg = arg };
	struct door doors[EDDY_ADDRESSES_MAX];
	int r = 0, ended;

	eddyi_task();
	if (!options)
		options = &defaults;
	server.name = options->name ? options->name : "connection";
	server.max = options->connections_max ? options->connections_max : CONNECTIONS_DEFAULT;
	eddy_event_init(&server.ended);
	eddy_scope_begin(&server.scope, &(struct eddy_scope_options){ .fail_fast = true });
	for (size_t i = 0; i < listeners->count && r == 0; i++) {
		doors[i] = (struct door){ &server, listeners->fds[i] };
		r = eddy_scope_spawn(&server.scope, "accept", keep_door, &doors[i]);
	}
	if (r == 0)
		r = eddy_scope_join(&server.scope);
	ended = eddy_scope_end(&server.scope);
	return ended < 0 ? ended : r;
}
