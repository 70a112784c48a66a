/* Values that scopes pass down to the tasks inside them. */
#include <eddy/local.h>

#include "loop.h"
#include "wait.h"
#include "scope.h"

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
