/* wire.h: receives and sends the bytes of a connection, with timeouts. */
#ifndef EDDYI_WIRE_H
#define EDDYI_WIRE_H

#include "wire_state.h"

struct eddy_transfer;

/* Get the bytes received and not yet consumed. */
struct eddy_str eddyi_wire_pending(const struct eddyi_wire *wire);

void eddyi_wire_consume(struct eddyi_wire *wire, size_t len);

/* Append bytes to the inbox, where they fit. Return: false on allocation failure. */
bool eddyi_wire_keep(struct eddyi_wire *wire, struct eddy_str bytes);

/* Arm the wire's timeout in `queue` for what the current task does next, and disarm it. */
void eddyi_wire_guard(struct eddyi_wire *wire, struct eddy_timeout_queue *queue);
void eddyi_wire_unguard(struct eddyi_wire *wire);

/* Get the number of bytes that the peer has acknowledged.
 * Return: false if the socket is not TCP. */
bool eddyi_wire_acked(const struct eddyi_wire *wire, uint64_t *ret_bytes);

/* Check whether the peer has taken anything since the last check, and rearm the timeout if it has
 * time left.
 * Return: whether its time is up. */
bool eddyi_wire_has_stalled(struct eddyi_wire *wire);

/* Receive up to `len` bytes, or take what has been received ahead; the inbox is empty. Limited by
 * the body timeout. Suspends.
 * Return: bytes; -ECONNRESET if the client has ended the stream; -errno. */
ssize_t eddyi_wire_recv(struct eddyi_wire *wire, void *buf, size_t len);

/* Receive into the inbox. Otherwise as eddyi_wire_recv(). */
ssize_t eddyi_wire_fill(struct eddyi_wire *wire);

/* Like eddyi_wire_fill(), without a timeout, for a task that watches while another one sends. */
ssize_t eddyi_wire_fill_unguarded(struct eddyi_wire *wire);

/* Whether the peer has ended its stream, with TLS by a close_notify, so that nothing is missing. */
bool eddyi_wire_has_ended(const struct eddyi_wire *wire);

/* Send all bytes. Limited by the write timeout. Suspends. Return: 0, -errno. */
int eddyi_wire_send(struct eddyi_wire *wire, const void *buf, size_t len);

/* Send several pieces, joined if possible; `pieces` is modified. Otherwise as eddyi_wire_send(). */
int eddyi_wire_sendv(struct eddyi_wire *wire, struct iovec *pieces, size_t count);

/* Send `transfer->head` and a part of a file. Limited by the write timeout. Suspends.
 * Return: as eddy_transfer_to_socket(). */
int eddyi_wire_send_file(struct eddyi_wire *wire, struct eddy_transfer *transfer);

/* Get how much the socket takes at once: none before it polls as writable. Never suspends. */
size_t eddyi_wire_room(const struct eddyi_wire *wire);

/* Whether the next bytes may be spliced to a file. Ends receiving ahead. May suspend. */
bool eddyi_wire_can_splice(struct eddyi_wire *wire);

/* Whether a close could cost the client a part of the response: sent bytes are still queued on this
 * machine, or received ones are unread, for which the kernel resets the connection. */
bool eddyi_wire_would_reset(const struct eddyi_wire *wire);

/* Send a response, or hold it back if `more` follows, so that pipelined responses share segments.
 * Otherwise as eddyi_wire_send(). */
int eddyi_wire_answer(struct eddyi_wire *wire, struct eddy_str bytes, bool more);

/* Send the held bytes. Limited by the write timeout. Suspends. Return: 0, -errno. */
int eddyi_wire_flush(struct eddyi_wire *wire);

/* Send held bytes without waiting, and discard the rest: the connection ends. */
void eddyi_wire_give_up(struct eddyi_wire *wire);

/* Make the connection end without a close_notify: its response is incomplete. */
void eddyi_wire_cut(struct eddyi_wire *wire);

/* End the sending side, and read on for a while: closing while the client still sends would reset
 * the connection and lose the response (RFC 9112 section 9.6). Suspends. */
void eddyi_wire_linger(struct eddyi_wire *wire);

#endif
