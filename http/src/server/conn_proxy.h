/* conn_proxy.h: what a connection begins with where a proxy speaks for its clients. */
#ifndef EDDYI_CONN_PROXY_H
#define EDDYI_CONN_PROXY_H

#include "conns.h"

/* Have a new connection begin with a PROXY header. Return: false when it may not, or nobody knows from whom it is: it is
 * to be closed. */
bool eddyi_conn_await_proxy_header(struct eddyi_conn *conn);

/* Take in bytes of that header. Return: how many are of it, and it is whole; 0 when all are, and more is needed;
 * -EBADMSG, -EMSGSIZE, -ENOMEM. */
ssize_t eddyi_conn_take_in_proxy_header(struct eddyi_conn *conn, const char *bytes, size_t len);

#endif
