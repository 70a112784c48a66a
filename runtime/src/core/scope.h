/* scope.h: scopes as the runtime's other files use them. */
#ifndef EDDYI_SCOPE_H
#define EDDYI_SCOPE_H

#include "task.h"

/* eddy_scope_spawn(), with a function that is called when the task ends. */
int eddyi_scope_spawn(struct eddy_scope *scope, struct eddyi_told told, const char *name,
		      eddy_task_fn *fn, void *arg, const char *where);

/* Initialize the loop's root scope, which has no parent and no host. */
void eddyi_scope_init_root(struct eddy_scope *scope);

/* Get the caller's innermost scope: its task's, also on the loop's stack, or on an offload thread
 * that of the task it works for. Return: NULL if there is none. */
const struct eddy_scope *eddyi_scope_self(void);

/* On a thread without a loop that works for a task: that task's scope. */
extern _Thread_local const struct eddy_scope *eddyi_lent_scope;

#endif
