#include "core/guest.h"

#include "expect.h"

#include <eddy/io.h>
#include <string.h>

/* An observer, and a decider when it is asked. */
struct visitor {
	struct eddyi_guest guest;
	unsigned runs, backs, readies, ended, started, completed;
	uint64_t messages;
	bool leaves;
};

static struct visitor *visitor_of(struct eddyi_guest *guest)
{
	return eddy_of(guest, struct visitor, guest);
}

static void run(struct eddyi_guest *guest, __attribute__((unused)) struct eddy_task *task)
{
	visitor_of(guest)->runs++;
}

static void back(struct eddyi_guest *guest, __attribute__((unused)) struct eddyi_waiter *waiter)
{
	visitor_of(guest)->backs++;
}

static bool ready(struct eddyi_guest *guest, __attribute__((unused)) struct eddy_task *task)
{
	visitor_of(guest)->readies++;
	if (visitor_of(guest)->leaves)
		eddyi_guest_detach(guest);
	return false;
}

static void ended(struct eddyi_guest *guest, __attribute__((unused)) struct eddy_task *task)
{
	visitor_of(guest)->ended++;
}

static void started(struct eddyi_guest *guest, __attribute__((unused)) struct eddy_op *op,
		    __attribute__((unused)) struct io_uring_sqe *sqe)
{
	visitor_of(guest)->started++;
}

static void completed(struct eddyi_guest *guest)
{
	visitor_of(guest)->completed++;
}

static void worked(struct eddyi_guest *guest, enum eddyi_work work, uint64_t count)
{
	if (work == EDDYI_WORK_MESSAGES)
		visitor_of(guest)->messages += count;
}

static bool queue_first(struct eddyi_guest *guest, struct eddy_task *task)
{
	visitor_of(guest)->readies++;
	eddy_list_prepend(&guest->loop->ready, &task->queued);
	return true;
}

static void start(struct eddyi_guest *guest, __attribute__((unused)) struct eddy_op *op,
		  struct io_uring_sqe *sqe)
{
	visitor_of(guest)->started++;
	sqe->len = 1;
}

static void halve(__attribute__((unused)) struct eddyi_guest *guest, __attribute__((unused)) int fd,
		  size_t *len)
{
	*len /= 2;
}

static const struct eddyi_guest_hooks observer = {
	.run = run,
	.back = back,
	.ready = ready,
	.ended = ended,
	.start = started,
	.completed = completed,
	.worked = worked,
};
static const struct eddyi_guest_hooks first_is_last = { .ready = queue_first };
static const struct eddyi_guest_hooks shortener = { .start = start, .try_send = halve };

static char order[8];
static size_t order_len;

static int note(void *arg)
{
	order[order_len++] = *(const char *)arg;
	return 0;
}

/* Spawn three tasks and wait for them. */
static void spawn_abc(void)
{
	struct eddy_scope scope;

	memset(order, 0, sizeof(order));
	order_len = 0;
	eddy_scope_begin(&scope, NULL);
	for (const char *name = "abc"; *name; name++)
		EXPECT_EQ(eddy_scope_spawn(&scope, "note", note, (void *)name), 0);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
}

static void deliver(__attribute__((unused)) struct eddy_message *message)
{
}

TASK_TEST(guest, observers_are_told_what_happens)
{
	struct visitor one = { 0 }, other = { 0 };
	struct eddy_message message = { .deliver = deliver };

	eddyi_guest_attach(eddyi_loop(), &one.guest, &observer);
	eddyi_guest_attach(eddyi_loop(), &other.guest, &observer);
	spawn_abc();
	EXPECT_EQ(one.readies, 3 + 1);
	EXPECT_EQ(one.ended, 3);
	/* They have run, and this task after it has waited for them. */
	EXPECT_EQ(one.runs, 3 + 1);
	EXPECT_EQ(one.backs, 3 + 1);
	eddy_loop_post(eddyi_loop(), &message);
	EXPECT_EQ(eddy_sleep(EDDY_MS), 0);
	EXPECT_EQ(one.messages, 1);
	EXPECT_EQ(other.readies, one.readies);
	EXPECT_EQ(other.ended, one.ended);
	EXPECT_EQ(other.runs, one.runs);
	EXPECT_EQ(other.messages, one.messages);
	eddyi_guest_detach(&one.guest);
	EXPECT_EQ(eddy_yield(), 0);
	EXPECT_EQ(other.runs, one.runs + 1);
	eddyi_guest_detach(&other.guest);
	return 0;
}

TASK_TEST(guest, deciders_act_beside_observers)
{
	struct visitor before = { 0 }, deciding = { 0 }, after = { 0 };

	eddyi_guest_attach(eddyi_loop(), &before.guest, &observer);
	eddyi_guest_attach(eddyi_loop(), &deciding.guest, &first_is_last);
	eddyi_guest_attach(eddyi_loop(), &after.guest, &observer);
	spawn_abc();
	EXPECT_EQ(strcmp(order, "cba"), 0);
	EXPECT_EQ(deciding.readies, 3 + 1);
	EXPECT_EQ(before.readies, deciding.readies);
	EXPECT_EQ(after.readies, deciding.readies);
	EXPECT_EQ(before.ended, 3);
	eddyi_guest_change(&deciding.guest, &observer);
	spawn_abc();
	EXPECT_EQ(strcmp(order, "abc"), 0);
	eddyi_guest_detach(&deciding.guest);
	eddyi_guest_detach(&before.guest);
	eddyi_guest_detach(&after.guest);
	return 0;
}

TASK_TEST(guest, ops_are_changed_as_they_start)
{
	struct visitor watching = { 0 }, deciding = { 0 };
	char buf[8];
	int fds[2];

	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	eddyi_guest_attach(eddyi_loop(), &deciding.guest, &shortener);
	eddyi_guest_attach(eddyi_loop(), &watching.guest, &observer);
	EXPECT_EQ(eddy_try_send(fds[0], "bytes!", 6, 0), 3);
	EXPECT_EQ(eddy_recv(fds[1], buf, sizeof(buf), 0), 1);
	EXPECT_EQ(deciding.started, 1);
	EXPECT_EQ(watching.started, 1);
	EXPECT_EQ(watching.completed, 1);
	eddyi_guest_detach(&deciding.guest);
	EXPECT_EQ(eddy_recv(fds[1], buf, sizeof(buf), 0), 2);
	eddyi_guest_detach(&watching.guest);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

TASK_TEST(guest, one_may_leave_in_a_hook)
{
	struct visitor first = { 0 }, leaving = { .leaves = true };

	eddyi_guest_attach(eddyi_loop(), &first.guest, &observer);
	eddyi_guest_attach(eddyi_loop(), &leaving.guest, &observer);
	spawn_abc();
	EXPECT_EQ(leaving.readies, 1);
	EXPECT_EQ(first.readies, 3 + 1);
	EXPECT(eddyi_guest_find(eddyi_loop(), &observer) == &first.guest);
	eddyi_guest_detach(&first.guest);
	EXPECT(!eddyi_guest_find(eddyi_loop(), &observer));
	EXPECT(!eddyi_is_hooked(eddyi_loop(), ready));
	return 0;
}
