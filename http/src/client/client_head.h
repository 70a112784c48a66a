/* client_head.h: makes the head of a request. */
#ifndef EDDYI_CLIENT_HEAD_H
#define EDDYI_CLIENT_HEAD_H

#include "client_state.h"

/* Write the head of the current hop to the response's arena.
 * Return: .ptr NULL on allocation failure. */
struct eddy_str eddyi_client_make_head(const struct eddyi_call *call);

#endif
