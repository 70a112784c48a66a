/* peek.h: shows what another thread's loop is doing, without its cooperation. */
#ifndef EDDYI_PEEK_H
#define EDDYI_PEEK_H

#include <eddy/base.h>

struct eddy_loop;

struct eddyi_peeked {
	uint64_t id; /* 0: no task; a completion function, or nothing */
	char name[48];
	const char *where;
	char label[128];  /* of eddyi_task_set_label(); "" for none */
	uint64_t turn_ns; /* when the current turn of the loop began */
};

/* Look at the task that runs on `loop`, which the caller keeps from ending. The loop keeps running:
 * the task may end, and its name be freed, which is harmless. Return: whether a task runs. */
bool eddyi_peek(const struct eddy_loop *loop, struct eddyi_peeked *ret_peeked);

#endif
