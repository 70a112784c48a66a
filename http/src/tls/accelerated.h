/* accelerated.h: the accelerator, where this was built with one; else none of it does anything. */
#ifndef EDDYI_ACCELERATED_H
#define EDDYI_ACCELERATED_H

#if EDDYI_ACCELERATOR
#include <eddy/accelerator.h>
#else
#include <stddef.h>

struct eddy_schedules {
	void *of[2];
};

#define eddy_accelerator_answer(info) CRYPTOCB_UNAVAILABLE

static inline const char *eddy_accelerator_name(void)
{
	return NULL;
}

static inline void eddy_accelerator_enter(struct eddy_schedules *schedules)
{
	(void)schedules;
}

static inline void eddy_accelerator_forget(struct eddy_schedules *schedules)
{
	(void)schedules;
}

static inline void eddy_accelerator_forget_keys(void)
{
}
#endif

#endif
