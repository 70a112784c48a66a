/* http2.h: a connection of HTTP/2, by libnghttp2's client session: each request is a stream, and as many as the plan's depth are
 * in flight. Over TLS it is agreed on by ALPN, else the server is known to speak it.
 *
 * The session reads from the connection's buffer, which is large, and bodies are sent from where they are: nothing of DATA is
 * copied here, except what is encrypted.
 *
 * Invariants:
 * 1. A stream is due from http2_ask() until its response, or its failure, is in the tally. Streams that the server has refused
 *    by a GOAWAY stay due: the next connection asks for them.
 * 2. While the time of conn->until_ns is not over, a stream that was answered asks again.
 */
#ifndef EDDY_BENCH_HTTP2_H
#define EDDY_BENCH_HTTP2_H

#include "conn.h"

/* Whether this build can: it has libnghttp2. */
bool http2_is_there(void);

/* Make as many requests due as the plan's depth says, since `started_ns`. Return: 0, -ENOMEM. */
int http2_ask(struct conn *conn, uint64_t started_ns);

/* Begin the session on a connection that has been made. Never suspends. Return: 0, -ENOMEM. */
int http2_begin(struct conn *conn);

/* Send what is due, and take the answers into the tally. `*ret_left` are the requests that are still due. Suspends.
 * Return: 0; 1 if the connection takes no further requests; -errno, as receive_head(). */
int http2_exchange(struct conn *conn, unsigned *ret_left);

/* Forget the session. Does nothing where there is none. */
void http2_end(struct conn *conn);

/* Free all of it. The session has ended. */
void http2_free(struct conn *conn);

#endif
