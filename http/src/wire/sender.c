#include "sender.h"

#include "tls_wire.h"

#include <eddy/internal/outside.h>
#include <eddy/list.h>
#include <eddy/loop.h>
#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <sys/socket.h>

static bool seals(const struct eddyi_sender *sender)
{
	return EDDYI_TLS && eddyi_tls_wire_seals(sender->wire);
}

/* Ignores errors: the op gets them, too. */
static size_t send_now(struct eddyi_sender *sender, struct iovec *pieces, size_t count)
{
	struct msghdr msg = { .msg_iov = pieces, .msg_iovlen = count };
	int fd = sender->wire->fd, flags = MSG_DONTWAIT | MSG_NOSIGNAL;
	size_t len = 0;
	ssize_t r;

	for (size_t i = 0; i < count; i++)
		len += pieces[i].iov_len;
	r = count == 1 ? eddyi_send_now(fd, pieces->iov_base, len, flags) :
			 eddyi_sendmsg_now(fd, &msg, flags);
	sender->is_full = r < (ssize_t)len;
	return r > 0 ? (size_t)r : 0;
}

size_t eddyi_sender_try(struct eddyi_sender *sender, struct iovec *pieces, size_t count)
{
	if (!sender->wire || eddyi_sender_is_busy(sender) || seals(sender) ||
	    sender->verbs->next(sender).len)
		return 0;
	return send_now(sender, pieces, count);
}

/* Send or encrypt bytes of the owner's. Return: those that are left, or encrypted ones. */
static struct eddy_str drain(struct eddyi_sender *sender)
{
	struct eddy_str bytes;
	ssize_t gone = 1;

	while ((bytes = sender->verbs->next(sender)).len && gone > 0 && !sender->is_full) {
		if (EDDYI_TLS && seals(sender))
			gone = eddyi_tls_write(sender->wire->tls, bytes.ptr, bytes.len);
		else
			gone = (ssize_t)send_now(
				sender, &(struct iovec){ (void *)bytes.ptr, bytes.len }, 1);
		if (gone > 0)
			sender->verbs->take(sender, (size_t)gone);
	}
	return EDDYI_TLS && seals(sender) ? eddyi_tls_buffers_unsent(&sender->wire->tls->buffers) :
					    bytes;
}

static void ended(struct eddy_op *op, int result, unsigned flags)
{
	struct eddyi_sender *sender = eddy_of(op, struct eddyi_sender, op);
	struct eddyi_tls *tls = sender->wire->tls;

	(void)flags;
	sender->is_full = false;
	if (sender->awaits_room && result > 0)
		result = -EAGAIN;
	sender->awaits_room = false;
	if (EDDYI_TLS && tls)
		tls->sending = false;
	if (result > 0 && EDDYI_TLS && seals(sender))
		eddyi_tls_buffers_sent(&tls->buffers, (size_t)result);
	else if (result > 0)
		sender->verbs->take(sender, (size_t)result);
	/* Nothing is sent if the session can't encrypt. */
	sender->verbs->ended(sender, result > 0 || result == -EINTR || result == -EAGAIN ? 0 :
				     result < 0                                          ? result :
											   -EIO);
}

void eddyi_sender_flow(struct eddyi_sender *sender)
{
	struct io_uring_sqe *sqe;
	struct eddy_str rest;

	if (!sender->wire || eddyi_sender_is_busy(sender))
		return;
	rest = drain(sender);
	if (!rest.len && !sender->awaits_room && !sender->verbs->next(sender).len)
		return;
	if (EDDYI_TLS && sender->wire->tls)
		sender->wire->tls->sending = true;
	sender->since_ns = eddy_loop_now();
	sqe = eddy_op_begin(&sender->op, ended);
	if (sender->awaits_room)
		io_uring_prep_poll_add(sqe, sender->wire->fd, POLLOUT);
	else
		io_uring_prep_send(sqe, sender->wire->fd, rest.ptr, rest.len, MSG_NOSIGNAL);
	eddy_op_start(&sender->op, sqe);
}

uint64_t eddyi_sender_stalled_ns(const struct eddyi_sender *sender)
{
	return eddyi_sender_is_busy(sender) ? eddy_loop_now() - sender->since_ns : 0;
}
