/* The dump shows a tree: a task, the scopes that it has begun, and in each the tasks that the scope
 * owns. Scopes are linked differently: a task is in the list of its innermost scope. So the tasks
 * that a scope owns are in two places:
 *
 * 1. Tasks in scope->tasks whose `owner` is the scope. They have begun no scope.
 * 2. Hosts of scopes in scope->children whose `owner` is the scope. The child is its host's
 *    outermost scope.
 *
 * A child whose host has another owner was begun by this scope's own host: a scope nested in a
 * scope. There is at most one such child.
 */
#include <eddy/chan.h>
#include <eddy/dump.h>
#include <eddy/internal/outside.h>
#include <eddy/offload.h>

#include "dump.h"

#include "core/loop.h"
#include "core/wait.h"
#include "core/op.h"
#include "base/op_name.h"

#include <errno.h>
#include <string.h>

#define WIDTH_MAX 256
#define DEPTH_MAX 40
/* "│  " */
#define INDENT_MAX 5
#define OPS_LISTED_MAX 16

struct drawing {
	struct eddyi_out *out;
	struct eddy_loop *loop;
	uint64_t now_ns;
	unsigned depth;
	char indent[DEPTH_MAX * INDENT_MAX + 1];
};

static void draw_scope(struct drawing *drawing, struct eddy_scope *scope, bool is_last);

static void say_since(struct drawing *drawing, uint64_t since_ns)
{
	eddyi_out(drawing->out, ", for ");
	/* `since_ns` may be later than this dump's time. */
	eddyi_out_duration(drawing->out,
			   drawing->now_ns > since_ns ? drawing->now_ns - since_ns : 0);
}

static void say_op(struct drawing *drawing, const struct eddy_op *op)
{
	eddyi_out(drawing->out, "%s", eddyi_op_name(op->opcode));
	if (op->fd >= 0 || op->fd == AT_FDCWD) {
		eddyi_out(drawing->out, " on ");
		eddyi_dump_fd(drawing->out, op->fd);
	}
	if (op->cancelling)
		eddyi_out(drawing->out, ", being cancelled");
	say_since(drawing, op->since_ns);
}

static void say_chan(struct drawing *drawing, const struct eddy_chan *chan)
{
	eddyi_out(drawing->out, " (%zu of %zu items)", chan->count, chan->capacity);
}

static void say_what_it_does(struct drawing *drawing, const struct eddy_task *task)
{
	const struct eddy_loop *loop = drawing->loop;
	const struct eddyi_waiter *waiter = task->waiter;

	if (task == loop->running || task == loop->on_stack.task) {
		eddyi_out(drawing->out, "runs");
	} else if (!waiter || waiter->woken || strcmp(waiter->what, "yield") == 0) {
		eddyi_out(drawing->out, "ready");
	} else if (waiter->op) {
		say_op(drawing, waiter->op);
	} else {
		eddyi_out(drawing->out, "%s", waiter->what);
		if (waiter->on)
			eddyi_out(drawing->out, " %p", waiter->on);
		if (strncmp(waiter->what, "chan ", strlen("chan ")) == 0)
			say_chan(drawing, waiter->on);
		if (waiter->holder && *waiter->holder) {
			eddyi_out(drawing->out, " held by #%llu \"",
				  (unsigned long long)(*waiter->holder)->id);
			eddyi_out_name(drawing->out, (*waiter->holder)->name);
			eddyi_out(drawing->out, "\"");
		}
		say_since(drawing, waiter->since_ns);
	}
}

static void begin_line(struct drawing *drawing, bool is_last)
{
	eddyi_out(drawing->out, "%s%s", drawing->indent, is_last ? "└─ " : "├─ ");
}

/* Indent what follows, below the last line, until go_up().
 * Return: false if the limit is reached. */
static bool go_down(struct drawing *drawing, bool is_last, size_t *ret_len)
{
	*ret_len = strlen(drawing->indent);
	if (drawing->depth == DEPTH_MAX) {
		eddyi_out(drawing->out, "%s   (deeper than is shown here)\n", drawing->indent);
		return false;
	}
	drawing->depth++;
	strcat(drawing->indent, is_last ? "   " : "│  ");
	return true;
}

static void go_up(struct drawing *drawing, size_t len)
{
	drawing->depth--;
	drawing->indent[len] = '\0';
}

/* `begun` is the outermost scope that the task has begun; NULL for none. */
static void draw_task(struct drawing *drawing, struct eddy_task *task, struct eddy_scope *begun,
		      bool is_last)
{
	size_t len;

	begin_line(drawing, is_last);
	eddyi_out(drawing->out, "#%llu \"", (unsigned long long)task->id);
	eddyi_out_name(drawing->out, task->name);
	eddyi_out(drawing->out, "\" (");
	eddyi_out(drawing->out, "%s", task->label ? task->label : eddyi_place(task->where));
	eddyi_out(drawing->out,
		  "), stack %zu KiB: ", eddyi_task_stack_used(drawing->loop, task) / EDDY_KIB);
	say_what_it_does(drawing, task);
	eddyi_out(drawing->out, "\n");
	if (begun && go_down(drawing, is_last, &len)) {
		draw_scope(drawing, begun, true);
		go_up(drawing, len);
	}
}

static void say_scope(struct drawing *drawing, const struct eddy_scope *scope)
{
	eddyi_out(drawing->out, "scope");
	if (scope->cancelled)
		eddyi_out(drawing->out, ", cancelled");
	if (eddy_timer_is_armed(&scope->timer)) {
		uint64_t at = scope->timer.at_ns;

		eddyi_out(drawing->out, ", ");
		eddyi_out_duration(drawing->out, at > drawing->now_ns ? at - drawing->now_ns : 0);
		eddyi_out(drawing->out, " left");
	}
	if (scope->shielded)
		eddyi_out(drawing->out, ", shielded");
	if (scope->fail_fast)
		eddyi_out(drawing->out, ", fail-fast");
	if (scope->result < 0)
		eddyi_out(drawing->out, ", failed with %s", strerrorname_np(-scope->result));
	eddyi_out(drawing->out, "\n");
}

/* Counts the items below a scope, to recognize the last. */
struct items {
	size_t left, drawn;
};

/* Return: whether to draw the item; if so, `ret_is_last` is set. */
static bool next_item(struct items *items, bool *ret_is_last)
{
	items->left--;
	if (items->drawn == WIDTH_MAX)
		return false;
	items->drawn++;
	*ret_is_last = items->left == 0;
	return true;
}

static void draw_owned(struct drawing *drawing, struct eddy_scope *scope, struct items *items)
{
	struct eddy_scope *nested = NULL;
	struct eddy_node *node;
	bool is_last;

	for (node = scope->tasks.next; node != &scope->tasks; node = node->next) {
		struct eddy_task *task = eddy_of(node, struct eddy_task, inside);

		if (task->owner == scope && next_item(items, &is_last))
			draw_task(drawing, task, NULL, is_last);
	}
	for (node = scope->children.next; node != &scope->children; node = node->next) {
		struct eddy_scope *child = eddy_of(node, struct eddy_scope, sibling);

		if (child->host->owner != scope)
			nested = child;
		else if (next_item(items, &is_last))
			draw_task(drawing, child->host, child, is_last);
	}
	if (nested && next_item(items, &is_last))
		draw_scope(drawing, nested, is_last);
}

static size_t count_items(const struct eddy_scope *scope)
{
	const struct eddy_node *node;
	size_t count = 0;

	for (node = scope->tasks.next; node != &scope->tasks; node = node->next)
		count += eddy_of(node, struct eddy_task, inside)->owner == scope;
	for (node = scope->children.next; node != &scope->children; node = node->next)
		count++;
	return count;
}

static void draw_items(struct drawing *drawing, struct eddy_scope *scope)
{
	struct items items = { .left = count_items(scope) };
	size_t count = items.left;

	draw_owned(drawing, scope, &items);
	if (count > items.drawn)
		eddyi_out(drawing->out, "%s└─ and %zu more\n", drawing->indent,
			  count - items.drawn);
}

static void draw_scope(struct drawing *drawing, struct eddy_scope *scope, bool is_last)
{
	size_t len;

	begin_line(drawing, is_last);
	say_scope(drawing, scope);
	if (!go_down(drawing, is_last, &len))
		return;
	draw_items(drawing, scope);
	go_up(drawing, len);
}

/* Call `fn` for each op that no task awaits, except internal ones. Return: their number. */
static size_t each_lone_op(struct drawing *drawing, size_t max,
			   void (*fn)(struct drawing *drawing, const struct eddy_op *op))
{
	size_t count = 0;

	for (size_t i = 0; i < EDDYI_OP_BUCKETS; i++) {
		const struct eddy_node *head = &drawing->loop->ops_by_fd[i], *node;

		for (node = head->next; node != head; node = node->next) {
			const struct eddy_op *op = eddy_of(node, struct eddy_op, node);

			if (!op->waiter && !op->own && !op->watched && count++ < max)
				fn(drawing, op);
		}
	}
	return count;
}

static void list_op(struct drawing *drawing, const struct eddy_op *op)
{
	eddyi_out(drawing->out, "   ");
	say_op(drawing, op);
	eddyi_out(drawing->out, "\n");
}

static void list_lone_ops(struct drawing *drawing, size_t count)
{
	if (!count)
		return;
	eddyi_out(drawing->out, "   ops without a task:\n");
	each_lone_op(drawing, OPS_LISTED_MAX, list_op);
	if (count > OPS_LISTED_MAX)
		eddyi_out(drawing->out, "   and %zu more\n", count - OPS_LISTED_MAX);
}

#define LLU(value) ((unsigned long long)(value))

static void list_counters(struct drawing *drawing)
{
	struct eddy_loop_stats stats = eddy_loop_stats(drawing->loop);

	eddyi_out(drawing->out,
		  "   turns %llu, enters %llu, resumptions %llu, tasks spawned %llu, ops %llu, "
		  "cancelled %llu,\n"
		  "   messages %llu, timers fired %llu, stalls %llu, full completion queues %llu\n",
		  LLU(stats.turns), LLU(stats.enters), LLU(stats.resumptions),
		  LLU(stats.tasks_spawned), LLU(stats.ops_started), LLU(stats.ops_cancelled),
		  LLU(stats.messages), LLU(stats.timers_fired), LLU(stats.stalls),
		  LLU(stats.cq_overflows));
	if (stats.stack_used_max)
		eddyi_out(drawing->out, "   deepest stack: %llu of %zu KiB, %s\n",
			  LLU(stats.stack_used_max / EDDY_KIB),
			  drawing->loop->stacks.size / EDDY_KIB, stats.stack_used_by);
}

static void count_op(struct drawing *drawing, const struct eddy_op *op)
{
	(void)drawing;
	(void)op;
}

/* Print the offload pool's load, next to the number of tasks that wait for it. */
static void say_pool(struct eddyi_out *out, size_t waiting)
{
	struct eddy_offload_stats pool = eddy_offload_stats();

	eddyi_out(
		out,
		"; %zu offloaded (pool: %u threads, %u jobs run, %u of them short; %u wait, %u of them short)",
		waiting, pool.threads, pool.running, pool.short_running, pool.queued,
		pool.short_queued);
}

void eddyi_dump_loop(struct eddyi_out *out, struct eddy_loop *loop)
{
	/* A replay that has stopped reads no clock. */
	uint64_t now_ns = eddyi_is_replay() && !eddyi_track ? eddyi_clock_seen() : eddy_now();
	struct drawing drawing = { .out = out, .loop = loop, .now_ns = now_ns };
	struct eddy_loop_stats stats = eddy_loop_stats(loop);
	size_t lone = each_lone_op(&drawing, 0, count_op);

	eddyi_out(out, "eddy: loop %u \"", loop->id);
	eddyi_out_name(out, loop->name);
	eddyi_out(out,
		  "\" (thread %d): %llu tasks, %llu pooled; %zu ops, %zu of them without a task; "
		  "%zu timers",
		  (int)loop->tid, LLU(stats.tasks), LLU(stats.tasks_pooled),
		  loop->ops - loop->own_ops, lone,
		  loop->timers.count - eddy_timer_is_armed(&loop->trim_timer));
	if (loop->outside)
		say_pool(out, loop->outside);
	eddyi_out(out, "\n");
	draw_items(&drawing, &loop->root);
	list_lone_ops(&drawing, lone);
	list_counters(&drawing);
}

static void dump_this(void *arg)
{
	eddyi_dump_loop(arg, eddyi_loop());
}

int eddy_dump(int fd)
{
	struct eddyi_out out = { .fd = fd };

	/* A task's stack may be small. */
	eddy_on_loop_stack(dump_this, &out);
	return eddyi_out_flush(&out);
}
