/* eddy/client_observer.h: hooks around every client request of the process, for tracing and
 * metrics. eddy/observer.h has those of the server.
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

/* A request to one URL; each redirect that is followed is another hop. Borrowed until it ends. */
struct eddy_client_hop {
	const char *method;
	struct eddy_str url;  /* absolute, without a fragment and a user name */
	struct eddy_str host; /* a name, or an address without brackets */
	uint16_t port;
	unsigned redirects; /* followed before this hop */
};

/* A pair of hooks, called in the task that sends the request. Must not suspend. */
struct eddy_client_observer {
	size_t state_size; /* bytes for one request's state, zeroed and freed by the client */
	/* Called before a request is sent. Return: fields to add to the request, or NULL; borrowed
	 * until the end. A field that the request already has is left out. */
	const struct eddy_header *(*begin)(void *state, const struct eddy_client_hop *hop);
	/* Called when the response's head has arrived, with its status, or on failure with
	 * -errno. */
	void (*end)(void *state, int result);
};

/* Observe all client requests of the process from now on. `observer` must never be freed; adding it
 * twice has no effect. Any thread may call it. Return: 0; -ENOSPC if there are four already. */
EDDY_API int eddy_client_observe(const struct eddy_client_observer *observer);

EDDY_END_DECLS

#endif
