#include "upload.h"

#include "response.h"

#include <eddy/io.h>
#include <eddy/task.h>

#include <errno.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* At once, and so often in a row while others wait. */
#define SEND_MAX (1 << 20)
#define TURNS 4

int upload_send_head(struct conn *conn, int more)
{
	/* A socket has room for a request, as good as always. */
	ssize_t r = send(conn->fd, conn->request, conn->request_len,
			 MSG_DONTWAIT | MSG_NOSIGNAL | more);

	conn->moved++;
	if (r < 0 && errno != EAGAIN)
		return -errno;
	if (r < 0)
		r = 0;
	if ((size_t)r == conn->request_len)
		return 0;
	return eddy_send_all(conn->fd, conn->request + r, conn->request_len - (size_t)r, more);
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

/* Something has come before the body has gone. Return: whether it refuses the rest. */
static bool is_refused(struct conn *conn)
{
	struct response response;
	const char *wrong;
	ssize_t r = recv(conn->fd, conn->buffer, conn->size, MSG_PEEK | MSG_DONTWAIT);

	if (r <= 0)
		return true;
	r = response_parse(conn->buffer, (size_t)r, &response, &wrong);
	return r < 0 || (r > 0 && response.status >= 300);
}

/* Wait for room. Return: 1 when the server wants no more, 0, -errno. */
static int await_room(struct conn *conn, unsigned *events)
{
	int r = eddy_poll(conn->fd, *events);

	if (r < 0)
		return r;
	if (r & POLLIN) {
		if (is_refused(conn))
			return 1;
		/* It begins to answer while it reads: what it says is read when all is sent. */
		*events = POLLOUT;
	}
	return 0;
}

int upload_send(struct conn *conn)
{
	const struct body *body = conn->plan->body;
	unsigned events = POLLOUT | POLLIN;
	uint64_t sent = 0;
	int r;

	if (body->bytes)
		return send_small(conn);
	r = upload_send_head(conn, MSG_MORE);
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
