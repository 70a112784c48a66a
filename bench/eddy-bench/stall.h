/* stall.h: a connection that begins a transfer, and then does no more. */
#ifndef EDDY_BENCH_STALL_H
#define EDDY_BENCH_STALL_H

#include "conn.h"

/* Ask, and take no more than the head of the answer; or send no more than the beginning of a body. Suspends.
 * Return: 0; -errno, which the tally has. */
int stall_begin(struct conn *conn);

#endif
