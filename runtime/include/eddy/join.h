/* eddy/join.h: wait for one task and get its result.
 *
 *     struct eddy_join left, right;
 *     int a, b;
 *
 *     eddy_scope_begin(&scope, NULL);
 *     eddy_scope_spawn_join(&scope, &left, "left", fetch, &l);
 *     eddy_scope_spawn_join(&scope, &right, "right", fetch, &r);
 *     eddy_join_wait(&left, &a);
 *     eddy_join_wait(&right, &b);
 *     eddy_scope_end(&scope);
 *
 * When eddy_scope_join() has returned, the results of all tasks are available, failed ones
 * included. The caller provides the memory of a join, which must stay in place until the task has
 * ended: declare it beside or above the scope. In a select use eddy_case_event(&join.ended).
 */
#ifndef EDDY_JOIN_H
#define EDDY_JOIN_H

#include <eddy/event.h>
#include <eddy/scope.h>

EDDY_BEGIN_DECLS

struct eddy_join {
	struct eddy_event ended; /* set when the task has ended */
	int result;              /* the task's result, from then on */
};

/* Start a task as eddy_scope_spawn() does, with a join. If the task can't be started, the join ends
 * at once, with that error as its result.
 * Return: 0; -ECANCELED if the scope is cancelled; -ENOMEM. */
EDDY_API int eddy_scope_spawn_join(struct eddy_scope *scope, struct eddy_join *join,
				   const char *name, eddy_task_fn *fn, void *arg,
				   const char *where);

/* Wait until the task of a join has ended. Suspends unless it has. Any number of tasks of the
 * loop may wait.
 * Return: 0, and the task's result in `ret_result`, which may be NULL; -ECANCELED if the caller's
 * own scope is cancelled. */
EDDY_API int eddy_join_wait(struct eddy_join *join, int *ret_result, const char *where);

/* `where` is filled in: see eddy/base.h. */
#define eddy_scope_spawn_join(...) eddy_scope_spawn_join(__VA_ARGS__, EDDY_HERE)
#define eddy_join_wait(...) eddy_join_wait(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
