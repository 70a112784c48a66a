/* answer.h: who answers a request. */
#ifndef EDDYI_ANSWER_H
#define EDDYI_ANSWER_H

#include "exchange_state.h"

/* Run the filters and the handler, and make what they returned a response. Suspends.
 * Return: 0, -errno when the connection must be cut. */
int eddyi_answer(struct eddy_req *req);

#endif
