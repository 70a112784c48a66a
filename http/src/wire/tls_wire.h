/* tls_wire.h: sends and receives the bytes of a wire through its TLS session. wire.c calls it with
 * a timeout armed, and the connection's owner calls it for the handshake. */
#ifndef EDDYI_TLS_WIRE_H
#define EDDYI_TLS_WIRE_H

#include "tls/tls.h"
#include "wire_state.h"

struct eddy_transfer;

/* Whether this process encrypts sent bytes; else the kernel does. */
static inline bool eddyi_tls_wire_seals(const struct eddyi_wire *wire)
{
	return wire->tls && !wire->tls->kernel_sends;
}

/* Do the due step of the handshake, and send its result. Suspends.
 * Return: as eddyi_tls_shake(), except -ENOBUFS; -errno of the socket. */
int eddyi_tls_wire_shake(struct eddyi_wire *wire);

/* Do a client's whole handshake. Suspends.
 * Return: 0; -ECONNRESET if the server has closed the connection; as eddyi_tls_shake(). */
int eddyi_tls_wire_connect(struct eddyi_wire *wire);

/* Whether neither data nor the end has arrived. Never suspends. */
bool eddyi_tls_wire_is_quiet(struct eddyi_wire *wire);

/* Receive up to `len` bytes. If `extends_time`, received bytes restart the wire's timeout.
 * Suspends. Return: bytes; 0 if the peer has ended the stream; -errno. */
ssize_t eddyi_tls_wire_recv(struct eddyi_wire *wire, void *buf, size_t len, bool extends_time);

/* Send all pieces, after earlier bytes; `pieces` is modified. Suspends. Return: 0, -errno. */
int eddyi_tls_wire_sendv(struct eddyi_wire *wire, struct iovec *pieces, size_t count);

/* Send as eddy_transfer_to_socket() does. Suspends. */
int eddyi_tls_wire_send_file(struct eddyi_wire *wire, struct eddy_transfer *transfer);

/* Handles decrypted bytes. Return: 0 to continue. */
typedef int eddyi_tls_wire_take_fn(void *arg, const char *bytes, size_t len);

/* Decrypt what has arrived, and pass it to `take` until that stops. Never suspends.
 * Return: 0 if more must be received; -errno; as `take`. */
int eddyi_tls_wire_drain(struct eddyi_wire *wire, eddyi_tls_wire_take_fn *take, void *arg);

/* Pass received bytes to `take`, decrypted if need be, with those that the session has. Never
 * suspends.
 * Return: as eddyi_tls_wire_drain(); -ENOMEM. */
static inline int eddyi_tls_wire_take(struct eddyi_wire *wire, struct eddy_str bytes,
				      eddyi_tls_wire_take_fn *take, void *arg)
{
	int r = 0;

	if (!EDDYI_TLS || !wire->tls)
		return bytes.len ? take(arg, bytes.ptr, bytes.len) : 0;
	if (bytes.len)
		r = eddyi_tls_feed(wire->tls, bytes.ptr, bytes.len);
	return r < 0 ? r : eddyi_tls_wire_drain(wire, take, arg);
}

/* Encrypt as many bytes as fit, and send without waiting. Return: bytes encrypted. */
size_t eddyi_tls_wire_push(struct eddyi_wire *wire, const void *buf, size_t len);

/* Send close_notify if possible, as far as the socket takes it without waiting. */
void eddyi_tls_wire_end(struct eddyi_wire *wire);

#endif
