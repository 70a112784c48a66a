/* body.h: the body of a request or response while it is read, however it is framed. */
#ifndef EDDYI_BODY_H
#define EDDYI_BODY_H

#include <stdbool.h>
#include <stdint.h>

struct eddyi_body {
	uint64_t max;  /* limit of bytes in all; beyond it -EFBIG */
	uint64_t took; /* bytes received */
	/* Of `took`, bytes that are framing of multipart forms. */
	uint64_t trimmings;
	bool ended;
	int error; /* the first error, which all further reads return */
};

/* Lower the limit of bytes to `max`; beyond it reads fail with -EFBIG. */
static inline void eddyi_body_limit(struct eddyi_body *body, uint64_t max)
{
	if (max < body->max)
		body->max = max;
}

/* Make all further reads fail with `error`. Return: `error`. */
static inline int eddyi_body_fail(struct eddyi_body *body, int error)
{
	if (!body->error)
		body->error = error;
	return error;
}

#endif
