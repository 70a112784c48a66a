/* client_head.h: the head of a request, as it goes out. */
#ifndef EDDYI_CLIENT_HEAD_H
#define EDDYI_CLIENT_HEAD_H

#include "client_state.h"

/* Write the head of the current hop into the response's arena. Return: .ptr NULL when memory is out. */
struct eddy_str eddyi_client_make_head(const struct eddyi_call *call);

#endif
