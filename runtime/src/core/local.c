#include <eddy/local.h>

#include "loop.h"

void *eddy_local_get(const struct eddy_local_key *key)
{
	const struct eddy_scope *scope = eddyi_scope_self();

	for (scope = scope ? scope->binding : NULL; scope; scope = scope->parent->binding)
		for (const struct eddy_local *local = scope->locals; local->key; local++)
			if (local->key == key)
				return local->value;
	return NULL;
}
