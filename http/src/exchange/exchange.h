/* exchange.h: one request and its response. */
#ifndef EDDYI_EXCHANGE_H
#define EDDYI_EXCHANGE_H

#include "exchange_state.h"

/* Create a request of `size` bytes, of which a struct eddy_req is the first and the others belong
 * to the stream. Zeroed except for members of the request itself.
 * Return: NULL on allocation failure. */
struct eddy_req *eddyi_req_new(const struct eddy_app *app, struct eddyi_stream *stream,
			       size_t size);

void eddyi_req_free(struct eddy_req *req);

/* Handle a request whose head is complete or rejected. `body` is what follows its head. Suspends.
 * Return: whether the whole response was sent. */
bool eddyi_exchange(struct eddy_req *req, struct eddyi_body *body);

/* End an exchange that has timed out. If there is no response yet, the client gets an error. */
void eddyi_exchange_expire(struct eddy_req *req);

/* End the exchange without a response. */
void eddyi_exchange_cut(struct eddy_req *req);

/* Get how the client's departure cancels the handler; never EDDY_CANCEL_ON_DEFAULT. */
enum eddy_cancel_on eddyi_exchange_cancel_on(const struct eddy_req *req);

/* Cancel the handler because the client has disconnected, unless the response is being sent. */
void eddyi_exchange_leave(struct eddy_req *req);

/* Run filters and handler, and turn their results into a response. Suspends.
 * Return: 0; -errno if the connection must be cut. */
int eddyi_answer(struct eddy_req *req);

/* Describe the route of a request: "GET /users/{id}". Lives as long as the app. */
const char *eddyi_answer_label(const struct eddy_req *req);

#endif
