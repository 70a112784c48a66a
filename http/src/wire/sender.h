/* sender.h: sends the bytes of a wire from the loop's stack, where no task can wait. The socket
 * gets at once what it takes without waiting; an op sends the rest. */
#ifndef EDDYI_SENDER_H
#define EDDYI_SENDER_H

#include "wire_state.h"

#include <eddy/op.h>

struct eddyi_sender;

/* Functions of its owner, who has the bytes. None of them suspends. */
struct eddyi_sender_verbs {
	/* Get the next bytes, which stay valid until they are taken. .len 0: there are none. */
	struct eddy_str (*next)(struct eddyi_sender *sender);
	/* The first `len` of them have been sent, or encrypted. */
	void (*take)(struct eddyi_sender *sender, size_t len);
	/* An op has ended, and no other is started. `error` is 0, or -errno if nothing more can be
	 * sent. */
	void (*ended)(struct eddyi_sender *sender, int error);
};

/* Invariants:
 * 1. `op` sends the first bytes of next(), or encrypted ones, or waits for room.
 * 2. After eddyi_sender_flow() it is started, unless all bytes are sent. */
struct eddyi_sender {
	const struct eddyi_sender_verbs *verbs;
	struct eddyi_wire *wire; /* NULL: nothing is sent yet */
	struct eddy_op op;
	uint64_t since_ns; /* when `op` was started */
	bool is_full;      /* the socket has taken less than it was given */
	bool awaits_room;  /* set by next(): it has bytes once the socket has room */
};

/* Whether something is being sent by an op. */
static inline bool eddyi_sender_is_busy(const struct eddyi_sender *sender)
{
	return eddy_op_is_started(&sender->op);
}

/* Send pieces that precede those of next(), as far as that goes without waiting.
 * Return: bytes; 0 if others must be sent before, or the session must encrypt them. */
size_t eddyi_sender_try(struct eddyi_sender *sender, struct iovec *pieces, size_t count);

/* Send what next() has, unless an op is started. Errors are told by ended(), later. */
void eddyi_sender_flow(struct eddyi_sender *sender);

/* Get how long nothing has been sent though there were bytes to send; 0: there are none. */
uint64_t eddyi_sender_stalled_ns(const struct eddyi_sender *sender);

#endif
