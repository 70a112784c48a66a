/* eddy/scope.h: a scope owns tasks (structured concurrency). No task outlives its scope, and the
 * task that begins a scope also ends it.
 *
 *     struct eddy_scope scope;
 *
 *     eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 5 * EDDY_SECOND });
 *     eddy_scope_spawn(&scope, "left", left, &a);
 *     eddy_scope_spawn(&scope, "right", right, &b);
 *     eddy_scope_join(&scope);
 *     return eddy_scope_end(&scope);        // 0; a task's failure; -ETIMEDOUT
 *
 * When a scope is cancelled or times out, every suspending call inside it (by the task that began
 * it, by the tasks it owns, and in nested scopes) returns -ECANCELED. A call in progress does so
 * once the kernel no longer uses its arguments; if it has moved bytes or opened a descriptor by
 * then, it returns that result instead. Tasks end only by returning, so their clean-up runs.
 *
 * Keep a scope on the stack of the task that begins it. Scopes of one task nest. A scope belongs to
 * one loop.
 */
#ifndef EDDY_SCOPE_H
#define EDDY_SCOPE_H

#include <eddy/task.h>
#include <eddy/timer.h>

EDDY_BEGIN_DECLS

struct eddy_field;
struct eddy_local;
struct eddyi_waiter;

struct eddy_scope_options {
	uint64_t timeout_ns; /* cancel the scope after this time; default 0: never */
	bool fail_fast;      /* a task's failure cancels the scope; default: other tasks go on */
	/* Do not cancel this scope when an enclosing one is cancelled, for clean-up that suspends.
	 * Set a timeout as well. Default false. */
	bool shielded;
	/* Fields added to every log record emitted inside the scope, as made by EDDY_FIELDS();
	 * default none. Not copied: they must stay valid until the scope ends, as must `locals`. */
	const struct eddy_field *log_fields;
	const struct eddy_local *locals; /* visible inside the scope (eddy/local.h); default none */
};

/* Private. */
struct eddy_scope {
	struct eddy_scope *parent;
	struct eddy_task *host;
	struct eddy_node sibling;  /* in parent->children */
	struct eddy_node children; /* scopes begun inside this one */
	struct eddy_node tasks; /* tasks that are inside this scope and in none of its children */
	struct eddy_timer timer;
	struct eddyi_waiter *joiner; /* the host, while it waits for the tasks */
	const struct eddy_field *log_fields;
	const struct eddy_local *locals;
	const struct eddy_scope *binding; /* innermost scope with locals; NULL */
	size_t running;                   /* spawned here and not yet ended */
	const char *where;                /* it was begun, "file.c:12" */
	int result;                       /* first failure of a task, or why it was cancelled */
	unsigned loop;                    /* of its host */
	bool cancelled;
	bool fail_fast;
	bool shielded;
};

/* Begin a scope inside the current one. The same task ends it, the innermost scope first. */
EDDY_API void eddy_scope_begin(struct eddy_scope *scope, const struct eddy_scope_options *options,
			       const char *where);

/* End the scope: cancel its running tasks and wait for them. Suspends, even in a cancelled scope.
 * Return: -ETIMEDOUT or -ECANCELED if the scope was cancelled before this call and before any task
 * failed; else the first failure; else 0. After cancellation, a task's -ECANCELED is no failure. */
EDDY_API int eddy_scope_end(struct eddy_scope *scope);

/* Start `fn(arg)` as a task of this scope. It first runs when the caller suspends. Completion
 * functions (eddy/op.h) of the same loop may call it, too. `name` and `arg` are not copied: they
 * must stay valid until the task ends. Compound literals do if their block also ends the scope.
 * Return: 0; -ECANCELED if the scope is cancelled; -ENOMEM. Neither is a failure of a task. */
EDDY_API int eddy_scope_spawn(struct eddy_scope *scope, const char *name, eddy_task_fn *fn,
			      void *arg, const char *where);

/* Wait until every task of the scope has ended. Suspends. Only the task that began the scope may
 * call it.
 * Return: 0; -ECANCELED if the scope is cancelled: eddy_scope_end() waits for running tasks. */
EDDY_API int eddy_scope_join(struct eddy_scope *scope, const char *where);

/* Cancel the scope. Never suspends. Does nothing if it is cancelled already. Until eddy_scope_end(),
 * calls of the task that began the scope fail too. */
EDDY_API void eddy_scope_cancel(struct eddy_scope *scope);

/* Check whether the current scope is cancelled. If it is, suspending calls return -ECANCELED. */
EDDY_API bool eddy_is_cancelled(void);

/* `where` is filled in: see eddy/base.h. */
EDDY_API int eddyi_scope_end(struct eddy_scope *scope, const char *where);
EDDY_API void eddyi_scope_cancel(struct eddy_scope *scope, const char *where);
#define eddy_scope_begin(...) eddy_scope_begin(__VA_ARGS__, EDDY_HERE)
#define eddy_scope_end(...) eddyi_scope_end(__VA_ARGS__, EDDY_HERE)
#define eddy_scope_spawn(...) eddy_scope_spawn(__VA_ARGS__, EDDY_HERE)
#define eddy_scope_join(...) eddy_scope_join(__VA_ARGS__, EDDY_HERE)
#define eddy_scope_cancel(...) eddyi_scope_cancel(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
