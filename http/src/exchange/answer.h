/* answer.h: finds and runs the handler of a request. */
#ifndef EDDYI_ANSWER_H
#define EDDYI_ANSWER_H

#include "exchange_state.h"

/* Run filters and handler, and turn their results into a response. Suspends.
 * Return: 0; -errno if the connection must be cut. */
int eddyi_answer(struct eddy_req *req);

/* Describe the route of a request: "GET /users/{id}". Lives as long as the app. */
const char *eddyi_answer_label(const struct eddy_req *req);

#endif
