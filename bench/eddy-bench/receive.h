/* receive.h: how answers are received: heads into the connection's buffer, bodies nowhere. */
#ifndef EDDY_BENCH_RECEIVE_H
#define EDDY_BENCH_RECEIVE_H

#include "conn.h"
#include "response.h"

/* Receive more into the connection's buffer. Suspends. Return: 0; -ENODATA when the stream ended; -errno. */
int receive_fill(struct conn *conn);

/* Receive the head of a final response; interim ones are passed over. `*ret_first_ns` is when its first bytes came.
 * Suspends. Return: 0; -ENODATA when the stream ended; -EBADMSG, -EMSGSIZE; -errno. */
int receive_head(struct conn *conn, struct response *ret_response, uint64_t *ret_first_ns);

/* Receive the body that belongs to it. Suspends. Return: as receive_head(). */
int receive_body(struct conn *conn, struct response *response);

#endif
