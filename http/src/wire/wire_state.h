/* wire_state.h: the bytes and timeouts of a connection. */
#ifndef EDDYI_WIRE_STATE_H
#define EDDYI_WIRE_STATE_H

#include "clocks.h"

#include <eddy/str.h>
#include <sys/uio.h>

/* Bytes received before they are needed are kept up to this limit; then reading stops. */
#define EDDYI_INBOX_SIZE ((size_t)(16 * EDDY_KIB))

/* Limit of responses held back while the next request has already arrived. */
#define EDDYI_HELD_SIZE ((size_t)(16 * EDDY_KIB))

struct eddyi_pace;
struct eddyi_tls;
struct eddy_event;
struct eddy_op;

/* Invariants:
 * 1. The inbox is read before the socket. A task receives only while nothing receives `ahead` and
 *    the inbox is empty. Bytes received ahead are appended to the inbox, where they always fit.
 * 2. Held bytes are sent before others, and before the task suspends for another reason.
 * 3. `timeout` is in one queue at a time: that of the current wait.
 * 4. With `tls`, the inbox and the held bytes are plain text; encrypted bytes are in `tls`. */
struct eddyi_wire {
	struct eddyi_clocks *clocks;
	struct eddy_timeout timeout;
	struct eddyi_pace *pace; /* NULL: no minimum rate */
	struct eddyi_tls *tls;   /* owned by the connection; NULL: no TLS */
	char *inbox;             /* EDDYI_INBOX_SIZE bytes; NULL if empty */
	uint32_t inbox_at;
	uint32_t inbox_len;
	/* Receives into the inbox while a task owns the connection; NULL: none. */
	struct eddy_op *ahead;
	/* Set when `ahead` has ended; NULL: nothing waits for that. */
	struct eddy_event *alone;
	char *held; /* EDDYI_HELD_SIZE bytes; NULL if empty */
	uint32_t held_at;
	uint32_t held_len;
	int fd;
	uint64_t sent;      /* bytes of responses before encryption, including held ones */
	unsigned looks;     /* consecutive checks without progress of the peer */
	uint64_t taken;     /* bytes acknowledged at the last check */
	uint64_t looked_ns; /* time of the last check, as of `timeout` */
	bool ended;         /* the peer has ended its stream */
	bool lost;          /* received bytes were lost on allocation failure */
};

/* Remove `sent` bytes from the front of the pieces. */
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
