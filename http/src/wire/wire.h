/* wire.h: the bytes of one connection, in and out, each with its time limit. */
#ifndef EDDYI_WIRE_H
#define EDDYI_WIRE_H

#include "wire_state.h"

struct eddy_transfer;

/* The bytes that have arrived and not been read. */
struct eddy_str eddyi_wire_pending(const struct eddyi_wire *wire);

/* `len` of them have been read. */
void eddyi_wire_consume(struct eddyi_wire *wire, size_t len);

/* Keep bytes behind those in the inbox; they fit. Return: false when memory is out. */
bool eddyi_wire_keep(struct eddyi_wire *wire, struct eddy_str bytes);

/* Limit what the current task does next by the time of `queue`, and lift the limit. */
void eddyi_wire_guard(struct eddyi_wire *wire, struct eddy_timeout_queue *queue);
void eddyi_wire_unguard(struct eddyi_wire *wire);

/* The bytes that the peer has acknowledged. Return: false when the socket is not TCP. */
bool eddyi_wire_acked(const struct eddyi_wire *wire, uint64_t *ret_bytes);

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
