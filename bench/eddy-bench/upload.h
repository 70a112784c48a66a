/* upload.h: how requests are sent. */
#ifndef EDDY_BENCH_UPLOAD_H
#define EDDY_BENCH_UPLOAD_H

#include "conn.h"

/* Send all of them. `more` is 0, or MSG_MORE where something comes behind them. Suspends where the socket is full.
 * Return: 0, -errno. */
int upload_send_bytes(struct conn *conn, const char *bytes, size_t len, int more);

/* Send what is in conn->request. Suspends, and returns, as upload_send_bytes(). */
int upload_send_head(struct conn *conn, int more);

/* Send it and the plan's body, unless the server refuses that before it is whole, in an answer that waits to be
 * read. Suspends. Return: 0; 1 when it was refused; -errno. */
int upload_send(struct conn *conn);

#endif
