#include "own.h"

#include "loop.h"

#include <eddy/internal/debug.h>
#include <stdio.h>

#define NAME_MAX_SAID 64

const struct eddyi_debug *eddyi_debug;

/* Find a loop by id, with the registry locked. Return: NULL if it has ended. */
static const struct eddy_loop *find(struct eddy_node *loops, unsigned id)
{
	for (struct eddy_node *node = loops->next; node != loops; node = node->next) {
		const struct eddy_loop *loop = eddy_of(node, struct eddy_loop, registered);

		if (loop->id == id)
			return loop;
	}
	return NULL;
}

static void say(char *text, size_t size, const struct eddy_loop *loop)
{
	if (loop)
		snprintf(text, size, "loop %u \"%.*s\"", loop->id, NAME_MAX_SAID, loop->name);
	else
		snprintf(text, size, "a thread without a loop%s",
			 eddyi_in_job ? ", in a job of eddy_offload()" : "");
}

static const char *remedy(const struct eddy_loop *loop)
{
	if (loop)
		return "give each loop its own, or use eddy_loops_call()";
	return eddyi_in_job ? "use it in the task, after eddy_offload() has returned" :
			      "wake tasks from threads by a shared event (eddy/shared_event.h)";
}

void eddyi_own_not_made(const char *what, const char *init, const char *where)
{
	eddyi_panic_at(where, "%s is not initialised: call %s() first", what, init);
}

void eddyi_own_slowly(unsigned *owner, const char *what, const char *where)
{
	const struct eddy_loop *loop = eddyi_this_loop, *other;
	char user[2 * NAME_MAX_SAID], theirs[2 * NAME_MAX_SAID];
	unsigned before = 0;
	bool is_free;
	struct eddy_node *loops;

	/* If several loops use a new object first at the same time, one wins. */
	if (loop && __atomic_compare_exchange_n(owner, &before, loop->id, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
		return;
	loops = eddyi_registry_lock();
	other = find(loops, __atomic_load_n(owner, __ATOMIC_RELAXED));
	is_free = !other || other == loop;
	if (is_free && loop)
		__atomic_store_n(owner, loop->id, __ATOMIC_RELAXED);
	say(theirs, sizeof(theirs), other);
	say(user, sizeof(user), loop);
	eddyi_registry_unlock();
	if (!is_free)
		eddyi_panic_at(where, "%s of %s is used on %s: %s", what, theirs, user,
			       remedy(loop));
}

void eddyi_own_made_slowly(unsigned *owner, const struct eddy_node *list, const char *what,
			   const char *init, const char *where)
{
	const struct eddyi_debug *debug = eddyi_debug_checking();
	char user[2 * NAME_MAX_SAID];

	if (!list->next)
		eddyi_own_not_made(what, init, where);
	eddyi_own_slowly(owner, what, where);
	if (!debug || __atomic_load_n(owner, __ATOMIC_RELAXED))
		return;
	say(user, sizeof(user), NULL);
	debug->unowned(what, where, user, remedy(NULL));
}
