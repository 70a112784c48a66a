/* wire.h: the bytes of one connection, in and out, each with its time limit. */
#ifndef EDDYI_WIRE_H
#define EDDYI_WIRE_H

#include "clocks.h"

#include <eddy/str.h>
#include <sys/uio.h>

/* What has arrived before anybody wants it is kept, up to this; then reading stops. */
#define EDDYI_INBOX_SIZE ((size_t)(16 * EDDY_KIB))

/* Answers that are held back while the next request is here already, up to this. */
#define EDDYI_HELD_SIZE ((size_t)(16 * EDDY_KIB))

struct eddy_transfer;
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
	struct eddyi_tls *tls; /* owned by the connection; NULL: a plain one */
	char *inbox;           /* EDDYI_INBOX_SIZE bytes, or NULL when nothing is in it */
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

/* The bytes that have arrived and not been read. */
struct eddy_str eddyi_wire_pending(const struct eddyi_wire *wire);

/* `len` of them have been read. */
void eddyi_wire_consume(struct eddyi_wire *wire, size_t len);

/* Keep bytes behind those in the inbox; they fit. Return: false when memory is out. */
bool eddyi_wire_keep(struct eddyi_wire *wire, struct eddy_str bytes);

/* Limit what the current task does next by the time of `queue`, and lift the limit. */
void eddyi_wire_guard(struct eddyi_wire *wire, struct eddy_timeout_queue *queue);
void eddyi_wire_unguard(struct eddyi_wire *wire);

/* Look whether the peer has taken anything since the last look, and go on waiting if it may still do so.
 * Return: whether it has had its time. */
bool eddyi_wire_has_stalled(struct eddyi_wire *wire);

/* Receive up to `len` bytes into `buf`, or take what has come ahead meanwhile; the inbox is empty. Limited by
 * the body clock. Suspends.
 * Return: bytes, -ECONNRESET when the client has ended, -errno. */
ssize_t eddyi_wire_recv(struct eddyi_wire *wire, void *buf, size_t len);

/* The same, and leave it in the inbox. Otherwise as eddyi_wire_recv(). */
ssize_t eddyi_wire_fill(struct eddyi_wire *wire);

/* The same without a limit, for a task that looks out while another one sends. */
ssize_t eddyi_wire_fill_unguarded(struct eddyi_wire *wire);

/* Whether the peer has ended its stream, over TLS by saying so: nothing was cut off. */
bool eddyi_wire_has_ended(const struct eddyi_wire *wire);

/* Send all of it. Limited by the write clock. Suspends. Return: 0, -errno. */
int eddyi_wire_send(struct eddyi_wire *wire, const void *buf, size_t len);

/* Send all of several pieces, as one where it fits; `pieces` is used up. Otherwise as
 * eddyi_wire_send(). */
int eddyi_wire_sendv(struct eddyi_wire *wire, struct iovec *pieces, size_t count);

/* Send a part of a file, and `transfer->head` in front of it. Limited by the write clock. Suspends.
 * Return: as eddy_transfer_to_socket(). */
int eddyi_wire_send_file(struct eddyi_wire *wire, struct eddy_transfer *transfer);

/* Whether what arrives next may go to a file without passing through the program: from then on nothing is
 * received ahead. May suspend. */
bool eddyi_wire_can_splice(struct eddyi_wire *wire);

/* Take `sent` bytes off the front of the pieces. */
void eddyi_wire_advance(struct iovec **pieces, size_t *count, size_t sent);

/* Whether some of what was sent still waits in this machine: a close now could lose it. */
bool eddyi_wire_has_unsent(const struct eddyi_wire *wire);

/* Send an answer, or hold it back when `more` will follow at once: answers to pipelined requests share
 * their segments. Otherwise as eddyi_wire_send(). */
int eddyi_wire_answer(struct eddyi_wire *wire, struct eddy_str bytes, bool more);

/* Send what is held. Limited by the write clock. Suspends. Return: 0, -errno. */
int eddyi_wire_flush(struct eddyi_wire *wire);

/* Send of what is held as much as the socket takes now, and forget the rest: the connection ends. */
void eddyi_wire_give_up(struct eddyi_wire *wire);

/* Let the connection end without a goodbye: what has been sent is not the whole. */
void eddyi_wire_cut(struct eddyi_wire *wire);

/* Say that nothing more will be sent, and read on for a while: a close while the client still sends
 * would reset the connection and take the answer with it (RFC 9112 section 9.6). Suspends. */
void eddyi_wire_linger(struct eddyi_wire *wire);

#endif
