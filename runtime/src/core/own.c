#include "own.h"

#include "base/out.h"
#include "registry.h"

#include <eddy/internal/debug.h>
#include <eddy/log.h>
#include <stdio.h>

#define NAME_MAX_SAID 64

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
	return eddyi_in_job ? "use it in the task, when eddy_offload() has returned" :
			      "threads wake tasks by a shared event (eddy/shared_event.h)";
}

/* An object that no loop has used yet is used without a loop while loops run: a data race, if a task
 * uses it too. A plain thread may be preparing objects for a loop of its own; a job can't. */
static void complain(const char *what, const char *where)
{
	static const char *_Atomic last;

	if (eddyi_in_job)
		eddyi_panic_at(where, "%s is used in a job of eddy_offload(): %s", what,
			       remedy(NULL));
	/* The call may be repeated often. */
	if (atomic_exchange(&last, where) != where)
		eddy_warn("eddy::debug",
			  "%s: %s is used on a thread without a loop while loops run, which no "
			  "task may use then: %s",
			  eddyi_place(where), what, remedy(NULL));
}

void eddyi_own_not_made(const char *what, const char *init, const char *where)
{
	eddyi_panic_at(where, "%s is not initialised: call %s() first", what, init);
}

void eddyi_own_slowly(unsigned *owner, const char *what, const char *where)
{
	const struct eddy_loop *loop = eddyi_this_loop, *other;
	char ours[2 * NAME_MAX_SAID], theirs[2 * NAME_MAX_SAID];
	unsigned before = 0;
	bool is_free, is_alone;
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
	say(ours, sizeof(ours), loop);
	is_alone = eddy_list_is_empty(loops);
	eddyi_registry_unlock();
	if (!loop && is_free && !is_alone && eddyi_debug_is_on())
		complain(what, where);
	if (!is_free)
		eddyi_panic_at(where, "%s of %s is used on %s: %s", what, theirs, ours,
			       remedy(loop));
}
