/* eddy/local.h: scope-local values (context), which tasks see without having them
 * passed as arguments.
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
 * A value is bound while a scope lasts. Its memory belongs to the caller of eddy_scope_begin(),
 * usually on the stack; everything that sees it ends before that scope, so nothing has to be freed.
 * It is visible to the scope's tasks, to the task that began the scope until it ends it, in nested
 * scopes, and in functions that are passed to eddy_offload(). A nested scope may rebind it.
 */
#ifndef EDDY_LOCAL_H
#define EDDY_LOCAL_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* The key of a value. Its address identifies it. */
struct eddy_local_key {
	const char *name; /* for people */
};

/* A value and its key, both borrowed. A `key` of NULL ends a list. */
struct eddy_local {
	const struct eddy_local_key *key;
	void *value;
};

/* Make a list of values for the options of a scope. It lives as long as the enclosing block. Not
 * available in C++: pass an array that ends with a `key` of NULL. */
#define EDDY_LOCALS(...) ((const struct eddy_local[]){ __VA_ARGS__, { NULL, NULL } })

/* Get the value that the innermost scope binds to `key`. Never suspends. Searches only scopes that
 * bind something. Return: NULL if none does, and outside of tasks. */
EDDY_API void *eddy_local_get(const struct eddy_local_key *key);

EDDY_END_DECLS

#endif
