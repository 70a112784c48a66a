/* conn.h: one connection of a benchmark: it sends what the plan says and reads what comes back, as cheaply as it goes.
 *
 * With --http2, http2.h sends and receives; everything else here is HTTP/1.1.
 *
 * Bodies are not copied: the kernel counts them (MSG_TRUNC), or, to upload, takes them from a file (sendfile(2)). Under
 * --verify they are read, since they must be looked at; over TLS they go through secure.h.
 *
 * Invariants:
 * 1. One task at a time uses a connection, and every request that was begun is in the tally, as one of `requests` or
 *    of `errors`.
 * 2. Bytes from `at` to `end` of the buffer are received and not yet taken. No others of this stream are in
 *    the hands of the kernel's ring once a call has returned.
 * 3. `moved` changes with every bit of progress: who sees the same for too long ends the connection, by
 *    conn_give_up(), and the task finds out by itself.
 */
#ifndef EDDY_BENCH_CONN_H
#define EDDY_BENCH_CONN_H

#include "histogram.h"
#include "plan.h"

/* What came of the requests of all connections together. */
struct tally {
	uint64_t requests; /* that were answered as they should be */
	uint64_t errors;
	uint64_t bytes;      /* of bodies, in the direction that the benchmark is about */
	uint64_t reconnects; /* where a server did not keep the connection */
	struct histogram first_byte, total;
	char error[OPTIONS_ERROR_SIZE]; /* the first one */
};

/* A response that has come as a whole. */
struct answer {
	int status;
	uint64_t started_ns, first_ns;
	uint64_t taken;        /* bytes of its body */
	struct digest *digest; /* of its body; NULL unless bodies are verified */
};

struct http2;
struct ssl_st;

struct conn {
	struct plan *plan;
	struct tally *tally;
	struct digest *digest;    /* NULL unless bodies are verified */
	struct expected expected; /* where each connection asks for something else */
	unsigned number;
	int fd;              /* -1: closed */
	struct ssl_st *tls;  /* NULL: plain */
	struct http2 *http2; /* NULL: HTTP/1.1, or nothing was asked yet */
	uint64_t until_ns;   /* HTTP/2: until then, each answer is followed by another request */
	char *buffer;
	size_t at, end, size;
	char *request; /* as many as the plan's depth, one behind the other */
	size_t request_len, request_size;
	uint64_t received_ns; /* when the last bytes were, that were looked at */
	uint64_t taken;       /* bytes of the body that is being taken */
	uint64_t retransmits; /* of connections before this one */
	uint64_t moved;
	bool connected_before;
	bool busy;
	bool answered;       /* something of the answer that is due has come */
	const char *gave_up; /* why conn_give_up() was called; NULL: it was not */
	const char *wrong;   /* with what came; NULL: nothing */
};

/* Make a connection that is closed. Return: 0, -ENOMEM. */
int conn_init(struct conn *conn, struct plan *plan, struct tally *tally, unsigned number);

void conn_deinit(struct conn *conn);

/* Ask as often as the plan's depth has it, and take all answers into the tally. `started_ns` is when the requests
 * were due. A connection that is not there is made. Suspends.
 * Return: 0; -errno when the last answer did not come, and the connection is closed; -ECANCELED. */
int conn_exchange(struct conn *conn, uint64_t started_ns);

/* Connect, and send the heads of the requests alone. Suspends. Return: 0, -errno. */
int conn_begin(struct conn *conn);

/* Check an answer, and take it into the tally. It ended at `received_ns`. */
void conn_answered(struct conn *conn, const struct answer *answer);

/* Take `count` requests into the tally that have failed with `r`. */
void conn_failed(struct conn *conn, uint64_t count, int r);

/* End a connection that is busy for too long. `why` is static. Never suspends. */
void conn_give_up(struct conn *conn, const char *why);

/* Segments that have been sent again, ever. */
uint64_t conn_retransmits(const struct conn *conn);

#endif
