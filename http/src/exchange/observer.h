/* observer.h: observers of requests; static probes (USDT), which are nops until traced; and
 * timeline entries for requests. */
#ifndef EDDYI_OBSERVER_H
#define EDDYI_OBSERVER_H

#include "exchange_state.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/usdt.h>
#include <eddy/loop.h>
#include <eddy/observer.h>
#include <eddy/timeline.h>

/* An observer of all requests of an app. */
struct eddyi_watch;

/* The observers' data of one request. */
struct eddyi_observed {
	const struct eddy_field *fields; /* of its log records; NULL: none */
	const struct eddy_local *locals;
	uint64_t began_ns;
	uint64_t sent; /* by the connection, before the request */
	void *states[];
};

/* Call the app's observers, of which there is one at least. On allocation failure none is called,
 * and `observed` is NULL; else call them at the end. */
void eddyi_observe_begin(struct eddy_req *req);
void eddyi_observe_end(struct eddy_req *req, bool whole);

/* The observers' data of one socket. */
struct eddyi_observed_socket {
	const struct eddyi_watch *watches;
	struct eddy_socket_notes notes;
	void *states[];
};

/* Call the observers of a request that has become a socket. Return: NULL if there are none, or on
 * allocation failure. */
struct eddyi_observed_socket *eddyi_observe_socket(struct eddy_req *req);

/* Call them at the end of the socket, and free the data; NULL: do nothing. */
void eddyi_observe_socket_end(struct eddyi_observed_socket *observed,
			      const struct eddy_socket_outcome *outcome);

/* ---- probes ---- */

/* Add the request to the timeline. */
void eddyi_probe_span(const struct eddy_req *req, uint64_t began_ns, bool whole);

/* Add a WebSocket that has ended to the timeline. */
void eddyi_probe_socket(struct eddy_str pattern, const struct eddy_socket_outcome *outcome);

/* Begin a request. Return: its start time; 0 if the timeline is off. */
static inline uint64_t eddyi_probe_request(const struct eddy_req *req)
{
	(void)req; /* unused without probes */
	EDDYI_USDT(request__start, req, req->head.method_name.ptr, req->head.method_name.len,
		   req->head.target.path.ptr, req->head.target.path.len);
	if (EDDYI_HAS_TRACK)
		eddyi_request_recorded(req->head.method_name, req->head.target.path);
	if (__builtin_expect(eddyi_trace_state == EDDYI_TRACE_OFF, 1))
		return 0;
	/* A request that begins between slices may end in one. This reads no clock. */
	return eddyi_trace_state == EDDYI_TRACE_ON ? eddyi_clock_seen() : eddy_loop_now();
}

/* End a request. `whole`: the response was sent completely. */
static inline void eddyi_probe_answered(const struct eddy_req *req, uint64_t began_ns, bool whole)
{
	EDDYI_USDT(request__end, req, req->res.status, whole);
	if (__builtin_expect(began_ns != 0, 0) && eddyi_trace_state == EDDYI_TRACE_ON)
		eddyi_probe_span(req, began_ns, whole);
}

#endif
