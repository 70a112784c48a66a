/* Tests of http/src/server.h. */
#include "server.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/io.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sockaddr_in address;
static int late = -1; /* a client that comes when the server has stopped to listen */
static bool is_late_due;

/* The server drains its queue by this, just before it closes the listener. */
int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	if (is_late_due) {
		is_late_due = false;
		late = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		connect(late, (const struct sockaddr *)&address, sizeof(address));
	}
	return (int)syscall(SYS_accept4, fd, addr, len, flags);
}

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "hello");
}

struct served {
	struct eddy_app *app;
	struct eddyi_server server;
	int listener;
	int result;
};

static int serve(void *arg)
{
	struct served *served = arg;

	served->result = eddyi_server_run(&served->server, served->app, &served->listener, 1);
	return 0;
}

/* A client that has been answered once and keeps its connection. Return: its socket. */
static int idle_client(void)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char buf[1024];

	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    send(fd, request, sizeof(request) - 1, 0) < 0 ||
	    eddy_recv(fd, buf, sizeof(buf), 0) <= 0) {
		close(fd);
		return -1;
	}
	return fd;
}

#define CLIENTS_MAX 64

/* Serve `count` clients, and end while one more comes. Return: how many were served, -errno. */
static int end_with_late_client(struct eddy_app *app, int count)
{
	struct served served = { .app = app, .result = 1 };
	socklen_t len = sizeof(address);
	int clients[CLIENTS_MAX], served_count = 0;
	struct eddy_scope scope;

	served.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	address = (struct sockaddr_in){ .sin_family = AF_INET };
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(served.listener, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(served.listener, 128) < 0 ||
	    getsockname(served.listener, (struct sockaddr *)&address, &len) < 0)
		return -errno;
	eddyi_server_init(&served.server);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "server", serve, &served);
	for (int i = 0; i < count; i++) {
		clients[i] = idle_client();
		served_count += clients[i] >= 0;
	}
	is_late_due = true;
	eddyi_server_stop(&served.server, false);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	for (int i = 0; i < count; i++)
		close(clients[i]);
	if (late >= 0)
		close(late);
	late = -1;
	return served.result < 0 ? served.result : served_count;
}

static int wrong;

static int end_with_late_clients(void *arg)
{
	/* The kernel ends the receives of idle connections in batches: with some counts the last connection
	 * is gone before the listener is. */
	for (int count = 1; count <= CLIENTS_MAX; count++)
		wrong += end_with_late_client(arg, count) != count;
	return 0;
}

Test(server, ends_while_a_client_comes)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_server(app, &(struct eddy_server_options){ .connections_max = 1000 });
	eddy_app_map_get(app, "/", hello);
	cr_expect(eq(int, eddy_run(NULL, end_with_late_clients, app), 0));
	cr_expect(eq(int, wrong, 0));
	eddy_app_free(app);
}
