/* presence.h: detects that the client of a request in progress has disconnected.
 *
 * A receive armed ahead detects it at once. Without one, a sweep, ten times a second, arms a poll
 * for requests that have been in progress for a while. Shorter ones cost a store and a branch. */
#ifndef EDDYI_PRESENCE_H
#define EDDYI_PRESENCE_H

#include "http1.h"

#define EDDYI_PRESENCE_NS (100 * EDDY_MS)

/* Arm the timer of the next sweep. */
void eddyi_presence_arm(struct eddyi_conns *conns);

/* Start watching the client at the beginning of a request, which is in progress from now on. */
static inline void eddyi_presence_begin(struct eddyi_conn *conn)
{
	struct eddyi_conns *conns = conn->parked.conns;

	conn->presence = EDDYI_PRESENCE_NEW;
	eddy_list_append(&conns->http1, &conn->req->req.in_progress);
	if (!eddy_timer_is_armed(&conns->sweep))
		eddyi_presence_arm(conns);
}

/* Cancel the poll. Suspends. */
void eddyi_presence_end_poll(struct eddyi_conn *conn);

/* Stop watching at the end of the request. May suspend. */
static inline void eddyi_presence_end(struct eddyi_conn *conn)
{
	eddy_list_remove(&conn->req->req.in_progress);
	if (conn->poll)
		eddyi_presence_end_poll(conn);
}

/* Check the socket after a receive armed ahead has ended, perhaps by the client's disconnect. */
void eddyi_presence_look(struct eddyi_conn *conn);

#endif
