/* exchange.h: one request and its response, from the first byte of the head to the last of the answer. */
#ifndef EDDYI_EXCHANGE_H
#define EDDYI_EXCHANGE_H

#include "exchange_state.h"

/* Return: NULL when memory is out. */
struct eddy_req *eddyi_req_new(const struct eddy_app *app, struct eddyi_wire *wire);

void eddyi_req_free(struct eddy_req *req);

/* What becomes of the connection after an exchange. */
enum eddyi_ending {
	EDDYI_ENDING_KEEP,   /* another request may be read from it */
	EDDYI_ENDING_LINGER, /* it ends, but the client still sends */
	EDDYI_ENDING_CLOSE,
	EDDYI_ENDING_CUT, /* it ends in the middle of the answer */
};

/* Answer a request whose head is complete or refused. Suspends. */
enum eddyi_ending eddyi_exchange(struct eddy_req *req);

/* The time for what the exchange is doing is up: cut it short. A client that has not been answered yet is told. */
void eddyi_exchange_expire(struct eddy_req *req);

/* Cut the exchange short, without an answer. */
void eddyi_exchange_cut(struct eddy_req *req);

/* The client has left: cancel what is done for it, unless its answer is being sent. */
void eddyi_exchange_leave(struct eddy_req *req);

#endif
