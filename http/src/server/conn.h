/* conn.h: one connection, from accept to close.
 *
 * Between requests a connection is parked: its structure, a receive armed on the ring, and no stack.
 * The completion function takes in a head as it arrives; a head that is complete (or refused) gets a
 * task, which answers it and what is pipelined behind it, and parks the connection again. The receive may
 * stay armed meanwhile, as the connection's bytes ahead; who wants to receive himself ends it first. A step of a
 * TLS handshake gets a task as well, once it can be done without waiting for the client.
 */
#ifndef EDDYI_CONN_H
#define EDDYI_CONN_H

#include "conns.h"

struct eddyi_address;

/* Take over a socket that was accepted at `address`, and park it. Loop's stack or a task. */
void eddyi_conn_new(struct eddyi_conns *conns, int fd, const struct eddyi_address *address);

#endif
