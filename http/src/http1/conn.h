/* conn.h: a connection, from accept to close.
 *
 * Between requests a connection is parked: a structure, a receive armed on the ring, and no stack.
 * The completion function parses the head as it arrives. A complete or rejected head gets a task,
 * which responds to it and to pipelined requests, and parks the connection again. The receive may
 * stay armed meanwhile and reads ahead; code that receives by itself ends it first. A step of a TLS
 * handshake also gets a task, as soon as it needs no more bytes from the client. */
#ifndef EDDYI_CONN_H
#define EDDYI_CONN_H

#include "parked/parked.h"

struct eddyi_address;

/* Take ownership of a socket accepted at `address`, and park it. On the loop's stack or in a
 * task. */
void eddyi_conn_new(struct eddyi_conns *conns, int fd, const struct eddyi_address *address);

#endif
