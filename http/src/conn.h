/* conn.h: one connection of a client.
 *
 * Between requests it is parked: this structure, a receive armed on the ring, and no stack. The
 * completion function takes in a head as it arrives; a head that is complete (or refused) gets a
 * task, which answers it and what is pipelined behind it, and parks the connection again.
 */
#ifndef EDDYI_CONN_H
#define EDDYI_CONN_H

#include "server.h"

#include <sys/uio.h>

struct eddy_req;

/* What has arrived behind a head is kept, up to this; then reading stops. */
#define EDDYI_INBOX_SIZE ((size_t)(16 * EDDY_KIB))

enum eddyi_conn_state {
	EDDYI_CONN_PARKED, /* `op` receives; no task */
	EDDYI_CONN_BUSY,   /* a task owns the connection; `op` is idle */
	EDDYI_CONN_CLOSING,
};

/* Invariants:
 * 1. Nobody receives twice: `op` is armed only in PARKED, a task reads only in BUSY.
 * 2. The inbox is read before the socket.
 * 3. `scope` is set exactly while a phase of a request runs that a timeout may cut short.
 */
struct eddyi_conn {
	struct eddyi_server *server;
	struct eddy_op op;
	struct eddy_timeout timeout;
	struct eddy_node node; /* in one of the server's lists */
	struct eddy_req *req;  /* whose head is arriving, or that is being answered */
	struct eddy_scope *scope;
	char *inbox; /* EDDYI_INBOX_SIZE bytes, or NULL when nothing is in it */
	uint32_t inbox_at;
	uint32_t inbox_len;
	int fd;
	uint8_t state;
	bool expired; /* the timeout has fired */
	bool evicted; /* to be closed for want of room, or at the end */
	bool linger;  /* read on for a while before closing */
	bool keep;    /* serve another request after this one */
	bool fresh;   /* no request yet */
};

/* Take over an accepted socket and park it. Loop's stack or a task. */
void eddyi_conn_new(struct eddyi_server *server, int fd);

/* Close a parked connection. */
void eddyi_conn_evict(struct eddyi_conn *conn);

/* The bytes that have arrived and not been read. */
struct eddy_str eddyi_conn_pending(const struct eddyi_conn *conn);

/* `len` of them have been read. */
void eddyi_conn_consume(struct eddyi_conn *conn, size_t len);

/* Receive up to `len` bytes into `buf`; the inbox is empty. Limited by the body timeout. Suspends.
 * Return: bytes, -ECONNRESET when the client has ended, -errno. */
ssize_t eddyi_conn_recv(struct eddyi_conn *conn, void *buf, size_t len);

/* Receive into the empty inbox. Otherwise as eddyi_conn_recv(). */
ssize_t eddyi_conn_fill(struct eddyi_conn *conn);

/* Send all of it. Limited by the write timeout. Suspends. Return: 0, -errno. */
int eddyi_conn_send(struct eddyi_conn *conn, const void *buf, size_t len, int flags);

/* Send all of several pieces, as one where it fits; `pieces` is used up. Otherwise as
 * eddyi_conn_send(). */
int eddyi_conn_sendv(struct eddyi_conn *conn, struct iovec *pieces, size_t count);

/* A timeout guards what the current task does next: arm it from `queue`, and disarm it. */
void eddyi_conn_guard(struct eddyi_conn *conn, struct eddy_timeout_queue *queue);
void eddyi_conn_unguard(struct eddyi_conn *conn);

#endif
