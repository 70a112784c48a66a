/* tls_wire.h: how the bytes of a wire pass through its TLS session. wire.c calls it, with its clock armed;
 * who has the connection calls it for the handshake. */
#ifndef EDDYI_TLS_WIRE_H
#define EDDYI_TLS_WIRE_H

#include "tls/tls.h"
#include "wire_state.h"

struct eddy_transfer;

/* Whether bytes are encrypted here before they are sent. */
static inline bool eddyi_tls_wire_seals(const struct eddyi_wire *wire)
{
	return wire->tls && !wire->tls->kernel_sends;
}

/* Do what is due of the handshake, and send what comes of it. Suspends. Return: as eddyi_tls_shake(), less
 * -ENOBUFS; -errno of the socket. */
int eddyi_tls_wire_shake(struct eddyi_wire *wire);

/* Shake hands as a client, to the end. Suspends. Return: 0; -ECONNRESET when the server has ended; as
 * eddyi_tls_shake(). */
int eddyi_tls_wire_connect(struct eddyi_wire *wire);

/* Whether nothing has come that is for a reader, nor an end. Never suspends. */
bool eddyi_tls_wire_is_quiet(struct eddyi_wire *wire);

/* Receive up to `len` bytes; what comes extends the time that the wire has, if it is this task's. Suspends.
 * Return: bytes, 0 when the peer has ended, -errno. */
ssize_t eddyi_tls_wire_recv(struct eddyi_wire *wire, void *buf, size_t len, bool extends_time);

/* Send all of several pieces, and what was left before; `pieces` is used up. Suspends.
 * Return: 0, -errno. */
int eddyi_tls_wire_sendv(struct eddyi_wire *wire, struct iovec *pieces, size_t count);

/* Send as eddy_transfer_to_socket() does. Suspends. Return: as that. */
int eddyi_tls_wire_send_file(struct eddyi_wire *wire, struct eddy_transfer *transfer);

/* What decrypted bytes are handed to. Return: 0 when it wants more. */
typedef int eddyi_tls_wire_take_fn(void *arg, const char *bytes, size_t len);

/* Decrypt what is here, and hand it on until `take` wants no more. Never suspends.
 * Return: 0 when more must be received first, -errno; as `take`. */
int eddyi_tls_wire_drain(struct eddyi_wire *wire, eddyi_tls_wire_take_fn *take, void *arg);

/* Encrypt as many of the bytes as there is room for, and send what the socket takes now.
 * Return: bytes encrypted. */
size_t eddyi_tls_wire_push(struct eddyi_wire *wire, const void *buf, size_t len);

/* Say goodbye, if anything can be said, and send what the socket takes now. */
void eddyi_tls_wire_end(struct eddyi_wire *wire);

#endif
