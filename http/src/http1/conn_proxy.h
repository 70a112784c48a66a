/* conn_proxy.h: the PROXY header that a connection from a trusted proxy begins with. */
#ifndef EDDYI_CONN_PROXY_H
#define EDDYI_CONN_PROXY_H

#include "conns.h"

/* Require a PROXY header at the start of a new connection. Return: false if the connection must be
 * closed: the peer is not a trusted proxy, or allocation failed. */
bool eddyi_conn_await_proxy_header(struct eddyi_conn *conn);

/* Take in bytes of the PROXY header. Return: the number of its bytes if it is complete; 0 if more
 * are needed; -EBADMSG, -EDQUOT, -EMSGSIZE, -ENOMEM. */
ssize_t eddyi_conn_take_in_proxy_header(struct eddyi_conn *conn, const char *bytes, size_t len);

#endif
