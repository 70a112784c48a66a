/* Invariants:
 * 1. To a socket: nothing is held while waiting for the peer, except by SEND_ZC. Bytes that the
 *    socket did not accept are read from the file again.
 * 2. To a file: nothing is held while waiting for the peer, and a pipe or a buffer while waiting
 *    for a disk. Cancellation takes effect only when both are empty: bytes received from the socket
 *    are in the file, or the file refused them.
 * 3. A pipe returns to the pool empty, or is closed.
 */
#include <eddy/internal/outside.h>
#include <eddy/transfer.h>

#include <eddy/io.h>
#include <eddy/scope.h>

#include "coldness.h"
#include "transfer_state.h"

#include "core/loop.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

struct eddy_transfer_stats eddy_transfer_stats(void)
{
	return eddyi_loop()->transfer_stats;
}

/* Wait for the peer; counts a stall. Return: 0, -errno. */
static int await_peer(struct eddy_transfer *transfer, unsigned events)
{
	int r;

	eddyi_count(eddyi_loop()->transfer_stats.stalls, 1);
	r = eddy_poll(transfer->socket, events);
	return r < 0 ? r : 0;
}

/* ---- to a socket ---- */

static void set_cork(int fd, int on)
{
	/* Fails if the socket is not TCP; then there is nothing to cork. */
	eddyi_setsockopt_now(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
}

static int send_head(struct eddy_transfer *transfer, int flags)
{
	struct eddy_str head = transfer->head;
	ssize_t r;

	if (!head.len)
		return 0;
	/* Sent at once, to precede the spliced bytes. */
	r = eddyi_send_now(transfer->socket, head.ptr, head.len,
			   MSG_DONTWAIT | MSG_NOSIGNAL | flags);
	if (r < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	if (r > 0)
		head = eddy_str_skip(head, (size_t)r);
	if (!head.len)
		return 0;
	return eddy_send_all(transfer->socket, head.ptr, head.len, flags);
}

/* Read the range into the page cache through the ring. The loop's shared scratch buffer receives
 * the bytes, which are ignored. */
static int warm(struct eddy_transfer *transfer, uint64_t offset, size_t len)
{
	struct eddy_loop *loop = eddyi_loop();
	ssize_t r;

	if (!loop->scratch)
		loop->scratch = malloc(EDDY_MIB); /* the maximum of a turn */
	if (!loop->scratch)
		return -ENOMEM;
	while (len) {
		r = eddy_read(transfer->file, loop->scratch, len, offset);
		if (r < 0)
			return (int)r;
		if (r == 0)
			return 0;
		eddyi_count(loop->transfer_stats.warmed, (uint64_t)r);
		offset += (uint64_t)r;
		len -= (size_t)r;
	}
	return 0;
}

/* Whether the range is in the page cache. A positive answer is reused within the turn. */
static bool is_warm(const struct eddy_transfer *transfer, enum eddyi_coldness coldness,
		    uint64_t offset, size_t len)
{
	struct eddy_warmth *seen = transfer->warmth;
	uint64_t turn = eddyi_loop()->stats.turns;

	if (seen && seen->turn == turn && seen->offset <= offset && offset + len <= seen->end)
		return true;
	if (!eddyi_coldness_is_warm(coldness, transfer->file, offset, len))
		return false;
	if (seen)
		*seen = (struct eddy_warmth){ offset, offset + len, turn };
	return true;
}

static int send_body(struct eddyi_sending *sending, const struct eddyi_technique_out *how)
{
	const struct eddy_transfer_options *options = eddy_transfer_options();
	struct eddy_transfer *transfer = sending->transfer;
	bool asks = how->waits_for_disk && !options->no_warming;
	enum eddyi_coldness coldness = asks ? eddyi_coldness_of(transfer->file, transfer->device) :
					      EDDYI_ALWAYS_WARM;
	uint64_t warm_to = 0;

	while (transfer->moved < transfer->len) {
		uint64_t offset = transfer->offset + transfer->moved;
		uint64_t left = transfer->len - transfer->moved;
		size_t len = left < options->turn_max ? (size_t)left : options->turn_max;
		ssize_t r;

		/* Check each piece once, not again for its part that the socket did not accept. */
		if (offset + len > warm_to) {
			if (!is_warm(transfer, coldness, offset, len)) {
				int error = warm(transfer, offset, len);

				if (error < 0)
					return error;
			}
			warm_to = offset + len;
		}
		sending->full = false;
		r = how->push(sending, offset, len);
		if (r < 0)
			return (int)r;
		if (r > 0)
			eddyi_transfer_progressed(transfer, (size_t)r);
		if (transfer->moved == transfer->len)
			break;
		r = sending->full ? await_peer(transfer, POLLOUT) : eddy_yield();
		if (r < 0)
			return (int)r;
	}
	return 0;
}

static const struct eddyi_technique_out *choose(const struct eddy_transfer *transfer)
{
	const struct eddy_transfer_options *options = eddy_transfer_options();
	enum eddy_technique technique = transfer->technique ? transfer->technique :
							      options->technique;

	if (technique == EDDY_TECHNIQUE_AUTO)
		technique = transfer->len <= options->sendfile_out_max ? EDDY_TECHNIQUE_SENDFILE :
									 EDDY_TECHNIQUE_SPLICE;
	return eddyi_technique_out(technique);
}

int eddy_transfer_to_socket(struct eddy_transfer *transfer)
{
	const struct eddy_transfer_options *options = eddy_transfer_options();
	const struct eddyi_technique_out *how = choose(transfer);
	struct eddyi_sending sending = { .transfer = transfer };
	bool cork;
	int r;

	transfer->moved = 0;
	if (!how)
		return -EINVAL;
	if (eddy_is_cancelled())
		return -ECANCELED;
	cork = transfer->len >= options->corked_min && !how->no_cork;
	if (cork)
		set_cork(transfer->socket, 1);
	r = send_head(transfer, !cork && transfer->len && !how->no_cork ? MSG_MORE : 0);
	if (r == 0)
		r = send_body(&sending, how);
	if (how->settle)
		r = how->settle(&sending, r);
	if (cork)
		set_cork(transfer->socket, 0);
	/* The end of the file is on its way: let other tasks run. */
	if (r == 0)
		eddy_yield();
	return r;
}

/* ---- to a file ---- */

/* Pull once, not cancelled between the socket and the file. Never waits for the peer. */
static ssize_t pull_whole(struct eddy_transfer *transfer, const struct eddyi_technique_in *how,
			  struct eddyi_writer *writer, size_t len)
{
	struct eddy_scope shield;
	ssize_t r;

	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	r = how->pull(transfer, writer, len);
	eddy_scope_end(&shield);
	return r;
}

int eddy_transfer_to_file(struct eddy_transfer *transfer)
{
	const struct eddy_transfer_options *options = eddy_transfer_options();
	const struct eddyi_technique_in *how = eddyi_technique_in(
		transfer->technique ? transfer->technique : options->technique_in);
	struct eddyi_writer writer = { 0 };

	transfer->moved = 0;
	if (!how)
		return -EINVAL;
	if (eddy_is_cancelled())
		return -ECANCELED;
	writer.by_ring = writer.always = how->by_ring;
	writer.never = !how->by_ring &&
		       eddyi_coldness_of(transfer->file, transfer->device) == EDDYI_ALWAYS_WARM;
	while (transfer->moved < transfer->len) {
		uint64_t left = transfer->len - transfer->moved;
		ssize_t r = pull_whole(transfer, how, &writer,
				       left < options->turn_max ? (size_t)left : options->turn_max);

		if (r == -EAGAIN || r == -EINTR)
			r = await_peer(transfer, POLLIN);
		else if (r > 0 && transfer->moved < transfer->len)
			r = eddy_yield();
		if (r < 0)
			return (int)r;
	}
	return 0;
}
