/* eddy/client_observer.h: who sees every request of the process's clients go out and be answered, for layers
 * that trace or count. The sibling of eddy/observer.h.
 *
 *     static const struct eddy_header *begin(void *state, const struct eddy_client_hop *hop)
 *     {
 *             struct call *call = state;
 *
 *             call->began_ns = eddy_now();
 *             return NULL;
 *     }
 *
 *     static void end(void *state, int result)
 *     {
 *             struct call *call = state;
 *
 *             count(result, eddy_now() - call->began_ns);
 *     }
 *
 *     static const struct eddy_client_observer observer = { sizeof(struct call), begin, end };
 *
 *     eddy_client_observe(&observer);
 */
#ifndef EDDY_CLIENT_OBSERVER_H
#define EDDY_CLIENT_OBSERVER_H

#include <eddy/header.h>
#include <eddy/str.h>

EDDY_BEGIN_DECLS

/* A request to one URL: each redirect that is followed is another one. Borrowed until it ends. */
struct eddy_client_hop {
	const char *method;
	struct eddy_str url;  /* absolute, without a fragment; it names no user */
	struct eddy_str host; /* a name, or an address without brackets */
	uint16_t port;
	unsigned redirects; /* that have led here */
};

/* Neither function suspends. Both are called in the task that asks. */
struct eddy_client_observer {
	size_t state_size; /* of the memory for one request, zeroed and freed by the client */
	/* A request is about to be sent. Return: fields that it has as well, sent as they are and borrowed until
	 * the end, or NULL. None of them is sent with a request that has one of that name itself. */
	const struct eddy_header *(*begin)(void *state, const struct eddy_client_hop *hop);
	/* The head of its response has come, or it has failed. `result` is the status, or -errno. */
	void (*end)(void *state, int result);
};

/* Have all requests of this process's clients observed from now on; `observer` is never freed. Once more for
 * the same one does nothing. Any thread. Return: 0, -ENOSPC when there are four already. */
EDDY_API int eddy_client_observe(const struct eddy_client_observer *observer);

EDDY_END_DECLS

#endif
