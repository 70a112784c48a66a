/* peek.h: what a loop of another thread is at, seen without its help. */
#ifndef EDDYI_PEEK_H
#define EDDYI_PEEK_H

#include <eddy/base.h>

struct eddy_loop;

struct eddyi_peeked {
	uint64_t id; /* 0: no task; a completion function, or nothing */
	char name[48];
	const char *where;
	uint64_t turn_ns; /* when the loop's turn began */
};

/* Look at what runs on `loop`, which the caller keeps from ending. It runs on meanwhile: what is seen
 * may be over, and what it was called freed; that is no fault. Return: whether a task runs. */
bool eddyi_peek(const struct eddy_loop *loop, struct eddyi_peeked *ret_peeked);

#endif
