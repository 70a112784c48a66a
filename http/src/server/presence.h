/* presence.h: detect that the client of a request in progress has disconnected.
 *
 * A task that waits for something other than its client would not hear that the client has left. A receive
 * that is armed ahead says so at once. Where none is, a poll is armed for requests that have been in progress
 * for a while: a sweep of all of them, ten times a second, finds those. A request that is answered sooner costs
 * a store and a branch.
 */
#ifndef EDDYI_PRESENCE_H
#define EDDYI_PRESENCE_H

#include "conns.h"

#define EDDYI_PRESENCE_NS (100 * EDDY_MS)

/* Have the next sweep done. */
void eddyi_presence_arm(struct eddyi_conns *conns);

/* A request begins: it will be looked after. */
static inline void eddyi_presence_begin(struct eddyi_conn *conn)
{
	conn->presence = EDDYI_PRESENCE_NEW;
	eddy_list_append(&conn->conns->in_progress, &conn->progress);
	if (!eddy_timer_is_armed(&conn->conns->sweep))
		eddyi_presence_arm(conn->conns);
}

/* Have the poll ended. Suspends. */
void eddyi_presence_end_poll(struct eddyi_conn *conn);

/* The request is over. May suspend. */
static inline void eddyi_presence_end(struct eddyi_conn *conn)
{
	eddy_list_remove(&conn->progress);
	if (conn->poll)
		eddyi_presence_end_poll(conn);
}

/* A receive that was armed ahead has ended by what may be the client's end: look. */
void eddyi_presence_look(struct eddyi_conn *conn);

#endif
