/* The SEND_ZC technique from a file to a socket: the network card reads pages of the page cache.
 *
 * Invariants:
 * 1. Only one send at a time is unanswered: two could overtake each other.
 * 2. A piece is mapped from before its send until its last completion, which is the notification if
 *    bytes were sent. `busy` counts mapped pieces.
 * 3. settle() does not return while `busy` is not 0.
 */
#include "transfer_state.h"

#include <eddy/internal/outside.h>
#include <eddy/event.h>
#include <eddy/op.h>
#include <eddy/scope.h>

#include "core/loop.h"
#include "base/uapi.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Pieces sent and not acknowledged. */
#define PIECES 4

struct piece {
	struct eddy_op op;
	struct eddyi_zc *zc;
	struct eddyi_mapping mapping; /* .at is NULL if the piece is free */
	uint32_t sent;
};

struct eddyi_zc {
	struct piece pieces[PIECES];
	struct eddy_event changed;
	unsigned busy;
	int answer; /* result of the last send, once `answered` */
	bool answered;
	bool unreported; /* the kernel (before 6.2) does not report whether it copied */
};

static void completed(struct eddy_op *op, int result, unsigned flags)
{
	struct piece *piece = eddy_of(op, struct piece, op);
	struct eddyi_zc *zc = piece->zc;

	if (!(flags & IORING_CQE_F_NOTIF)) {
		zc->answer = result;
		zc->answered = true;
		piece->sent = result > 0 ? (uint32_t)result : 0;
	} else if ((unsigned)result & EDDYI_NOTIF_ZC_COPIED) {
		eddyi_count(eddyi_loop()->transfer_stats.zc_copied, piece->sent);
	}
	if (!(flags & IORING_CQE_F_MORE)) {
		munmap(piece->mapping.at, piece->mapping.size);
		piece->mapping.at = NULL;
		zc->busy--;
	}
	eddy_event_set(&zc->changed);
}

static int await_change(struct eddyi_zc *zc)
{
	eddy_event_clear(&zc->changed);
	return eddy_event_wait(&zc->changed);
}

static struct eddyi_zc *zc_of(struct eddyi_sending *sending)
{
	if (!sending->zc) {
		sending->zc = calloc(1, sizeof(*sending->zc));
		if (sending->zc)
			eddy_event_init(&sending->zc->changed);
	}
	return sending->zc;
}

/* Wait for a free piece. Return: NULL if cancelled meanwhile. */
static struct piece *take_piece(struct eddyi_zc *zc)
{
	while (zc->busy == PIECES)
		if (await_change(zc) < 0)
			return NULL;
	for (size_t i = 0; i < PIECES; i++)
		if (!zc->pieces[i].mapping.at)
			return &zc->pieces[i];
	return NULL;
}

static void start(struct eddyi_zc *zc, struct piece *piece, int socket)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&piece->op, completed);

	piece->zc = zc;
	zc->answered = false;
	zc->busy++;
	io_uring_prep_send_zc(sqe, socket, piece->mapping.bytes, piece->mapping.len, MSG_NOSIGNAL,
			      zc->unreported ? 0 : EDDYI_SEND_ZC_REPORT_USAGE);
	eddy_op_start(&piece->op, sqe);
}

/* Wait for the answer to the last send, and cancel it with the scope. */
static int await_answer(struct eddyi_zc *zc, struct piece *piece)
{
	struct eddy_scope shield;

	while (!zc->answered) {
		if (await_change(zc) == 0)
			continue;
		eddy_op_cancel(&piece->op);
		eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
		while (!zc->answered)
			await_change(zc);
		eddy_scope_end(&shield);
	}
	return zc->answer;
}

static ssize_t push_zc(struct eddyi_sending *sending, uint64_t offset, size_t len)
{
	struct eddyi_zc *zc = zc_of(sending);
	struct piece *piece;
	int r;

	if (!zc)
		return -ENOMEM;
	piece = take_piece(zc);
	if (!piece || eddy_is_cancelled())
		return -ECANCELED;
	r = eddyi_map(sending->transfer->file, offset, len, &piece->mapping);
	if (r < 0)
		return r == -ENODEV ? eddyi_push_mapped(sending, offset, len) : r;
	start(zc, piece, sending->transfer->socket);
	r = await_answer(zc, piece);
	if (r == -EINVAL && !zc->unreported) {
		zc->unreported = true;
		return 0; /* retry without reporting */
	}
	/* Not supported by the socket, or the limit of locked memory is reached. */
	if (r == -EOPNOTSUPP || r == -ENOMEM || r == -ENOBUFS)
		return eddyi_push_mapped(sending, offset, len);
	if (r == -EFAULT)
		return -ENODATA; /* truncated by whole pages after its length was read */
	if (r == -EINTR)
		return 0;
	if (r > 0)
		eddyi_count(eddyi_loop()->transfer_stats.zc_out, (uint64_t)r);
	return r;
}

/* Reset the connection, which would keep memory until the peer has acknowledged it. */
static void reset_connection(int socket)
{
	struct sockaddr nobody = { .sa_family = AF_UNSPEC };

	/* The length of the family only: a sandbox refuses others. */
	eddyi_connect_now(socket, &nobody, sizeof(nobody.sa_family));
}

static int settle_zc(struct eddyi_sending *sending, int r)
{
	struct eddyi_zc *zc = sending->zc;
	bool cancelled = false;
	struct eddy_scope shield;

	if (!zc)
		return r;
	/* Also after an error: the bytes sent before it must arrive. */
	while (zc->busy && !cancelled)
		cancelled = await_change(zc) < 0;
	if (zc->busy) {
		reset_connection(sending->transfer->socket);
		eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
		while (zc->busy)
			await_change(zc);
		eddy_scope_end(&shield);
	}
	free(zc);
	return r == 0 && cancelled ? -ECANCELED : r;
}

const struct eddyi_technique_out eddyi_send_zc = {
	.push = push_zc,
	.settle = settle_zc,
	.waits_for_disk = true,
	.no_cork = true,
};
