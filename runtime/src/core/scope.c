#include "scope.h"

#include "own.h"
#include "wait.h"

#include "base/out.h"

#include <eddy/local.h>
#include <errno.h>

/* Invariants:
 * 1. A scope is in its parent's `children` exactly from _begin to _end.
 * 2. A task is in exactly one scope's `tasks`: that of its innermost scope.
 * 3. Cancelling a scope cancels all scopes below it, except shielded ones and those below them.
 * 4. `running` counts the tasks spawned here that have not ended; _end returns when it is 0. So
 *    arguments of tasks may be on the stack of the task that ends the scope.
 * 5. `result` is written once: by the first failure, or by a cancellation before any failure.
 * 6. A waiting task is notified of a cancellation once, through its waiter; a running or ready task
 *    sees it in its next suspending call.
 */

void eddyi_scope_init_root(struct eddy_scope *scope)
{
	*scope = (struct eddy_scope){ 0 };
	eddy_list_init(&scope->children);
	eddy_list_init(&scope->tasks);
}

static void cancel_one(struct eddy_scope *scope, int reason)
{
	struct eddy_node *node;

	scope->cancelled = true;
	if (!scope->result)
		scope->result = reason;
	for (node = scope->tasks.next; node != &scope->tasks; node = node->next) {
		struct eddyi_waiter *waiter = eddy_of(node, struct eddy_task, inside)->waiter;

		if (waiter && waiter->cancel && !waiter->woken)
			waiter->cancel(waiter);
	}
}

/* Get the next scope in preorder in the tree below `top`, skipping those inside `scope` unless
 * `enter`. Return: NULL after the last. */
static struct eddy_scope *next_below(struct eddy_scope *top, struct eddy_scope *scope, bool enter)
{
	if (enter && !eddy_list_is_empty(&scope->children))
		return eddy_of(scope->children.next, struct eddy_scope, sibling);
	for (; scope != top; scope = scope->parent)
		if (scope->sibling.next != &scope->parent->children)
			return eddy_of(scope->sibling.next, struct eddy_scope, sibling);
	return NULL;
}

/* Not recursive: stacks are small, and scopes may nest to any depth. */
static void cancel(struct eddy_scope *top, int reason)
{
	struct eddy_scope *scope = top;
	bool enter;

	do {
		enter = !scope->cancelled && (scope == top || !scope->shielded);
		if (enter)
			cancel_one(scope, scope == top ? reason : -ECANCELED);
	} while ((scope = next_below(top, scope, enter)));
}

static void time_is_up(struct eddy_timer *timer)
{
	cancel(eddy_of(timer, struct eddy_scope, timer), -ETIMEDOUT);
}

static void move_task(struct eddy_task *task, struct eddy_scope *to)
{
	eddy_list_remove(&task->inside);
	task->scope = to;
	eddy_list_append(&to->tasks, &task->inside);
}

void(eddy_scope_begin)(struct eddy_scope *scope, const struct eddy_scope_options *options,
		       const char *where)
{
	static const struct eddy_scope_options defaults;
	struct eddy_task *task = eddyi_task_at(where);

	if (!options)
		options = &defaults;
	*scope = (struct eddy_scope){
		.parent = task->scope,
		.host = task,
		.loop = eddyi_this_loop->id,
		.where = where,
		.fail_fast = options->fail_fast,
		.shielded = options->shielded,
		.timer = { .fire = time_is_up },
		.log_fields = options->log_fields,
		.locals = options->locals,
		.binding = options->locals ? scope : task->scope->binding,
	};
	eddy_list_init(&scope->children);
	eddy_list_init(&scope->tasks);
	eddy_list_append(&scope->parent->children, &scope->sibling);
	move_task(task, scope);
	task->scope_where = where;
	if (scope->parent->cancelled && !scope->shielded)
		cancel(scope, -ECANCELED);
	else if (options->timeout_ns)
		eddy_timer_arm(&scope->timer, eddyi_time_after(eddy_now(), options->timeout_ns));
}

int eddyi_scope_spawn(struct eddy_scope *scope, struct eddyi_told told, const char *name,
		      eddy_task_fn *fn, void *arg, const char *where)
{
	struct eddy_loop *loop;
	struct eddy_task *task;

	eddyi_own_made(&scope->loop, &scope->tasks, "a scope", "eddy_scope_begin", where);
	loop = eddyi_loop_at(where);
	if (scope->cancelled)
		return -ECANCELED;
	task = eddyi_task_take(loop, name, fn, arg);
	if (!task)
		return -ENOMEM;
	task->where = where;
	task->told = told;
	task->owner = task->scope = scope;
	eddy_list_append(&scope->tasks, &task->inside);
	scope->running++;
	EDDYI_USDT(task__spawn, loop->id, task->id, task->name, task->where);
	eddyi_task_ready(loop, task);
	return 0;
}

int(eddy_scope_spawn)(struct eddy_scope *scope, const char *name, eddy_task_fn *fn, void *arg,
		      const char *where)
{
	return eddyi_scope_spawn(scope, (struct eddyi_told){ 0 }, name, fn, arg, where);
}

static int wait_for_tasks(struct eddy_scope *scope, bool cancellable)
{
	struct eddyi_waiter waiter = {
		.cancel = cancellable ? eddyi_cancel_wait : NULL,
		.what = cancellable ? "scope join" : "scope end",
	};
	int r = 0;

	while (scope->running && r == 0) {
		scope->joiner = &waiter;
		r = eddyi_wait(&waiter);
		scope->joiner = NULL;
	}
	return r;
}

void eddyi_scope_task_ended(struct eddy_scope *scope, int result)
{
	scope->running--;
	if (result < 0 && !(scope->cancelled && result == -ECANCELED)) {
		if (!scope->result)
			scope->result = result;
		if (scope->fail_fast)
			cancel(scope, result);
	}
	if (!scope->running && scope->joiner)
		eddyi_wake(scope->joiner, 0);
}

int(eddy_scope_join)(struct eddy_scope *scope, const char *where)
{
	eddyi_own_made(&scope->loop, &scope->tasks, "a scope", "eddy_scope_begin", where);
	eddyi_assert_at(where, scope->host == eddyi_loop_at(where)->running,
			"a scope is joined by a task that did not begin it, at %s",
			eddyi_place(scope->where));
	return wait_for_tasks(scope, true);
}

int eddyi_scope_end(struct eddy_scope *scope, const char *where)
{
	struct eddy_task *task;

	if (!scope->host)
		return 0;
	eddyi_own(&scope->loop, "a scope", where);
	eddyi_assert_at(where, scope->sibling.next, "a scope is ended twice, begun at %s",
			eddyi_place(scope->where));
	task = eddyi_loop_at(where)->running;
	eddyi_assert_at(where, task == scope->host,
			"a scope is ended by a task that did not begin it, at %s",
			eddyi_place(scope->where));
	/* The function that forgot the inner one may have returned long ago. */
	eddyi_assert_at(
		task->scope_where, task->scope == scope,
		"the scope that begins here is still open as its outer one is ended, at %s: "
		"call eddy_scope_end() on every path, innermost first",
		eddyi_place(where));
	eddy_timer_disarm(&scope->timer);
	if (scope->running) {
		cancel(scope, 0);
		wait_for_tasks(scope, false);
	}
	move_task(task, scope->parent);
	task->scope_where = scope->parent->where;
	eddy_list_remove(&scope->sibling);
	return scope->result;
}

int(eddy_scope_end)(struct eddy_scope *scope)
{
	return eddyi_scope_end(scope, NULL);
}

void eddyi_scope_cancel(struct eddy_scope *scope, const char *where)
{
	eddyi_own_made(&scope->loop, &scope->tasks, "a scope", "eddy_scope_begin", where);
	cancel(scope, -ECANCELED);
}

EDDYI_WITHOUT_WHERE(scope_cancel, struct eddy_scope)

bool eddy_is_cancelled(void)
{
	struct eddy_task *task = eddy_task_self();

	return task && task->scope->cancelled;
}

/* ---- values that scopes pass down to the tasks inside them ---- */

_Thread_local const struct eddy_scope *eddyi_lent_scope;

const struct eddy_scope *eddyi_scope_self(void)
{
	struct eddy_loop *loop = eddy_loop_self();
	struct eddy_task *task = loop ? loop->running : NULL;

	if (loop && !task)
		task = loop->on_stack.task;
	return task ? task->scope : eddyi_lent_scope;
}

void *eddy_local_get(const struct eddy_local_key *key)
{
	const struct eddy_scope *scope = eddyi_scope_self();

	for (scope = scope ? scope->binding : NULL; scope; scope = scope->parent->binding)
		for (const struct eddy_local *local = scope->locals; local->key; local++)
			if (local->key == key)
				return local->value;
	return NULL;
}
