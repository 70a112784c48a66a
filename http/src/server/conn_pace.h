/* conn_pace.h: the least progress that a client must make with a body or an answer. */
#ifndef EDDYI_CONN_PACE_H
#define EDDYI_CONN_PACE_H

#include "conns.h"

/* Watch what the connection's task does next; `pace` is all zeros. */
void eddyi_conn_pace_begin(struct eddyi_conn *conn, struct eddyi_pace *pace);

/* Watch it no more. */
void eddyi_conn_pace_end(struct eddyi_conn *conn);

/* Where an address holds so many connections that others wait, look at some of them before their time: those with
 * which nothing has moved for a while are slow. Return: whether there are any. */
bool eddyi_conns_pace_crowd(struct eddyi_conns *conns);

#endif
