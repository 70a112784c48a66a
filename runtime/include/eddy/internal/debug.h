/* eddy/internal/debug.h: EDDY_DEBUG, and what the layers tell it; for eddy's own layers. */
#ifndef EDDY_INTERNAL_DEBUG_H
#define EDDY_INTERNAL_DEBUG_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* Private. */
extern EDDY_API int eddyi_debug;

/* Check whether EDDY_DEBUG was set when the first loop of the process began. Any thread may call
 * it. */
static inline bool eddyi_debug_is_on(void)
{
	return __builtin_expect(__atomic_load_n(&eddyi_debug, __ATOMIC_RELAXED), 0);
}

/* Say what the current task works on, as "GET /users/{id}"; NULL: nothing in particular. Dumps,
 * stall records and messages about the task name it in place of the line that spawned the task.
 * `label` is borrowed until it is replaced. Outside of a task it does nothing. Never suspends. */
EDDY_API void eddyi_task_set_label(const char *label);

/* Private. */
EDDY_API void eddyi_opened_begin_now(void);
EDDY_API void eddyi_opened_end_now(void);
EDDY_API void eddyi_opened_note(int fd);
EDDY_API void eddyi_opened_drop(int fd);

/* With EDDY_DEBUG: note the descriptors that the current task, and tasks of the scopes that it
 * begins, open from now on by eddy's calls. Never suspends. */
static inline void eddyi_opened_begin(void)
{
	if (eddyi_debug_is_on())
		eddyi_opened_begin_now();
}

/* Stop noting. A WARN record lists those that are still open, and whose they are by the task's label. */
static inline void eddyi_opened_end(void)
{
	if (eddyi_debug_is_on())
		eddyi_opened_end_now();
}

/* A descriptor has been opened; below 0: it has not. Return: `fd`. */
static inline int eddyi_opened(int fd)
{
	if (eddyi_debug_is_on() && fd >= 0)
		eddyi_opened_note(fd);
	return fd;
}

/* A descriptor is about to be closed, or is kept for others on purpose: forget who opened it. */
static inline void eddyi_opened_forget(int fd)
{
	if (eddyi_debug_is_on() && fd >= 0)
		eddyi_opened_drop(fd);
}

EDDY_END_DECLS

#endif
