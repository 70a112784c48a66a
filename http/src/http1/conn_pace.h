/* conn_pace.h: the minimum rate at which a client must send a body or receive a response. */
#ifndef EDDYI_CONN_PACE_H
#define EDDYI_CONN_PACE_H

#include "conns.h"

/* Watch the progress of the connection's task. `pace` is zeroed. */
void eddyi_conn_pace_begin(struct eddyi_conn *conn, struct eddyi_pace *pace);

void eddyi_conn_pace_end(struct eddyi_conn *conn);

/* If one address crowds out others, mark some of its connections without progress as slow.
 * Return: whether there are any. */
bool eddyi_conns_pace_crowd(struct eddyi_conns *conns);

#endif
