#include "wire.h"

#include "pace.h"
#include "tls_wire.h"

#include <eddy/internal/loop.h>
#include <eddy/internal/outside.h>
#include <eddy/event.h>
#include <eddy/io.h>
#include <eddy/loop.h>
#include <eddy/op.h>
#include <eddy/scope.h>
#include <eddy/task.h>
#include <eddy/transfer.h>
#include <errno.h>
#include <linux/sockios.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define LINGER_NS (5 * EDDY_SECOND)
#define LINGER_MAX (16 * EDDY_MIB)

struct eddy_str eddyi_wire_pending(const struct eddyi_wire *wire)
{
	if (!wire->inbox)
		return EDDY_STR("");
	return eddy_str(wire->inbox + wire->inbox_at, wire->inbox_len - wire->inbox_at);
}

void eddyi_wire_consume(struct eddyi_wire *wire, size_t len)
{
	wire->inbox_at += (uint32_t)len;
	if (wire->inbox_at == wire->inbox_len) {
		free(wire->inbox);
		wire->inbox = NULL;
	}
}

bool eddyi_wire_keep(struct eddyi_wire *wire, struct eddy_str bytes)
{
	if (!bytes.len)
		return true;
	if (!wire->inbox) {
		wire->inbox = malloc(EDDYI_INBOX_SIZE);
		wire->inbox_at = wire->inbox_len = 0;
	}
	/* Don't move its bytes: the kernel may be writing them to a file. */
	if (!wire->inbox || bytes.len > EDDYI_INBOX_SIZE - wire->inbox_len)
		return false;
	memcpy(wire->inbox + wire->inbox_len, bytes.ptr, bytes.len);
	wire->inbox_len += (uint32_t)bytes.len;
	return true;
}

void eddyi_wire_guard(struct eddyi_wire *wire, struct eddy_timeout_queue *queue)
{
	struct eddyi_pace *pace = wire->pace;

	wire->looks = 0;
	eddy_timeout_arm(&wire->timeout, queue);
	if (!pace)
		return;
	eddyi_pace_wait(pace,
			queue == &wire->clocks->body  ? &pace->body :
			queue == &wire->clocks->write ? &pace->answer :
							NULL,
			wire->clocks);
}

void eddyi_wire_unguard(struct eddyi_wire *wire)
{
	if (wire->pace)
		eddyi_pace_go_on(wire->pace);
	eddy_timeout_disarm(&wire->timeout);
}

bool eddyi_wire_acked(const struct eddyi_wire *wire, uint64_t *ret_bytes)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (eddyi_getsockopt_now(wire->fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		return false;
	*ret_bytes = info.tcpi_bytes_acked;
	return true;
}

size_t eddyi_wire_room(const struct eddyi_wire *wire)
{
	uint32_t memory[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(memory);
	uint32_t queued, size;

	if (eddyi_getsockopt_now(wire->fd, SOL_SOCKET, SO_MEMINFO, memory, &len) < 0)
		return SIZE_MAX;
	queued = memory[SK_MEMINFO_WMEM_QUEUED];
	size = memory[SK_MEMINFO_SNDBUF];
	/* As poll(2) has it. */
	return size > queued && size - queued >= queued / 2 ? size - queued : 0;
}

bool eddyi_wire_has_stalled(struct eddyi_wire *wire)
{
	uint64_t acked = 0;

	/* If the socket is not TCP, only its room counts, and a send has touched the timeout. */
	eddyi_wire_acked(wire, &acked);
	if (acked != wire->taken)
		wire->looks = 0;
	else
		wire->looks = wire->timeout.since_ns == wire->looked_ns ? wire->looks + 1 : 1;
	wire->taken = acked;
	if (wire->looks >= EDDYI_WRITE_LOOKS)
		return true;
	eddy_timeout_arm(&wire->timeout, &wire->clocks->write);
	wire->looked_ns = wire->timeout.since_ns;
	return false;
}

/* Stop receiving ahead before a task receives: two receivers would each get a part. */
static void end_ahead(struct eddyi_wire *wire)
{
	struct eddy_event alone;
	struct eddy_scope shield;

	if (!wire->ahead)
		return;
	eddy_event_init(&alone);
	wire->alone = &alone;
	eddy_op_cancel(wire->ahead);
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	eddy_event_wait(&alone);
	eddy_scope_end(&shield);
	wire->alone = NULL;
}

static size_t take_pending(struct eddyi_wire *wire, void *buf, size_t len)
{
	struct eddy_str pending = eddyi_wire_pending(wire);

	if (len > pending.len)
		len = pending.len;
	memcpy(buf, pending.ptr, len);
	eddyi_wire_consume(wire, len);
	return len;
}

static ssize_t receive(struct eddyi_wire *wire, void *buf, size_t len, bool guarded)
{
	ssize_t r;

	end_ahead(wire);
	if (wire->inbox)
		return (ssize_t)take_pending(wire, buf, len);
	if (wire->lost)
		return -ENOMEM;
	if (EDDYI_TLS && wire->tls)
		r = eddyi_tls_wire_recv(wire, buf, len, guarded);
	else
		r = eddy_recv(wire->fd, buf, len, 0);
	if (r == 0)
		wire->ended = true;
	return r == 0 ? -ECONNRESET : r;
}

ssize_t eddyi_wire_recv(struct eddyi_wire *wire, void *buf, size_t len)
{
	ssize_t r;

	eddyi_wire_guard(wire, &wire->clocks->body);
	r = receive(wire, buf, len, true);
	eddyi_wire_unguard(wire);
	return r;
}

static ssize_t recv_unguarded(struct eddyi_wire *wire, void *buf, size_t len)
{
	return receive(wire, buf, len, false);
}

static ssize_t fill(struct eddyi_wire *wire,
		    ssize_t (*receive)(struct eddyi_wire *wire, void *buf, size_t len))
{
	char *inbox;
	ssize_t r;

	end_ahead(wire);
	if (wire->inbox)
		return (ssize_t)eddyi_wire_pending(wire).len;
	inbox = malloc(EDDYI_INBOX_SIZE);
	if (!inbox)
		return -ENOMEM;
	r = receive(wire, inbox, EDDYI_INBOX_SIZE);
	if (r < 0) {
		free(inbox);
		return r;
	}
	wire->inbox = inbox;
	wire->inbox_at = 0;
	wire->inbox_len = (uint32_t)r;
	return r;
}

ssize_t eddyi_wire_fill(struct eddyi_wire *wire)
{
	return fill(wire, eddyi_wire_recv);
}

ssize_t eddyi_wire_fill_unguarded(struct eddyi_wire *wire)
{
	return fill(wire, recv_unguarded);
}

bool eddyi_wire_has_ended(const struct eddyi_wire *wire)
{
	return wire->ended && (!EDDYI_TLS || !wire->tls || eddyi_tls_has_ended(wire->tls));
}

bool eddyi_wire_can_splice(struct eddyi_wire *wire)
{
	end_ahead(wire);
	return !wire->tls && !wire->inbox && !wire->lost;
}

/* ---- sending ---- */

static bool seals(const struct eddyi_wire *wire)
{
	return EDDYI_TLS && eddyi_tls_wire_seals(wire);
}

static void drop_held(struct eddyi_wire *wire)
{
	free(wire->held);
	wire->held = NULL;
}

/* Before the task suspends for another reason, send as many held bytes as the socket takes. If the
 * peer does not read, the rest is sent before the next bytes. */
static void push_held(void *arg)
{
	struct eddyi_wire *wire = arg;
	ssize_t sent;

	if (!wire->held)
		return;
	if (EDDYI_TLS && seals(wire))
		sent = (ssize_t)eddyi_tls_wire_push(wire, wire->held + wire->held_at,
						    wire->held_len - wire->held_at);
	else
		sent = eddy_try_send(wire->fd, wire->held + wire->held_at,
				     wire->held_len - wire->held_at, 0);
	/* Ignore an error: the next send returns it. */
	if (sent > 0)
		wire->held_at += (uint32_t)sent;
	if (wire->held_at == wire->held_len)
		drop_held(wire);
}

void eddyi_wire_give_up(struct eddyi_wire *wire)
{
	push_held(wire);
	drop_held(wire);
	if (EDDYI_TLS && wire->tls)
		eddyi_tls_wire_end(wire);
}

void eddyi_wire_cut(struct eddyi_wire *wire)
{
	if (EDDYI_TLS && wire->tls)
		eddyi_tls_cut(wire->tls);
}

static int send_plain(struct eddyi_wire *wire, struct iovec *pieces, size_t count)
{
	while (count) {
		struct msghdr msg = { .msg_iov = pieces, .msg_iovlen = count };
		ssize_t sent = count == 1 ?
				       eddy_send(wire->fd, pieces->iov_base, pieces->iov_len, 0) :
				       eddy_sendmsg(wire->fd, &msg, 0);

		if (sent < 0)
			return (int)sent;
		eddy_timeout_touch(&wire->timeout);
		eddyi_wire_advance(&pieces, &count, (size_t)sent);
	}
	return 0;
}

static int send_pieces(struct eddyi_wire *wire, struct iovec *pieces, size_t count)
{
	int r;

	eddyi_wire_guard(wire, &wire->clocks->write);
	if (EDDYI_TLS && seals(wire))
		r = eddyi_tls_wire_sendv(wire, pieces, count);
	else
		r = send_plain(wire, pieces, count);
	eddyi_wire_unguard(wire);
	return r;
}

int eddyi_wire_flush(struct eddyi_wire *wire)
{
	char *held = wire->held;
	struct iovec piece;
	int r;

	/* There may be bytes that are already encrypted. */
	if (!held)
		return seals(wire) ? send_pieces(wire, NULL, 0) : 0;
	piece = (struct iovec){ held + wire->held_at, wire->held_len - wire->held_at };
	/* Being sent now: suspending must not push the bytes again. */
	wire->held = NULL;
	r = send_pieces(wire, &piece, 1);
	free(held);
	return r;
}

int eddyi_wire_sendv(struct eddyi_wire *wire, struct iovec *pieces, size_t count)
{
	uint64_t size = 0;
	int r = eddyi_wire_flush(wire);

	for (size_t i = 0; i < count; i++)
		size += pieces[i].iov_len;
	if (r == 0)
		r = send_pieces(wire, pieces, count);
	if (r == 0)
		wire->sent += size;
	return r;
}

int eddyi_wire_send(struct eddyi_wire *wire, const void *buf, size_t len)
{
	return eddyi_wire_sendv(wire, &(struct iovec){ (void *)buf, len }, 1);
}

/* Return: false if the bytes don't fit, or on allocation failure. */
static bool hold(struct eddyi_wire *wire, struct eddy_str bytes)
{
	if (!wire->held) {
		wire->held = malloc(EDDYI_HELD_SIZE);
		if (!wire->held)
			return false;
		wire->held_at = wire->held_len = 0;
	}
	if (bytes.len > EDDYI_HELD_SIZE - wire->held_len)
		return false;
	memcpy(wire->held + wire->held_len, bytes.ptr, bytes.len);
	wire->held_len += (uint32_t)bytes.len;
	wire->sent += bytes.len;
	return true;
}

/* Send what the socket takes without waiting; only the rest suspends. */
static int send_soon(struct eddyi_wire *wire, struct eddy_str bytes)
{
	ssize_t sent = 0;

	if (!seals(wire) && !wire->held && !eddy_is_cancelled())
		sent = eddy_try_send(wire->fd, bytes.ptr, bytes.len, 0);
	if (sent > 0) {
		wire->sent += (size_t)sent;
		bytes = eddy_str_skip(bytes, (size_t)sent);
	}
	return bytes.len ? eddyi_wire_send(wire, bytes.ptr, bytes.len) : 0;
}

int eddyi_wire_answer(struct eddyi_wire *wire, struct eddy_str bytes, bool more)
{
	if ((!more && !wire->held) || !hold(wire, bytes))
		return send_soon(wire, bytes);
	if (!more) {
		if (!seals(wire) && !eddy_is_cancelled())
			push_held(wire);
		return eddyi_wire_flush(wire);
	}
	eddyi_task_before_suspend(push_held, wire);
	return 0;
}

int eddyi_wire_send_file(struct eddyi_wire *wire, struct eddy_transfer *transfer)
{
	int r = eddyi_wire_flush(wire);

	if (r < 0)
		return r;
	eddyi_wire_guard(wire, &wire->clocks->write);
	transfer->socket = wire->fd;
	transfer->progress = &wire->timeout;
	if (EDDYI_TLS && seals(wire))
		r = eddyi_tls_wire_send_file(wire, transfer);
	else
		r = eddy_transfer_to_socket(transfer);
	eddyi_wire_unguard(wire);
	wire->sent += transfer->moved + (r == 0 ? transfer->head.len : 0);
	return r;
}

bool eddyi_wire_would_reset(const struct eddyi_wire *wire)
{
	int bytes = 0;

	/* Not SIOCOUTQ: bytes in flight arrive before any reset, acknowledged or not. */
	if (eddyi_ioctl_now(wire->fd, SIOCOUTQNSD, &bytes) == 0 && bytes > 0)
		return true;
	return eddyi_ioctl_now(wire->fd, SIOCINQ, &bytes) == 0 && bytes > 0;
}

/* Receive and discard. TCP discards with MSG_TRUNC; other sockets need a buffer.
 * Return: bytes; 0 at the end; -errno. */
static ssize_t throw_away(struct eddyi_wire *wire)
{
	ssize_t r = eddy_recv(wire->fd, NULL, EDDY_MIB, MSG_TRUNC);
	char buf[8 * EDDY_KIB];

	return r == -EFAULT ? eddy_recv(wire->fd, buf, sizeof(buf), 0) : r;
}

void eddyi_wire_linger(struct eddyi_wire *wire)
{
	struct eddy_scope scope;
	uint64_t thrown_away = 0;
	ssize_t r;

	eddyi_wire_give_up(wire);
	end_ahead(wire);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = LINGER_NS });
	if (eddy_shutdown(wire->fd, SHUT_WR) == 0) {
		do {
			r = throw_away(wire);
			if (r > 0)
				thrown_away += (uint64_t)r;
		} while (r > 0 && thrown_away < LINGER_MAX);
	}
	eddy_scope_end(&scope);
}
