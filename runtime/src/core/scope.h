/* scope.h: what the files of the runtime ask of scopes. */
#ifndef EDDYI_SCOPE_H
#define EDDYI_SCOPE_H

#include "wait.h"

/* As eddy_scope_spawn(), and who is told of the task's end. */
int eddyi_scope_spawn(struct eddy_scope *scope, struct eddyi_told told, const char *name,
		      eddy_task_fn *fn, void *arg, const char *where);

/* A task of `scope` has ended with `result`. */
void eddyi_scope_task_ended(struct eddy_scope *scope, int result);

/* The loop's root scope: no parent, no host. */
void eddyi_scope_init_root(struct eddy_scope *scope);

/* The scope that the caller is inside of: a task's, also while it is on the loop's stack, or that of a
 * task whose work this thread does. NULL for none. */
const struct eddy_scope *eddyi_scope_self(void);

/* On a thread that is no loop's and does a task's work for it: that task's scope. */
extern _Thread_local const struct eddy_scope *eddyi_lent_scope;

#endif
