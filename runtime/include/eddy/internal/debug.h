/* eddy/internal/debug.h: EDDY_DEBUG, and what the layers tell it; for eddy's own layers. */
#ifndef EDDY_INTERNAL_DEBUG_H
#define EDDY_INTERNAL_DEBUG_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* The checks of EDDY_DEBUG. Private: code calls them by the functions below. */
struct eddyi_debug {
	/* Warn that an object without an owner is used on a thread without a loop. `what` names the
	 * object, `where` the call, `user` the thread, `remedy` the fix. */
	void (*unowned)(const char *what, const char *where, const char *user, const char *remedy);
	void (*opened_begin)(void);
	void (*opened_end)(void);
	void (*opened)(int fd);
	void (*opened_forget)(int fd);
};

/* Private. NULL: the variable is not set. */
extern EDDY_API const struct eddyi_debug *eddyi_debug;

/* Find the checks. Any thread may call it. Return: NULL if EDDY_DEBUG was not set when the first
 * loop of the process began. */
static inline const struct eddyi_debug *eddyi_debug_checking(void)
{
	const struct eddyi_debug *debug = __atomic_load_n(&eddyi_debug, __ATOMIC_RELAXED);

	return __builtin_expect(debug != NULL, 0) ? debug : NULL;
}

/* Say what the current task works on, as "GET /users/{id}"; NULL: nothing in particular. Dumps,
 * stall records and messages about the task name it in place of the line that spawned the task.
 * `label` is borrowed until it is replaced. Outside of a task it does nothing. Never suspends. */
EDDY_API void eddyi_task_set_label(const char *label);

/* With EDDY_DEBUG: note the descriptors that the current task, and tasks of the scopes that it
 * begins, open from now on by eddy's calls. Never suspends. */
static inline void eddyi_opened_begin(void)
{
	const struct eddyi_debug *debug = eddyi_debug_checking();

	if (debug)
		debug->opened_begin();
}

/* Stop noting. A WARN record lists those that are still open, and whose they are by the task's label. */
static inline void eddyi_opened_end(void)
{
	const struct eddyi_debug *debug = eddyi_debug_checking();

	if (debug)
		debug->opened_end();
}

/* A descriptor has been opened; below 0: it has not. Return: `fd`. */
static inline int eddyi_opened(int fd)
{
	const struct eddyi_debug *debug = eddyi_debug_checking();

	if (debug && fd >= 0)
		debug->opened(fd);
	return fd;
}

/* A descriptor is about to be closed, or is kept for others on purpose: forget who opened it. */
static inline void eddyi_opened_forget(int fd)
{
	const struct eddyi_debug *debug = eddyi_debug_checking();

	if (debug && fd >= 0)
		debug->opened_forget(fd);
}

EDDY_END_DECLS

#endif
