/* Tests of how loops share connections. */
#include "server/balance.h"

#include "../runtime/failing.h"
#include "dial.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define MANY 64

/* The answer is the number of the loop that gives it. */
static int which_loop(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "loop %u", eddy_loops_index());
}

static int run(void *app)
{
	return eddy_app_run(app);
}

struct clients {
	int fds[MANY];
	unsigned loops[MANY];
	unsigned count;
	unsigned of[2]; /* that each loop has */
};

static int ask(const struct eddy_app *app, unsigned *ret_loop)
{
	char buf[1024] = "";
	int fd = dial_and_get(eddy_app_port(app), buf, sizeof(buf));
	const char *found = strstr(buf, "loop ");

	if (!found) {
		close(fd);
		return -1;
	}
	*ret_loop = (unsigned)atoi(found + 5);
	return fd;
}

static bool add(struct clients *clients, const struct eddy_app *app, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned loop, at = clients->count;

		clients->fds[at] = ask(app, &loop);
		if (clients->fds[at] < 0 || loop > 1)
			return false;
		clients->loops[at] = loop;
		clients->of[loop]++;
		clients->count++;
	}
	return true;
}

static int share(void *arg)
{
	struct eddy_app *app = arg;
	struct clients clients = { 0 };
	unsigned before, closed = 0;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "app", run, app);
	while (!eddy_app_port(app))
		eddy_sleep(EDDY_MS);
	/* The kernel's hash would make this of one time in five. */
	if (!add(&clients, app, 16) || clients.of[0] != 8 || clients.of[1] != 8)
		return -1;
	/* Loop 0 loses all that it has: it gets the next ones. */
	for (unsigned i = 0; i < 16; i++) {
		if (clients.loops[i] == 0) {
			close(clients.fds[i]);
			clients.fds[i] = -1;
			closed++;
		}
	}
	while (eddy_app_stats(app).connections > 16 - closed)
		eddy_sleep(EDDY_MS);
	before = clients.of[1];
	if (!add(&clients, app, 8) || clients.of[1] != before)
		return -2;
	/* Many: no loop has more than 1 + 1/8 of the other's. */
	clients.of[0] = 8;
	if (!add(&clients, app, 32) || clients.of[0] > clients.of[1] + clients.of[1] / 8 + 1 ||
	    clients.of[1] > clients.of[0] + clients.of[0] / 8 + 1)
		return -3;
	if (eddy_app_stats(app).accepted != 56 || eddy_app_stats(app).connections != 48)
		return -4;
	eddy_app_shutdown(app);
	eddy_scope_join(&scope);
	for (unsigned i = 0; i < clients.count; i++)
		if (clients.fds[i] >= 0)
			close(clients.fds[i]);
	return eddy_scope_end(&scope);
}

static struct eddy_app *make(void)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_bind(app, "127.0.0.1:0");
	eddy_app_with_server(app,
			     &(struct eddy_server_options){ .workers = 2, .no_signals = true });
	eddy_app_map_get(app, "/", which_loop);
	return app;
}

Test(balance, two_loops_have_as_many)
{
	struct eddy_app *app = make();

	cr_expect(eq(int, eddy_run(NULL, share, app), 0));
	eddy_app_free(app);
}

/* Of two loops one has eight connections, and the other seven: one of these is on its way from a third. */
static int hand_over(void *arg)
{
	struct eddyi_conns many = { .counts = { .accepted = 8 } },
			   few = { .counts = { .accepted = 6 } };
	struct eddyi_share shares[2] = { 0 };
	struct eddyi_balance balance = { .shares = shares, .count = 2 };
	unsigned max = *(unsigned *)arg;
	bool handed;

	eddyi_share_open(&shares[0], &many, max);
	eddyi_share_open(&shares[1], &few, max);
	shares[1].coming = 1;
	/* It fails where it is to arrive, which is counted. */
	failing_at = 2;
	handed = eddyi_balance_hand_over(&balance, &shares[0], -1, NULL);
	while (handed && !few.counts.refused)
		eddy_yield();
	failing_at = 0;
	return shares[1].coming == 1 ? handed : -1;
}

/* Several may hand over to one at the same time: they do not take it beyond its limit. */
Test(balance, leaves_the_last_place)
{
	for (unsigned max = 8; max <= 9; max++)
		cr_expect(eq(int, eddy_run(NULL, hand_over, &max), max == 9));
}

struct crowd {
	const struct eddy_app *app;
	atomic_uint answered, failed;
	atomic_bool enough;
};

/* Connections that come until nobody listens. */
static int come(void *arg)
{
	struct crowd *crowd = arg;
	unsigned loop;

	while (!atomic_load(&crowd->enough)) {
		int fd = ask(crowd->app, &loop);

		if (fd < 0) {
			atomic_fetch_add(&crowd->failed, 1);
			break;
		}
		atomic_fetch_add(&crowd->answered, 1);
		close(fd);
	}
	return 0;
}

/* An end while connections are on their way from loop to loop: nothing is lost or left, which sanitizers see, and the
 * descriptors. */
static int end_in_the_middle(void *arg)
{
	struct eddy_app *app = arg;
	struct crowd crowd = { .app = app };
	struct eddy_scope scope, clients;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "app", run, app);
	while (!eddy_app_port(app))
		eddy_sleep(EDDY_MS);
	eddy_scope_begin(&clients, NULL);
	for (int i = 0; i < 8; i++)
		eddy_scope_spawn(&clients, "client", come, &crowd);
	while (atomic_load(&crowd.answered) < 100)
		eddy_sleep(EDDY_MS);
	eddy_app_shutdown(app);
	eddy_scope_join(&scope);
	atomic_store(&crowd.enough, true);
	eddy_scope_join(&clients);
	eddy_scope_end(&clients);
	return eddy_scope_end(&scope);
}

static int descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

Test(balance, ends_in_the_middle)
{
	int before = descriptors();

	for (int i = 0; i < 5; i++) {
		struct eddy_app *app = make();

		cr_expect(eq(int, eddy_run(NULL, end_in_the_middle, app), 0));
		cr_expect(eq(uint, (unsigned)eddy_app_stats(app).connections, 0));
		eddy_app_free(app);
	}
	cr_expect(descriptors() <= before + 3, "%d, %d before", descriptors(), before);
}
