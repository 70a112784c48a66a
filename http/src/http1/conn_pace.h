/* conn_pace.h: the minimum rate at which a client must send a body or receive a response. */
#ifndef EDDYI_CONN_PACE_H
#define EDDYI_CONN_PACE_H

#include "http1.h"

/* Watch the progress of the connection's task. `pace` is zeroed. */
void eddyi_conn_pace_begin(struct eddyi_conn *conn, struct eddyi_pace *pace);

void eddyi_conn_pace_end(struct eddyi_conn *conn);

/* Whether the connection waits for its client, without progress for a while. */
bool eddyi_conn_has_paused(const struct eddyi_conn *conn);

#endif
