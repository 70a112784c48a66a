/* Tests of http/src/server/server.h. */
#include "server/server.h"

#include "dial.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/offload.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <sys/syscall.h>

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

static struct eddyi_share share;
static const struct eddyi_balance alone = { .shares = &share, .count = 1 };

struct served {
	struct eddy_app *app;
	struct eddyi_server server;
	struct eddyi_door door;
	int result;
};

static int serve(void *arg)
{
	struct served *served = arg;

	served->result = eddyi_server_run(&served->server, served->app,
					  &(struct eddyi_doors){ &served->door, 1, false });
	return 0;
}

/* A client that has been answered once and keeps its connection. Return: its socket. */
static int idle_client(void)
{
	char buf[1024];

	return dial_and_get(ntohs(address.sin_port), buf, sizeof(buf));
}

#define CLIENTS_MAX 64

static int listen_here(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(address);

	address = dial_address(0);
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 128) < 0 || getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		return -errno;
	return fd;
}

/* Serve `count` clients, and end while one more comes. Return: how many were served, -errno. */
static int end_with_late_client(struct eddy_app *app, int count)
{
	struct served served = { .app = app,
				 .door = { listen_here(), &app->addresses[0] },
				 .result = 1 };
	int clients[CLIENTS_MAX], served_count = 0;
	struct eddy_scope scope;

	if (served.door.fd < 0)
		return served.door.fd;
	eddyi_server_init(&served.server, &alone, 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "server", serve, &served);
	for (int i = 0; i < count; i++) {
		clients[i] = idle_client();
		served_count += clients[i] >= 0;
	}
	is_late_due = true;
	eddyi_server_stop(&served.server, EDDYI_STOP_DRAIN);
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

static int sleep_deeply(void *arg)
{
	(void)arg;
	usleep(300000);
	return 0;
}

/* Nothing can cut this short. */
static int stubborn(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	(void)res;
	return eddy_offload(sleep_deeply, NULL);
}

static int end_twice(void *arg)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
	struct served served = {
		.app = arg,
		.door = { listen_here(), &((struct eddy_app *)arg)->addresses[0] },
		.result = 1,
	};
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct eddy_scope scope;
	unsigned left;

	if (served.door.fd < 0)
		return served.door.fd;
	eddyi_server_init(&served.server, &alone, 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "server", serve, &served);
	wrong += connect(client, (const struct sockaddr *)&address, sizeof(address)) < 0;
	wrong += send(client, request, sizeof(request) - 1, 0) < 0;
	eddy_sleep(50 * EDDY_MS);
	eddyi_server_stop(&served.server, EDDYI_STOP_DRAIN);
	/* Now it has been drained, and waits for the one that is left. */
	eddy_sleep(100 * EDDY_MS);
	eddyi_server_stop(&served.server, EDDYI_STOP_HURRY);
	eddy_scope_join(&scope);
	left = served.server.conns.count;
	eddy_scope_end(&scope);
	close(client);
	return served.result < 0 ? served.result : (int)left;
}

Test(server, ends_with_its_last_connection)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_server(app, &(struct eddy_server_options){
					  .connections_max = 1000,
					  .drain_timeout_ns = 20 * EDDY_MS,
				  });
	eddy_app_map_get(app, "/", stubborn);
	cr_expect(eq(int, eddy_run(NULL, end_twice, app), 0));
	cr_expect(eq(int, wrong, 0));
	eddy_app_free(app);
}
