/* Calling a function in a task on another loop.
 *
 * Invariants:
 * 1. The call is on the caller's stack. `owed` counts the messages still to return for it: one for
 *    the task, one for a cancellation. The caller continues when it is 0.
 * 2. `scope`, `cancelled` and `result` belong to the other loop's thread until `done` is posted;
 *    `owed` and `waiter` belong to the caller's.
 * 3. Messages of one sender arrive in order: a cancellation never arrives before its call.
 */
#include <eddy/internal/outside.h>
#include <eddy/loops.h>

#include "core/loop.h"
#include "core/wait.h"

#include <errno.h>

struct call {
	struct eddyi_waiter waiter;
	struct eddy_loop *from, *to;
	const char *name, *where;
	eddy_task_fn *fn;
	void *arg;
	unsigned owed;

	struct eddy_scope *scope; /* while the function runs */
	bool cancelled;
	int result;

	struct eddy_message start, done;
	struct eddy_message cancel, cancel_seen;
};

static void came_back(struct call *call)
{
	if (--call->owed == 0)
		eddyi_wake(&call->waiter, (int)eddyi_outside_value("call", call->result));
}

static void deliver_done(struct eddy_message *message)
{
	came_back(eddy_of(message, struct call, done));
}

static void deliver_cancel_seen(struct eddy_message *message)
{
	came_back(eddy_of(message, struct call, cancel_seen));
}

static int call_main(void *arg)
{
	struct call *call = arg;
	struct eddy_scope scope;

	if (call->cancelled) {
		call->result = -ECANCELED;
	} else {
		eddy_scope_begin(&scope, NULL);
		call->scope = &scope;
		call->result = call->fn(call->arg);
		call->scope = NULL;
		eddy_scope_end(&scope);
	}
	eddy_loop_post(call->from, &call->done);
	return 0;
}

static void deliver_start(struct eddy_message *message)
{
	struct call *call = eddy_of(message, struct call, start);

	call->result =
		(eddy_scope_spawn)(&call->to->root, call->name, call_main, call, call->where);
	if (call->result < 0)
		eddy_loop_post(call->from, &call->done);
}

static void deliver_cancel(struct eddy_message *message)
{
	struct call *call = eddy_of(message, struct call, cancel);

	call->cancelled = true;
	if (call->scope)
		eddy_scope_cancel(call->scope);
	eddy_loop_post(call->from, &call->cancel_seen);
}

static void cancel(struct eddyi_waiter *waiter)
{
	struct call *call = eddy_of(waiter, struct call, waiter);

	call->owed++;
	eddy_loop_post(call->to, &call->cancel);
}

int(eddy_loops_call)(struct eddy_loop *loop, const char *name, eddy_task_fn *fn, void *arg,
		     const char *where)
{
	struct call call = {
		.waiter = { .cancel = cancel, .what = "call on another loop", .on = loop },
		.from = eddyi_loop(),
		.to = loop,
		.name = name,
		.where = where,
		.fn = fn,
		.arg = arg,
		.owed = 1,
		.start = { .deliver = deliver_start },
		.done = { .deliver = deliver_done },
		.cancel = { .deliver = deliver_cancel },
		.cancel_seen = { .deliver = deliver_cancel_seen },
	};

	if (eddy_is_cancelled())
		return -ECANCELED;
	eddy_loop_post(loop, &call.start);
	return eddyi_wait(&call.waiter);
}
