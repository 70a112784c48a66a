#include "tls_wire.h"

#include "tls/ktls.h"
#include "tls/tls_setup.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/transfer.h>
#include <eddy/io.h>
#include <eddy/loop.h>
#include <eddy/task.h>
#include <eddy/transfer.h>
#include <eddy/tls.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#define WARNING 1
#define FATAL 2
#define CLOSE_NOTIFY 0
#define RECORD_MAX ((size_t)(16 * EDDY_KIB))
/* Read this much of a file at a time: the records that `out` holds. */
#define FILE_STEP ((size_t)(64 * EDDY_KIB))
/* Limit of received bytes without data, such as tickets, which could occupy the loop. */
#define NOTHING_MAX ((size_t)(128 * EDDY_KIB))
/* A task that has encrypted for this long yields, for handshakes to proceed. */
#define TURN_NS (100 * EDDY_US)

/* Send all encrypted bytes. During a handshake progress does not extend the timeout. */
static int flush(struct eddyi_wire *wire, bool extends_time)
{
	struct eddyi_tls *tls = wire->tls;
	struct eddy_str unsent;

	while ((unsent = eddyi_tls_buffers_unsent(&tls->buffers)).len) {
		ssize_t sent;

		tls->sending = true;
		sent = eddy_send(wire->fd, unsent.ptr, unsent.len, 0);
		tls->sending = false;
		if (sent < 0)
			return (int)sent;
		eddyi_tls_buffers_sent(&tls->buffers, (size_t)sent);
		if (extends_time)
			eddy_timeout_touch(&wire->timeout);
	}
	return 0;
}

static void push(struct eddyi_wire *wire)
{
	struct eddy_str unsent = eddyi_tls_buffers_unsent(&wire->tls->buffers);
	ssize_t sent;

	if (wire->tls->alert)
		eddyi_ktls_alert(wire->fd, FATAL, wire->tls->alert);
	wire->tls->alert = 0;
	if (!unsent.len || wire->tls->sending)
		return;
	/* Ignore an error: the next send returns it. */
	sent = eddyi_send_now(wire->fd, unsent.ptr, unsent.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent > 0)
		eddyi_tls_buffers_sent(&wire->tls->buffers, (size_t)sent);
}

size_t eddyi_tls_wire_push(struct eddyi_wire *wire, const void *buf, size_t len)
{
	ssize_t taken = eddyi_tls_write(wire->tls, buf, len);

	push(wire);
	return taken > 0 ? (size_t)taken : 0;
}

void eddyi_tls_wire_end(struct eddyi_wire *wire)
{
	struct eddyi_tls *tls = wire->tls;

	if (tls->kernel_sends && tls->state == EDDYI_TLS_OPEN)
		eddyi_ktls_alert(wire->fd, WARNING, CLOSE_NOTIFY);
	eddyi_tls_end(tls);
	push(wire);
}

int eddyi_tls_wire_shake(struct eddyi_wire *wire)
{
	int r, sent;

	do {
		r = eddyi_tls_shake(wire->tls);
		/* Also the alert of a failed handshake. */
		sent = flush(wire, false);
	} while (r == -ENOBUFS && sent == 0);
	if (sent < 0)
		eddyi_tls_cut(wire->tls);
	if (r == 0 && sent == 0 && wire->tls->setup &&
	    !eddyi_tls_setup_options(wire->tls->setup)->no_ktls)
		wire->tls->kernel_sends = eddyi_ktls_begin(wire->tls->session, wire->fd);
	return sent < 0 ? sent : r;
}

/* Receive encrypted bytes into the session. Return: bytes; 0 at the end; -errno. */
static ssize_t receive(struct eddyi_wire *wire, int flags)
{
	char *room;
	ssize_t r = eddyi_tls_buffers_room(&wire->tls->buffers, &room);

	if (r < 0)
		return r;
	if (flags & MSG_DONTWAIT) {
		r = eddyi_recv_now(wire->fd, room, (size_t)r, flags);
		r = r < 0 ? -errno : r;
	} else {
		r = eddy_recv(wire->fd, room, (size_t)r, flags);
	}
	eddyi_tls_received(wire->tls, r > 0 ? (size_t)r : 0);
	return r;
}

int eddyi_tls_wire_connect(struct eddyi_wire *wire)
{
	int r;

	while ((r = eddyi_tls_wire_shake(wire)) == -EAGAIN) {
		do {
			ssize_t received = receive(wire, 0);

			if (received <= 0)
				return received ? (int)received : -ECONNRESET;
			eddy_timeout_touch(&wire->timeout);
		} while (!eddyi_tls_is_due(wire->tls));
	}
	return r;
}

bool eddyi_tls_wire_is_quiet(struct eddyi_wire *wire)
{
	size_t taken = 0;
	ssize_t r;
	char byte;

	while (taken < NOTHING_MAX && (r = eddyi_tls_read(wire->tls, &byte, 1)) == -EAGAIN) {
		r = receive(wire, MSG_DONTWAIT);
		if (r == -EAGAIN)
			return true;
		if (r <= 0)
			return false;
		taken += (size_t)r;
	}
	return false;
}

int eddyi_tls_wire_drain(struct eddyi_wire *wire, eddyi_tls_wire_take_fn *take, void *arg)
{
	char bytes[EDDYI_INBOX_SIZE];
	int r = 0;

	while (r == 0) {
		ssize_t len = eddyi_tls_read(wire->tls, bytes, sizeof(bytes));

		/* Send what the protocol requires in response. */
		if (len <= 0)
			eddyi_tls_wire_push(wire, NULL, 0);
		if (len <= 0)
			return len == -EAGAIN ? 0 : len < 0 ? (int)len : -ECONNRESET;
		r = take(arg, bytes, (size_t)len);
	}
	return r;
}

ssize_t eddyi_tls_wire_recv(struct eddyi_wire *wire, void *buf, size_t len, bool extends_time)
{
	ssize_t r;

	while ((r = eddyi_tls_read(wire->tls, buf, len)) == -EAGAIN) {
		r = receive(wire, 0);
		if (r <= 0)
			return r;
		if (extends_time)
			eddy_timeout_touch(&wire->timeout);
	}
	/* Send what the protocol requires in response, without waiting. */
	push(wire);
	return r;
}

/* ---- sending ---- */

/* Get the content of the next record; small pieces are joined in `staging`. */
static struct eddy_str gather(const struct iovec *pieces, size_t count, char *staging)
{
	size_t len = 0;

	if (count == 1 || pieces->iov_len >= RECORD_MAX)
		return eddy_str(pieces->iov_base, pieces->iov_len);
	for (size_t i = 0; i < count && len < RECORD_MAX; i++) {
		size_t here = pieces[i].iov_len;

		if (here > RECORD_MAX - len)
			here = RECORD_MAX - len;
		memcpy(staging + len, pieces[i].iov_base, here);
		len += here;
	}
	return eddy_str(staging, len);
}

/* Encrypt all pieces, and send only when `out` is full. */
static int seal(struct eddyi_wire *wire, struct iovec *pieces, size_t count)
{
	uint64_t since_ns = eddy_now();
	char staging[RECORD_MAX];

	while (count) {
		struct eddy_str bytes = gather(pieces, count, staging);
		size_t len = bytes.len < RECORD_MAX ? bytes.len : RECORD_MAX;
		ssize_t taken = eddyi_tls_write(wire->tls, bytes.ptr, len);
		int r = taken < 0 ? (int)taken : 0;

		if (taken == 0 && len) {
			r = flush(wire, true);
			since_ns = eddy_now();
		} else if (taken > 0 && eddy_now() - since_ns > TURN_NS) {
			r = eddy_yield();
			since_ns = eddy_now();
		}
		if (r < 0)
			return r;
		eddyi_wire_advance(&pieces, &count, (size_t)taken);
	}
	return 0;
}

int eddyi_tls_wire_sendv(struct eddyi_wire *wire, struct iovec *pieces, size_t count)
{
	int r = seal(wire, pieces, count);

	return r ? r : flush(wire, true);
}

static int seal_bytes(struct eddyi_wire *wire, const void *buf, size_t len)
{
	return seal(wire, &(struct iovec){ (void *)buf, len }, 1);
}

/* The head shares its record with the first bytes of the file. */
static int seal_file(struct eddyi_wire *wire, struct eddy_transfer *transfer, char *buf)
{
	size_t begun = transfer->head.len < FILE_STEP ? transfer->head.len : 0;
	int r = begun ? 0 : seal_bytes(wire, transfer->head.ptr, transfer->head.len);

	memcpy(buf, transfer->head.ptr, begun);
	while (transfer->moved < transfer->len && r == 0) {
		uint64_t left = transfer->len - transfer->moved;
		size_t step = left < FILE_STEP - begun ? (size_t)left : FILE_STEP - begun;

		r = eddyi_transfer_read(transfer->file, buf + begun, step,
					transfer->offset + transfer->moved);
		if (r == 0)
			r = seal_bytes(wire, buf, begun + step);
		if (r == 0)
			transfer->moved += step;
		begun = 0;
	}
	return r == 0 && begun ? seal_bytes(wire, buf, begun) : r;
}

int eddyi_tls_wire_send_file(struct eddyi_wire *wire, struct eddy_transfer *transfer)
{
	char *buf = malloc(FILE_STEP);
	int r;

	if (!buf)
		return -ENOMEM;
	r = seal_file(wire, transfer, buf);
	free(buf);
	return r ? r : flush(wire, true);
}
