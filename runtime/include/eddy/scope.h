/* eddy/scope.h: a scope owns tasks. No task outlives its scope, and a scope ends where it began.
 *
 *     struct eddy_scope scope;
 *
 *     eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 5 * EDDY_SECOND });
 *     eddy_scope_spawn(&scope, "left", left, &a);
 *     eddy_scope_spawn(&scope, "right", right, &b);
 *     eddy_scope_join(&scope);
 *     return eddy_scope_end(&scope);        // -ETIMEDOUT when it took longer
 *
 * Cancellation: when a scope is cancelled, or its time is up, every call that suspends and is made
 * inside it (by the task that began it, by the tasks it owns, and in scopes within it) returns
 * -ECANCELED, the one in progress as soon as the kernel has let go of what it was given. A result
 * that exists wins: bytes moved and descriptors opened are still returned. Tasks unwind by
 * returning; nothing is torn down behind their back.
 *
 * A scope lives on the stack of the task that begins it; scopes of one task nest. All of it belongs
 * to one loop's thread.
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
	uint64_t timeout_ns; /* cancel when this time has passed; default 0: never */
	bool fail_fast;      /* the first task that fails cancels the others; default: they go on */
	/* Not cancelled with the scope around it: for clean-up that suspends; give it a timeout of its
	 * own. Default: cancelled. */
	bool shielded;
	/* Fields that every record emitted inside the scope has as well, as EDDY_FIELDS() makes them;
	 * borrowed for the scope's life; default none. */
	const struct eddy_field *log_fields;
	/* Values that are seen inside the scope, as EDDY_LOCALS() makes them (eddy/local.h); borrowed for
	 * the scope's life; default none. */
	const struct eddy_local *locals;
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
	const struct eddy_scope
		*binding; /* the innermost that has locals: it or one around it; NULL */
	size_t running;   /* spawned here and not yet ended */
	int result;       /* what comes first: a task's failure, or why the scope was cancelled */
	unsigned loop;    /* of its host */
	bool cancelled;
	bool fail_fast;
	bool shielded;
};

/* Begin a scope inside the current one. */
EDDY_API void eddy_scope_begin(struct eddy_scope *scope, const struct eddy_scope_options *options);

/* Cancel what still runs, wait for it, and leave the scope. Suspends, and is not cancelled.
 * Return: the first failure of a task; -ETIMEDOUT or -ECANCELED when the scope was cancelled before
 * it ended; else 0. */
EDDY_API int eddy_scope_end(struct eddy_scope *scope);

/* Start `fn(arg)` as a task of this scope; it first runs when the caller suspends. May be called
 * from completion functions of the same loop as well. `name` is borrowed for the task's life.
 * `arg` may be a compound literal. Reports name the place of this call.
 * Return: 0, -ECANCELED when the scope is cancelled, -ENOMEM. */
EDDY_API int eddy_scope_spawn(struct eddy_scope *scope, const char *name, eddy_task_fn *fn,
			      void *arg, const char *where);

/* Wait until every task of the scope has ended. Suspends.
 * Return: 0, -ECANCELED (tasks may still run). */
EDDY_API int eddy_scope_join(struct eddy_scope *scope, const char *where);

/* Cancel the scope. Does nothing when it is cancelled already. Never suspends. */
EDDY_API void eddy_scope_cancel(struct eddy_scope *scope);

/* Whether calls inside the current scope return -ECANCELED. */
EDDY_API bool eddy_is_cancelled(void);

/* `where` is filled in: see eddy/base.h. */
EDDY_API int eddyi_scope_end(struct eddy_scope *scope, const char *where);
EDDY_API void eddyi_scope_cancel(struct eddy_scope *scope, const char *where);
#define eddy_scope_end(...) eddyi_scope_end(__VA_ARGS__, EDDY_HERE)
#define eddy_scope_spawn(...) eddy_scope_spawn(__VA_ARGS__, EDDY_HERE)
#define eddy_scope_join(...) eddy_scope_join(__VA_ARGS__, EDDY_HERE)
#define eddy_scope_cancel(...) eddyi_scope_cancel(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
