#include "upload.h"

#include "response.h"
#include "secure.h"

#include <eddy/io.h>
#include <eddy/task.h>

#include <errno.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* At once, and so often in a row while others wait. */
#define SEND_MAX (1 << 20)
#define TURNS 4
/* At once where it is encrypted: as many records as there is room for. */
#define PIECE 65536

/* Something has come before the body has gone. Return: whether it refuses the rest; `events` loses POLLIN where it
 * does not: what it says is read when all is sent. */
static bool is_refused(struct conn *conn, unsigned *events)
{
	struct response response;
	const char *bytes = conn->buffer, *wrong;
	ssize_t r;

	if (conn->tls) {
		if (secure_take_early(conn))
			return true;
		bytes += conn->at;
		r = (ssize_t)(conn->end - conn->at);
		/* What TLS has to say itself. */
		if (r == 0)
			return false;
	} else {
		r = recv(conn->fd, conn->buffer, conn->size, MSG_PEEK | MSG_DONTWAIT);
		if (r <= 0)
			return true;
	}
	*events = POLLOUT;
	r = response_parse(bytes, (size_t)r, &response, &wrong);
	return r < 0 || (r > 0 && response.status >= 300);
}

/* Wait for room. Return: 1 when the server wants no more, 0, -errno. */
static int await_room(struct conn *conn, unsigned *events)
{
	int r = eddy_poll(conn->fd, *events);

	if (r < 0)
		return r;
	return r & POLLIN && is_refused(conn, events);
}

/* ---- over TLS */

static int flush(struct conn *conn, unsigned *events)
{
	int r;

	while ((r = secure_flush(conn)) == -EAGAIN) {
		r = await_room(conn, events);
		if (r)
			return r;
	}
	return r;
}

static int seal(struct conn *conn, const char *bytes, size_t len, bool more)
{
	unsigned events = POLLOUT;
	int r = 0;

	while (len && r == 0) {
		ssize_t taken = secure_seal(conn, bytes, len);

		if (taken < 0)
			return (int)taken;
		bytes += taken;
		len -= (size_t)taken;
		if (len)
			r = flush(conn, &events);
	}
	return r || more ? r : flush(conn, &events);
}

/* Behind the head that is sealed. */
static int seal_body(struct conn *conn)
{
	/* Nobody suspends with something in it. */
	static char piece[PIECE];
	const struct body *body = conn->plan->body;
	unsigned events = POLLOUT | POLLIN;
	uint64_t sent = 0;
	int r = 0;

	for (int turns = 0; r == 0 && sent < body->size; turns++) {
		uint64_t at = sent % body->period, left = body->size - sent;
		size_t len = left < sizeof(piece) ? (size_t)left : sizeof(piece);
		ssize_t n;

		if (len > body->period - at)
			len = (size_t)(body->period - at);
		n = pread(body->fd, piece, len, (off_t)at);
		if (n <= 0)
			return n ? -errno : -EIO;
		n = secure_seal(conn, piece, (size_t)n);
		if (n < 0)
			return (int)n;
		sent += (uint64_t)n;
		r = flush(conn, &events);
		if (r == 0 && turns % TURNS == TURNS - 1)
			r = eddy_yield();
	}
	return r;
}

/* ---- */

int upload_send_bytes(struct conn *conn, const char *bytes, size_t len, int more)
{
	ssize_t r;

	if (conn->tls)
		return seal(conn, bytes, len, more);
	/* A socket has room for a request, as good as always. */
	r = send(conn->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL | more);
	conn->moved++;
	if (r < 0 && errno != EAGAIN)
		return -errno;
	if (r < 0)
		r = 0;
	if ((size_t)r == len)
		return 0;
	return eddy_send_all(conn->fd, bytes + r, len - (size_t)r, more);
}

int upload_send_head(struct conn *conn, int more)
{
	return upload_send_bytes(conn, conn->request, conn->request_len, more);
}

/* Head and body in one. */
static int send_small(struct conn *conn)
{
	const struct body *body = conn->plan->body;
	struct iovec parts[] = { { conn->request, conn->request_len },
				 { body->bytes, body->size } };
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t r = sendmsg(conn->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);

	conn->moved++;
	if (r < 0 && errno != EAGAIN)
		return -errno;
	for (int i = 0; i < 2; i++) {
		size_t gone = r < 0                        ? 0 :
			      (size_t)r < parts[i].iov_len ? (size_t)r :
							     parts[i].iov_len;
		int sent = 0;

		if (gone < parts[i].iov_len)
			sent = eddy_send_all(conn->fd, (char *)parts[i].iov_base + gone,
					     parts[i].iov_len - gone, 0);
		if (sent < 0)
			return sent;
		r -= (ssize_t)gone;
	}
	return 0;
}

int upload_send(struct conn *conn)
{
	const struct body *body = conn->plan->body;
	unsigned events = POLLOUT | POLLIN;
	uint64_t sent = 0;
	int r;

	if (body->bytes && !conn->tls)
		return send_small(conn);
	r = upload_send_head(conn, MSG_MORE);
	if (r == 0 && conn->tls)
		return body->bytes ? seal(conn, body->bytes, body->size, false) : seal_body(conn);
	for (int turns = 0; r == 0 && sent < body->size; turns++) {
		uint64_t at = sent % body->period, left = body->size - sent;
		off_t offset = (off_t)at;
		size_t len = left < SEND_MAX ? (size_t)left : SEND_MAX;
		ssize_t n;

		if (len > body->period - at)
			len = (size_t)(body->period - at);
		n = sendfile(conn->fd, body->fd, &offset, len);
		conn->moved++;
		if (n > 0)
			sent += (uint64_t)n;
		else if (n == 0)
			return -EIO;
		else if (errno != EAGAIN)
			return -errno;
		else
			r = await_room(conn, &events);
		if (n > 0 && turns % TURNS == TURNS - 1)
			r = eddy_yield();
	}
	return r;
}
