#include "receive.h"

#include "secure.h"

#include <eddy/loop.h>
#include <eddy/op.h>

#include <errno.h>
#include <liburing.h>
#include <string.h>

/* Of a body, at once. */
#define COUNT_MAX (1 << 20)
/* Interim responses before the final one. */
#define INTERIM_MAX 32

/* Where bytes go of streams that don't know MSG_TRUNC: nobody reads them. */
static char nowhere[65536];

/* Return: bytes, -ENODATA at the end of the stream, -errno. */
static ssize_t receive(struct conn *conn, void *buf, size_t len, int flags)
{
	struct eddy_op op;
	struct io_uring_sqe *sqe;
	int r;

	if (conn->tls)
		return secure_receive(conn, buf, len);
	sqe = eddy_op_begin_await(&op);
	if (!sqe)
		return -ECANCELED;
	io_uring_prep_recv(sqe, conn->fd, buf, len, flags);
	r = eddy_op_await(&op, sqe);
	conn->moved++;
	return r ? r : -ENODATA;
}

int receive_fill(struct conn *conn)
{
	ssize_t r;

	if (conn->at == conn->end)
		conn->at = conn->end = 0;
	if (conn->end == conn->size) {
		memmove(conn->buffer, conn->buffer + conn->at, conn->end - conn->at);
		conn->end -= conn->at;
		conn->at = 0;
	}
	r = receive(conn, conn->buffer + conn->end, conn->size - conn->end, 0);
	if (r < 0)
		return (int)r;
	conn->received_ns = eddy_now();
	conn->end += (size_t)r;
	return 0;
}

static int broken(struct conn *conn, int r, const char *what)
{
	conn->wrong = what;
	return r;
}

/* The connection has ended, or broken; what TLS has to say of that says more. */
static int ended(struct conn *conn, int r, const char *where)
{
	return conn->wrong ? r : broken(conn, r, where);
}

static int receive_one_head(struct conn *conn, struct response *ret_response,
			    uint64_t *ret_first_ns)
{
	int r;

	if (conn->at == conn->end) {
		r = receive_fill(conn);
		if (r < 0)
			return ended(conn, r,
				     "the server closed the connection without a response");
	}
	conn->answered = true;
	*ret_first_ns = conn->received_ns;
	for (;;) {
		ssize_t len = response_parse(conn->buffer + conn->at, conn->end - conn->at,
					     ret_response, &conn->wrong);

		if (len < 0)
			return (int)len;
		conn->at += (size_t)len;
		if (len)
			return 0;
		if (conn->end - conn->at == conn->size)
			return broken(conn, -EMSGSIZE, "the head of the response is too large");
		r = receive_fill(conn);
		if (r < 0)
			return ended(
				conn, r,
				"the server closed the connection within the head of a response");
	}
}

int receive_head(struct conn *conn, struct response *ret_response, uint64_t *ret_first_ns)
{
	for (int i = 0; i < INTERIM_MAX; i++) {
		int r = receive_one_head(conn, ret_response, ret_first_ns);

		if (r < 0 || ret_response->status >= 200)
			return r;
		if (ret_response->status == 101)
			return broken(conn, -EBADMSG, "the server switched to another protocol");
	}
	return broken(conn, -EBADMSG, "too many interim (1xx) responses");
}

/* Take what is in the buffer, up to `most`. Return: bytes. */
static size_t take_buffered(struct conn *conn, uint64_t most)
{
	size_t len = conn->end - conn->at;

	if (len > most)
		len = (size_t)most;
	if (conn->digest)
		digest_add(conn->digest, conn->buffer + conn->at, len);
	conn->at += len;
	conn->taken += len;
	return len;
}

/* Receive some of a body that has `left` bytes to come, and maybe, with `more`, something behind it.
 * Return: bytes that were counted and are gone; 0 when they are in the buffer; -errno. */
static ssize_t receive_some(struct conn *conn, uint64_t left, bool more)
{
	size_t len = left < COUNT_MAX ? (size_t)left : COUNT_MAX;
	ssize_t r;

	if (conn->digest || (more && left < conn->size / 4))
		return receive_fill(conn);
	if (conn->plan->truncates)
		r = receive(conn, NULL, len, MSG_TRUNC);
	else
		r = receive(conn, nowhere, len < sizeof(nowhere) ? len : sizeof(nowhere), 0);
	if (r > 0)
		conn->taken += (uint64_t)r;
	return r;
}

/* Take exactly `len` bytes; with `more` something comes behind them. */
static int take_data(struct conn *conn, uint64_t len, bool more)
{
	bool waited = false;

	while ((len -= take_buffered(conn, len))) {
		ssize_t r = receive_some(conn, len, more);

		if (r < 0)
			return (int)r;
		waited = true;
		len -= (uint64_t)r;
	}
	if (waited)
		conn->received_ns = eddy_now();
	return 0;
}

static int take_chunks(struct conn *conn)
{
	struct chunked chunked = { 0 };

	for (;;) {
		ssize_t r = chunked_take(&chunked, conn->buffer + conn->at, conn->end - conn->at);

		if (r < 0)
			return broken(conn, -EBADMSG, "the chunked body is malformed");
		conn->at += (size_t)r;
		if (chunked.ended)
			return 0;
		r = chunked.left ? take_data(conn, chunked.left, true) : receive_fill(conn);
		chunked.left = 0;
		if (r < 0)
			return (int)r;
	}
}

/* Take everything up to the end of the stream. */
static int take_rest(struct conn *conn)
{
	for (;;) {
		ssize_t r;

		take_buffered(conn, UINT64_MAX);
		r = receive_some(conn, UINT64_MAX, false);
		if (r == -ENODATA && !conn->gave_up) {
			conn->received_ns = eddy_now();
			return 0;
		}
		if (r < 0)
			return (int)r;
	}
}

int receive_body(struct conn *conn, struct response *response)
{
	int r;

	if (conn->digest)
		digest_begin(conn->digest);
	if (conn->plan->no_body || response->status == 204 || response->status == 304)
		return 0;
	if (response->chunked) {
		r = take_chunks(conn);
	} else if (response->length != RESPONSE_LENGTH_NONE) {
		r = take_data(conn, response->length, conn->plan->depth > 1);
	} else {
		response->keeps = false;
		r = take_rest(conn);
	}
	return r < 0 ? ended(conn, r, "the server closed the connection within a body") : 0;
}
