/* wire_state.h: a connection's bytes and clocks, as this layer's files see them. */
#ifndef EDDYI_WIRE_STATE_H
#define EDDYI_WIRE_STATE_H

#include "clocks.h"

#include <eddy/str.h>
#include <sys/uio.h>

/* What has arrived before anybody wants it is kept, up to this; then reading stops. */
#define EDDYI_INBOX_SIZE ((size_t)(16 * EDDY_KIB))

/* Answers that are held back while the next request is here already, up to this. */
#define EDDYI_HELD_SIZE ((size_t)(16 * EDDY_KIB))

struct eddyi_tls;
struct eddyi_end;
struct eddy_event;
struct eddy_op;

/* Invariants:
 * 1. The inbox is read before the socket. A task receives only while nobody receives `ahead` and the inbox
 *    is empty; what is received ahead goes behind what is in the inbox, and always fits.
 * 2. What is held is sent before anything else is, and before the task suspends for another reason.
 * 3. `timeout` is in one queue at a time: what the connection waits for now.
 * 4. With `tls`, the inbox and what is held are plain text; what is encrypted stays in there.
 */
struct eddyi_wire {
	struct eddyi_clocks *clocks;
	struct eddy_timeout timeout;
	struct eddyi_pace *pace; /* NULL: the peer may take its time */
	struct eddyi_tls *tls;   /* owned by the connection; NULL: a plain one */
	char *inbox;             /* EDDYI_INBOX_SIZE bytes, or NULL when nothing is in it */
	uint32_t inbox_at;
	uint32_t inbox_len;
	struct eddy_op *
		ahead; /* receives into the inbox while a task has the connection; NULL: nothing does */
	struct eddy_event
		*alone; /* to be set when `ahead` has ended; NULL where nobody waits for that */
	char *held;     /* EDDYI_HELD_SIZE bytes, or NULL when nothing is in it */
	uint32_t held_at;
	uint32_t held_len;
	const char *bound;     /* the address that it was accepted at, as typed */
	struct eddyi_end *end; /* owned by the connection; NULL: nobody has asked yet */
	int fd;
	uint64_t sent;      /* bytes of answers before encryption, those that are held included */
	unsigned looks;     /* in a row at which the peer had taken nothing more */
	uint64_t taken;     /* bytes that it had taken at the last look */
	uint64_t looked_ns; /* when that was, in the clock of `timeout` */
	bool last;          /* no request will be read after the one that is being answered */
	bool ended;         /* the peer sends nothing any more */
	bool lost;          /* bytes that came there was no memory for */
};

/* Take `sent` bytes off the front of the pieces. */
static inline void eddyi_wire_advance(struct iovec **pieces, size_t *count, size_t sent)
{
	while (*count && sent >= (*pieces)->iov_len) {
		sent -= (*pieces)->iov_len;
		++*pieces;
		--*count;
	}
	if (*count) {
		(*pieces)->iov_base = (char *)(*pieces)->iov_base + sent;
		(*pieces)->iov_len -= sent;
	}
}

#endif
