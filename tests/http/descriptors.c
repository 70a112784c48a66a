/* Tests of http/src/files/descriptors.h, with a server's functions that are the test's. */
#include "files/descriptors.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/runtime.h>
#include <errno.h>

/* Answers of the server: refused so many times. */
struct server {
	unsigned share_refusals, room_refusals;
	unsigned asked_share, asked_room, asked_late, settled;
	struct eddyi_party *party; /* the last one */
};

static bool may_hold(void *arg, struct eddyi_party *party)
{
	struct server *server = arg;

	server->party = party;
	return server->asked_share++ >= server->share_refusals;
}

static bool make_room(void *arg, struct eddyi_party *party, bool is_late)
{
	struct server *server = arg;

	server->party = party;
	server->asked_late += is_late;
	return server->asked_room++ >= server->room_refusals;
}

static void settle(void *arg, struct eddyi_party *party)
{
	struct server *server = arg;

	server->party = party;
	server->settled++;
}

static const struct eddyi_descriptor_hooks hooks = { may_hold, make_room, settle };

static void run(eddy_task_fn *fn)
{
	cr_assert_eq(eddy_run(NULL, fn, NULL), 0);
}

static int take_without_server(void *arg)
{
	struct eddyi_holding holding = { 0 };
	struct eddyi_party party = { &holding };

	(void)arg;
	cr_expect_eq(eddyi_descriptors_take(NULL, true), 0);
	cr_expect_eq(eddyi_descriptors_take(&party, false), 0);
	cr_expect_eq(holding.files, 0);
	cr_expect_eq(eddyi_descriptors_take(&party, true), 0);
	cr_expect_eq(holding.files, 1);
	cr_expect_eq(eddyi_descriptors_taken(), 3);
	eddyi_descriptors_give_back(&party, true);
	cr_expect_eq(holding.files, 0);
	eddyi_descriptors_give_back(&party, false);
	eddyi_descriptors_give_back(NULL, true);
	cr_expect_eq(eddyi_descriptors_taken(), 0);
	return 0;
}

Test(descriptors, are_counted)
{
	run(take_without_server);
}

static int wait_for_a_share(void *arg)
{
	struct server server = { .share_refusals = 2 };
	struct eddyi_holding holding = { 0 };
	struct eddyi_party party = { &holding };

	(void)arg;
	eddyi_descriptors_begin(&hooks, &server);
	/* Other files than those of uploads, and addresses that are not counted, have no share. */
	cr_expect_eq(eddyi_descriptors_take(&party, false), 0);
	cr_expect_eq(eddyi_descriptors_take(&(struct eddyi_party){ 0 }, true), 0);
	cr_expect_eq(server.asked_share, 0);
	cr_expect_eq(eddyi_descriptors_take(&party, true), 0);
	cr_expect_eq(server.asked_share, 3);
	cr_expect_eq(holding.files, 1);
	server.share_refusals = UINT32_MAX;
	cr_expect_eq(eddyi_descriptors_take(&party, true), -EMFILE);
	cr_expect_eq(holding.files, 1);
	cr_expect_eq(eddyi_descriptors_taken(), 3);
	return 0;
}

Test(descriptors, of_an_upload_wait_for_the_share_of_its_address)
{
	run(wait_for_a_share);
}

static int wait_for_room(void *arg)
{
	struct server server = { .room_refusals = 3 };
	struct eddyi_holding holding = { 0 };
	struct eddyi_party party = { &holding };

	(void)arg;
	eddyi_descriptors_begin(&hooks, &server);
	cr_expect_eq(eddyi_descriptors_take(&party, true), 0);
	cr_expect_eq(server.asked_room, 4);
	cr_expect_eq(server.asked_late, 0);
	cr_expect_eq(server.settled, 0);
	/* One that waits for long may be evicted itself, until it has its place. */
	server = (struct server){ .room_refusals = 8 };
	cr_expect_eq(eddyi_descriptors_take(&party, false), 0);
	cr_expect_gt(server.asked_late, 0);
	cr_expect_eq(server.settled, 1);
	cr_expect_eq(server.party, &party);
	/* Without room nothing stays counted. */
	server = (struct server){ .room_refusals = UINT32_MAX };
	cr_expect_eq(eddyi_descriptors_take(&party, true), -EMFILE);
	cr_expect_eq(server.settled, 1);
	cr_expect_eq(holding.files, 1);
	cr_expect_eq(eddyi_descriptors_taken(), 2);
	return 0;
}

Test(descriptors, wait_for_room)
{
	run(wait_for_room);
}

static int take_cancelled(void *arg)
{
	struct server server = { .room_refusals = UINT32_MAX };
	struct eddy_scope scope;

	(void)arg;
	eddyi_descriptors_begin(&hooks, &server);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 5 * EDDY_MS });
	cr_expect_eq(eddyi_descriptors_take(NULL, false), -ECANCELED);
	eddy_scope_end(&scope);
	cr_expect_eq(eddyi_descriptors_taken(), 0);
	return 0;
}

Test(descriptors, a_cancelled_wait_counts_nothing)
{
	run(take_cancelled);
}
