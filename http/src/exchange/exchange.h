/* exchange.h: one request and its response. */
#ifndef EDDYI_EXCHANGE_H
#define EDDYI_EXCHANGE_H

#include "exchange_state.h"

/* Return: NULL on allocation failure. */
struct eddy_req *eddyi_req_new(const struct eddy_app *app, struct eddyi_wire *wire);

void eddyi_req_free(struct eddy_req *req);

/* The connection's state after an exchange. */
enum eddyi_ending {
	EDDYI_ENDING_KEEP,   /* another request may be read */
	EDDYI_ENDING_LINGER, /* it ends, but the client still sends */
	EDDYI_ENDING_CLOSE,
	EDDYI_ENDING_CUT, /* it ends within the response */
};

/* Handle a request whose head is complete or rejected. Suspends. */
enum eddyi_ending eddyi_exchange(struct eddy_req *req);

/* End an exchange that has timed out. If there is no response yet, the client gets an error. */
void eddyi_exchange_expire(struct eddy_req *req);

/* End the exchange without a response. */
void eddyi_exchange_cut(struct eddy_req *req);

/* Cancel the handler because the client has disconnected, unless the response is being sent. */
void eddyi_exchange_leave(struct eddy_req *req);

#endif
