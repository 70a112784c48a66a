/* accelerated.h: the accelerator; without one in the build, these functions do nothing. */
#ifndef EDDYI_ACCELERATED_H
#define EDDYI_ACCELERATED_H

#if EDDYI_ACCELERATOR
#include <eddy/internal/accelerator.h>
#else
#include <stddef.h>

struct eddyi_schedules {
	void *of[2];
};

#define eddyi_accelerator_answer(info) CRYPTOCB_UNAVAILABLE

static inline const char *eddyi_accelerator_name(void)
{
	return NULL;
}

static inline void eddyi_accelerator_enter(struct eddyi_schedules *schedules)
{
	(void)schedules;
}

static inline void eddyi_accelerator_forget(struct eddyi_schedules *schedules)
{
	(void)schedules;
}

static inline void eddyi_accelerator_forget_keys(void)
{
}

static inline void eddyi_accelerator_draw_by(int (*draw)(unsigned char *bytes, int len))
{
	(void)draw;
}
#endif

#endif
