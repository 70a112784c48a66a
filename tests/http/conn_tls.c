/* Tests of http/src/http1/conn.h: how a connection with TLS begins, when memory is short. */
#include "../runtime/failing.h"
#include "dial.h"
#include "localhost.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <stdio.h>
#include <sys/mman.h>

/* Connect to the app, with the n-th allocation from now failing; 0: none. From 127.0.0.2, since the
 * app trusts no proxy. Return: the socket. */
static int connect_failing(const struct eddy_app *app, int n)
{
	const struct sockaddr_in from = { .sin_family = AF_INET,
					  .sin_addr = { htonl(INADDR_LOOPBACK + 1) } };
	const struct sockaddr_in to = dial_address(eddy_app_port(app));
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cr_assert(eq(int, bind(fd, (const struct sockaddr *)&from, sizeof(from)), 0));
	failing_at = n;
	cr_assert(eq(int, connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0));
	return fd;
}

static uint64_t accepted(const struct eddy_app *app, uint64_t before)
{
	while (eddy_app_stats(app).accepted == before)
		eddy_yield();
	return eddy_app_stats(app).accepted;
}

/* One beyond the limit takes no memory of TLS: the allocation of that would fail. */
static void exceed(const struct eddy_app *app)
{
	int first = connect_failing(app, 0), second;
	uint64_t before = accepted(app, 0);

	/* The first one lets tables of the executor grow. */
	for (int i = 0; i < 2; i++) {
		second = connect_failing(app, i ? 2 : 0);
		before = accepted(app, before);
		cr_expect(eq(int, failing_at, i));
		failing_at = 0;
		close(second);
	}
	cr_expect(eq(u64, eddy_app_stats(app).over_address, 2));
	cr_expect(eq(u64, eddy_app_stats(app).refused, 0));
	close(first);
	while (eddy_app_stats(app).connections)
		eddy_yield();
}

/* Whichever allocation fails, the connection is refused, and its place is free again. */
static void lack(const struct eddy_app *app)
{
	uint64_t refused = 0, before = eddy_app_stats(app).accepted;
	bool has_failed = true;
	int fd;

	for (int n = 1; has_failed; n++) {
		fd = connect_failing(app, n);
		before = accepted(app, before);
		has_failed = failing_at == 0;
		failing_at = 0;
		refused += has_failed;
		cr_expect(eq(u64, eddy_app_stats(app).refused, refused));
		cr_expect(eq(u64, eddy_app_stats(app).connections, !has_failed));
		close(fd);
	}
	/* The connection, its address in the set and in the count for the limit, and its TLS. */
	cr_expect(eq(u64, refused, 4));
}

static int run(void *app)
{
	return eddy_app_run(app);
}

static int serve(void *arg)
{
	struct eddy_app *app = arg;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "app", run, app);
	while (!eddy_app_port(app))
		eddy_yield();
	exceed(app);
	lack(app);
	eddy_app_shutdown(app);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return 0;
}

Test(conn_tls, is_counted_before_it_takes_memory)
{
	int fd = memfd_create("pem", MFD_CLOEXEC);
	struct eddy_app *app = eddy_app_new();
	char path[32];

	cr_assert(write(fd, localhost_pem, sizeof(localhost_pem) - 1) > 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	eddy_app_bind(app, "127.0.0.1:0");
	eddy_app_use_tls(app, &(struct eddy_tls_options){ .cert = path, .key = path });
	eddy_app_with_server(app, &(struct eddy_server_options){ .connections_per_address_max = 1,
								 .no_signals = true,
								 .workers = 1 });
	cr_expect(eq(int, eddy_run(NULL, serve, app), 0));
	eddy_app_free(app);
	close(fd);
}
