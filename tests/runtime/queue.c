/* Tests of runtime/src/sync/queue.c: tasks in a queue, and who serves them. */
#include "expect.h"
#include "sync/queue.h"

struct waiting {
	struct eddyi_queued queued;
	int result;
	int arrival; /* from 1 */
	bool ended, left;
};

static struct eddy_node queue;
static int arrivals;

static void leave(struct eddyi_queued *queued)
{
	struct waiting *waiting = eddy_of(queued, struct waiting, queued);

	EXPECT(eddyi_queue_first(&queue) != &queued->entry);
	waiting->left = true;
}

static int wait_in_queue(void *arg)
{
	struct waiting *waiting = arg;

	waiting->queued.waiter.what = "test";
	waiting->queued.left = leave;
	waiting->arrival = ++arrivals;
	waiting->result = eddyi_queue_wait(&queue, &waiting->queued, NULL);
	waiting->ended = true;
	return 0;
}

static void start(struct eddy_scope *scope, struct waiting *waiting, int count)
{
	eddy_list_init(&queue);
	eddy_scope_begin(scope, NULL);
	for (int i = 0; i < count; i++) {
		waiting[i].queued.waiter.cancel = eddyi_queue_cancel;
		EXPECT_EQ(eddy_scope_spawn(scope, "waits", wait_in_queue, &waiting[i]), 0);
	}
	while (arrivals < count)
		eddy_yield();
}

static struct waiting *first(void)
{
	return eddy_of(eddyi_queue_first(&queue), struct waiting, queued.entry);
}

TASK_TEST(queue, serves_in_order_of_arrival)
{
	struct waiting waiting[3] = { 0 }, *served;
	struct eddy_scope scope;

	start(&scope, waiting, 3);
	served = first();
	EXPECT_EQ(served->arrival, 1);
	eddyi_entry_serve(&served->queued.entry, 7);
	EXPECT_EQ(first()->arrival, 2);
	while (!served->ended)
		eddy_yield();
	EXPECT_EQ(served->result, 7);
	EXPECT(!first()->ended);
	eddyi_queue_serve_all(&queue, 9);
	EXPECT(!eddyi_queue_first(&queue));
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(waiting[i].result, &waiting[i] == served ? 7 : 9);
		EXPECT(!waiting[i].left);
	}
	return 0;
}

TASK_TEST(queue, cancelled_wait_leaves_it)
{
	struct waiting waiting[2] = { 0 };
	struct eddy_scope scope;

	start(&scope, waiting, 2);
	eddy_scope_cancel(&scope);
	EXPECT(!eddyi_queue_first(&queue));
	eddy_scope_end(&scope);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(waiting[i].result, -ECANCELED);
		EXPECT(waiting[i].left);
	}
	return 0;
}

/* Its task has what it waited for, though it has not run yet. */
TASK_TEST(queue, served_wait_is_not_cancelled)
{
	struct waiting waiting[1] = { 0 };
	struct eddy_scope scope;

	start(&scope, waiting, 1);
	eddyi_entry_serve(eddyi_queue_first(&queue), 5);
	eddy_scope_cancel(&scope);
	EXPECT(!waiting[0].ended);
	eddy_scope_end(&scope);
	EXPECT_EQ(waiting[0].result, 5);
	EXPECT(!waiting[0].left);
	return 0;
}

static int serve(__attribute__((unused)) void *arg)
{
	struct eddyi_entry *first = eddyi_queue_first(&queue);

	if (first)
		eddyi_entry_serve(first, 3);
	return 0;
}

TASK_TEST(queue, cancelled_scope_enters_only_what_can_not_be_cancelled)
{
	struct waiting waiting[2] = { { .queued.waiter.cancel = eddyi_queue_cancel } };
	struct eddy_scope outer, scope;

	eddy_list_init(&queue);
	eddy_scope_begin(&outer, NULL);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	wait_in_queue(&waiting[0]);
	EXPECT_EQ(waiting[0].result, -ECANCELED);
	EXPECT(!waiting[0].left);
	EXPECT(!eddyi_queue_first(&queue));
	EXPECT_EQ(eddy_scope_spawn(&outer, "serves", serve, NULL), 0);
	wait_in_queue(&waiting[1]);
	EXPECT_EQ(waiting[1].result, 3);
	eddy_scope_end(&scope);
	return eddy_scope_end(&outer);
}
