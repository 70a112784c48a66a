/* buffers.h: the group of buffers that receivers share. */
#ifndef EDDYI_BUFFERS_H
#define EDDYI_BUFFERS_H

struct eddy_buffers;

/* The loop's group of buffers that tasks may keep for a while. Return: 0, -ENOMEM. */
int eddyi_buffers_lent(struct eddy_buffers **ret_buffers);

#endif
