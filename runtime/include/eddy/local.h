/* eddy/local.h: values that follow the tasks of a scope, and whatever those call, without being passed on.
 *
 *     static const struct eddy_local_key request_id = { "request id" };
 *
 *     struct eddy_scope_options options = {
 *             .locals = EDDY_LOCALS({ &request_id, &id }),
 *     };
 *
 *     eddy_scope_begin(&scope, &options);
 *     …anywhere below: eddy_local_get(&request_id) is &id…
 *
 * A value is bound for as long as a scope lasts, and lies where the caller of eddy_scope_begin() keeps it,
 * most often on its stack: everything that sees it ends before that scope does, so nothing has to be
 * freed. It is seen by the scope's tasks, by its host until it ends the scope, in scopes inside it,
 * and by what a task gives to eddy_offload(). An inner scope may bind the key anew.
 */
#ifndef EDDY_LOCAL_H
#define EDDY_LOCAL_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* What a value is bound to: its address is what counts. */
struct eddy_local_key {
	const char *name; /* for people */
};

/* A value; all of it borrowed. A `key` of NULL ends a list of them. */
struct eddy_local {
	const struct eddy_local_key *key;
	void *value;
};

/* A list of values, for the options of a scope. Lives as long as the block. C alone has it: from C++
 * give an array that ends with a `key` of NULL. */
#define EDDY_LOCALS(...) ((const struct eddy_local[]){ __VA_ARGS__, { NULL, NULL } })

/* The value that the innermost scope binds to `key`; NULL where none does, and outside of tasks. Looks
 * at the scopes that bind something, and at no others. Never suspends. */
EDDY_API void *eddy_local_get(const struct eddy_local_key *key);

EDDY_END_DECLS

#endif
