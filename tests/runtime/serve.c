/* Tests of eddy/serve.h. */
#include "expect.h"

#include <eddy/event.h>
#include <eddy/io.h>
#include <eddy/serve.h>
#include <sys/resource.h>

struct service {
	struct eddy_listeners listeners;
	struct eddy_serve_options options;
	struct eddy_scope *scope;
	struct eddy_event changed;
	int running, most, served, cancelled, result;
};

/* A byte lets it end. */
static int serve_one(int fd, void *arg)
{
	struct service *service = arg;
	char byte;
	ssize_t r;

	service->served++;
	if (++service->running > service->most)
		service->most = service->running;
	eddy_event_set(&service->changed);
	r = eddy_recv(fd, &byte, 1, 0);
	service->cancelled += r == -ECANCELED;
	if (r == 1)
		eddy_send_all(fd, &byte, 1, 0);
	service->running--;
	return r < 0 ? (int)r : -EIO;
}

static int serve(void *arg)
{
	struct service *service = arg;

	service->result = eddy_serve(&service->listeners, &service->options, serve_one, service);
	return 0;
}

static void start(struct service *service, struct eddy_scope *scope, const char *address)
{
	EXPECT_EQ(eddy_listen(address, NULL, &service->listeners), 0);
	eddy_event_init(&service->changed);
	eddy_scope_begin(scope, NULL);
	eddy_scope_spawn(scope, "serve", serve, service);
}

static void stop(struct service *service, struct eddy_scope *scope)
{
	eddy_scope_cancel(scope);
	eddy_scope_end(scope);
	eddy_listeners_close(&service->listeners);
}

static void wait_for_served(struct service *service, int count)
{
	while (service->served < count) {
		eddy_event_clear(&service->changed);
		eddy_event_wait(&service->changed);
	}
}

static struct eddy_sockaddr address_of(const struct service *service, size_t listener)
{
	struct eddy_sockaddr addr = { .len = sizeof(addr.addr) };

	EXPECT_EQ(getsockname(service->listeners.fds[listener], &addr.addr.any, &addr.len), 0);
	return addr;
}

static int open_socket(const struct service *service, size_t listener)
{
	return socket(address_of(service, listener).addr.any.sa_family,
		      SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static int connect_socket(const struct service *service, size_t listener, int fd)
{
	struct eddy_sockaddr addr = address_of(service, listener);

	return eddy_connect(fd, &addr.addr.any, addr.len);
}

static int dial(const struct service *service, size_t listener)
{
	int fd = open_socket(service, listener);

	EXPECT_EQ(connect_socket(service, listener, fd), 0);
	return fd;
}

/* Let the peer's connection end, and see that it was closed. */
static void finish(int fd)
{
	char bytes[2];

	EXPECT_EQ(eddy_send_all(fd, "x", 1, 0), 0);
	EXPECT_EQ(eddy_recv(fd, bytes, 2, 0), 1);
	EXPECT_EQ(eddy_recv(fd, bytes, 2, 0), 0);
	eddy_close(fd);
}

TASK_TEST(serve, every_address_is_served_and_failures_concern_nobody_else)
{
	struct service service = { 0 };
	struct eddy_scope scope;

	start(&service, &scope, "localhost:0");
	for (size_t i = 0; i < 2 * service.listeners.count; i++)
		finish(dial(&service, i / 2));
	EXPECT_EQ(service.served, 2 * service.listeners.count);
	stop(&service, &scope);
	EXPECT_EQ(service.result, -ECANCELED);
	return 0;
}

TASK_TEST(serve, cancels_and_closes_its_connections)
{
	struct service service = { 0 };
	struct eddy_scope scope;
	int fds[3];
	char byte;

	start(&service, &scope, "127.0.0.1:0");
	for (size_t i = 0; i < 3; i++)
		fds[i] = dial(&service, 0);
	wait_for_served(&service, 3);
	stop(&service, &scope);
	EXPECT_EQ(service.cancelled, 3);
	EXPECT_EQ(service.running, 0);
	for (size_t i = 0; i < 3; i++) {
		EXPECT_EQ(eddy_recv(fds[i], &byte, 1, 0), 0);
		eddy_close(fds[i]);
	}
	return 0;
}

/* Those beyond the limit are served as others end; with two doors as with one. */
TASK_TEST(serve, keeps_its_limit)
{
	struct service service = { .options.connections_max = 2 };
	struct eddy_scope scope;
	int fds[6];

	start(&service, &scope, "localhost:0");
	for (size_t i = 0; i < 6; i++)
		fds[i] = dial(&service, i % service.listeners.count);
	wait_for_served(&service, 2);
	expect_turns(3);
	EXPECT_EQ(service.served, 2);
	for (size_t i = 0; i < 6; i++)
		EXPECT_EQ(eddy_send_all(fds[i], "x", 1, 0), 0);
	wait_for_served(&service, 6);
	stop(&service, &scope);
	EXPECT_EQ(service.most, 2);
	for (size_t i = 0; i < 6; i++)
		eddy_close(fds[i]);
	return 0;
}

/* A connection that waits for room is closed, not lost. */
TASK_TEST(serve, cancelled_at_the_limit_loses_no_descriptor)
{
	struct service service = { .options.connections_max = 1 };
	struct eddy_scope scope;
	int first, second, before, after;
	char byte;

	before = dup(0);
	close(before);
	start(&service, &scope, "127.0.0.1:0");
	first = dial(&service, 0);
	second = dial(&service, 0);
	wait_for_served(&service, 1);
	expect_turns(3);
	stop(&service, &scope);
	EXPECT(eddy_recv(second, &byte, 1, 0) <= 0);
	eddy_close(first);
	eddy_close(second);
	after = dup(0);
	close(after);
	EXPECT_EQ(after, before);
	return 0;
}

/* Without descriptors it waits, and goes on as soon as one is free. */
TASK_TEST(serve, outlives_a_full_table)
{
	struct service service = { 0 };
	struct eddy_scope scope;
	struct rlimit before, limit;
	int first, second, free_fd;

	if (RUNNING_ON_VALGRIND) {
		expect_skip("valgrind keeps the limit of descriptors to itself");
		return 0;
	}
	start(&service, &scope, "127.0.0.1:0");
	first = open_socket(&service, 0);
	second = open_socket(&service, 0);
	free_fd = dup(0);
	close(free_fd);
	getrlimit(RLIMIT_NOFILE, &before);
	limit = (struct rlimit){ (rlim_t)free_fd + 1, before.rlim_max };
	EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	EXPECT_EQ(connect_socket(&service, 0, first), 0);
	wait_for_served(&service, 1);
	EXPECT_EQ(connect_socket(&service, 0, second), 0);
	expect_turns(3);
	EXPECT_EQ(service.served, 1);
	finish(first);
	wait_for_served(&service, 2);
	finish(second);
	setrlimit(RLIMIT_NOFILE, &before);
	stop(&service, &scope);
	EXPECT_EQ(service.result, -ECANCELED);
	return 0;
}

TASK_TEST(serve, says_what_can_not_be_served)
{
	struct eddy_listeners none = { .fds = { socket(AF_INET, SOCK_STREAM, 0) }, .count = 1 };
	struct service service = { 0 };
	int r;

	eddy_event_init(&service.changed);
	r = eddy_serve(&none, NULL, serve_one, &service);
	EXPECT_EQ(r, -EINVAL);
	eddy_close(none.fds[0]);
	EXPECT_EQ(eddy_serve(&none, NULL, serve_one, &service), -EBADF);
	return 0;
}
