/* Filling of a file being received, with bytes and with bodies from the connection. */
#include "incoming.h"

#include "wire/body.h"
#include "wire/wire.h"

#include <eddy/internal/transfer.h>
#include <eddy/file.h>
#include <eddy/transfer.h>
#include <errno.h>
#include <linux/falloc.h>
#include <stdlib.h>

/* Disk space is allocated in these steps ahead of received bytes, never for an announced length. */
#define RESERVE_FROM EDDY_MIB
#define RESERVE_STEP (16 * EDDY_MIB)
/* Write sizes for a decrypted body: each write takes a ring worker, unless the file is in
 * memory. */
#define COPY_MIN (16 * EDDY_KIB)
#define COPY_MAX (256 * EDDY_KIB)

static int reserve(struct eddyi_incoming *incoming, uint64_t len)
{
	int r;

	if (!incoming->can_reserve || incoming->written < incoming->reserved)
		return 0;
	if (len > RESERVE_STEP)
		len = RESERVE_STEP;
	r = eddy_fallocate(incoming->fd, FALLOC_FL_KEEP_SIZE, incoming->written, len);
	if (r == -EOPNOTSUPP || r == -ENOSYS) {
		incoming->can_reserve = false;
		return 0;
	}
	if (r == 0)
		incoming->reserved = incoming->written + len;
	return r;
}

static bool is_too_much(const struct eddyi_incoming *incoming, uint64_t len)
{
	return len > incoming->max - incoming->written;
}

int eddyi_incoming_write(struct eddyi_incoming *incoming, const void *buf, size_t len)
{
	int r;

	if (is_too_much(incoming, len))
		return -EFBIG;
	r = eddy_transfer_write(incoming->fd, buf, len, incoming->written);
	if (r == 0)
		incoming->written += len;
	return r;
}

/* Append `len` bytes of the body from the socket by splice. Received bytes are taken from the body,
 * also on failure. Suspends. Return: 0, -EFBIG, -ENOSPC, -ECONNRESET, -errno. */
static int receive(struct eddyi_incoming *incoming, struct eddyi_wire *wire,
		   struct eddyi_body *body, uint64_t len)
{
	int r = 0;

	if (is_too_much(incoming, len))
		return -EFBIG;
	while (len && r == 0) {
		uint64_t step = len < RESERVE_STEP ? len : RESERVE_STEP;
		struct eddy_transfer transfer = {
			.socket = wire->fd,
			.file = incoming->fd,
			.progress = &wire->timeout,
		};

		/* Allocate only after the client has sent some bytes. */
		if (incoming->written < RESERVE_FROM && step > RESERVE_FROM)
			step = RESERVE_FROM;
		else if (incoming->written >= RESERVE_FROM)
			r = reserve(incoming, len);
		if (r < 0)
			break;
		transfer.offset = incoming->written;
		transfer.len = step;
		eddyi_wire_guard(wire, &wire->clocks->body);
		if (wire->pace)
			wire->pace->arriving = &transfer.moved;
		r = eddy_transfer_to_file(&transfer);
		if (wire->pace)
			wire->pace->arriving = NULL;
		eddyi_wire_unguard(wire);
		incoming->written += transfer.moved;
		eddyi_body_took(body, wire, transfer.moved, false);
		len -= transfer.moved;
	}
	return r == -ENODATA ? -ECONNRESET : r;
}

/* Small pieces of a body, written together. */
struct gathered {
	size_t len;
	char bytes[4096];
};

static int write_gathered(struct eddyi_incoming *incoming, struct gathered *gathered)
{
	size_t len = gathered->len;

	if (!len)
		return 0;
	gathered->len = 0;
	return eddyi_incoming_write(incoming, gathered->bytes, len);
}

static int gather(struct eddyi_incoming *incoming, struct gathered *gathered, struct eddy_str piece)
{
	int r = 0;

	if (piece.len > sizeof(gathered->bytes) - gathered->len)
		r = write_gathered(incoming, gathered);
	if (r < 0)
		return r;
	if (piece.len > sizeof(gathered->bytes))
		return eddyi_incoming_write(incoming, piece.ptr, piece.len);
	memcpy(gathered->bytes + gathered->len, piece.ptr, piece.len);
	gathered->len += piece.len;
	return 0;
}

/* Append the next `left` bytes, or a part of them, through user memory in one write. */
static int copy(struct eddyi_incoming *incoming, struct eddyi_wire *wire, struct eddyi_body *body,
		uint64_t left)
{
	/* Larger writes for larger bodies. */
	uint64_t most = incoming->written / 4, len = 0;
	size_t size;
	char *buf;
	ssize_t r;

	most = most < COPY_MIN ? COPY_MIN : most > COPY_MAX ? COPY_MAX : most;
	size = (size_t)(left < most ? left : most);
	buf = malloc(size);
	r = buf ? 1 : -ENOMEM;
	while (r > 0 && len < size) {
		r = eddyi_body_read(body, wire, buf + len, size - (size_t)len);
		len += r > 0 ? (uint64_t)r : 0;
	}
	if (r >= 0)
		r = eddyi_incoming_write(incoming, buf, (size_t)len);
	free(buf);
	return (int)r;
}

int eddyi_incoming_receive_body(struct eddyi_incoming *incoming, struct eddyi_wire *wire,
				struct eddyi_body *body)
{
	struct gathered gathered;

	gathered.len = 0;
	for (;;) {
		struct eddy_str here;
		uint64_t left;
		int r = eddyi_body_next(body, wire, &here, &left);

		if (r <= 0)
			return r ? r : write_gathered(incoming, &gathered);
		if (here.len) {
			r = gather(incoming, &gathered, here);
			if (r < 0)
				return r;
			eddyi_body_took(body, wire, here.len, true);
		} else if (!eddyi_transfer_copies_in(left) && eddyi_wire_can_splice(wire)) {
			r = write_gathered(incoming, &gathered);
			if (r < 0)
				return r;
			r = receive(incoming, wire, body, left);
			if (r < 0) {
				/* The socket has lost bytes that the file did not get, so the
				 * beginning of the next request is unknown. */
				eddyi_body_fail(body, r);
				return r;
			}
		} else if (left > sizeof(gathered.bytes)) {
			r = write_gathered(incoming, &gathered);
			if (r == 0)
				r = copy(incoming, wire, body, left);
			if (r < 0)
				return r;
		} else {
			ssize_t filled = eddyi_wire_fill(wire);

			if (filled < 0) {
				eddyi_body_fail(body, (int)filled);
				return (int)filled;
			}
		}
	}
}
