/* tls.h: one end of a TLS session between two buffers; it uses no socket.
 *
 * Received bytes are put into `in`, and bytes to send appear in `out` (tls_buffers.h). The library
 * needs deep stacks, so its calls run on the loop's stack. Handshake steps run there too if all
 * keys are quick; otherwise on the offload pool, since they may take milliseconds. */
#ifndef EDDYI_TLS_H
#define EDDYI_TLS_H

#include "accelerated.h"
#include "flight.h"
#include "hello.h"
#include "tls_buffers.h"

#include <eddy/str.h>

struct WOLFSSL;
struct eddyi_tls_setup;

enum eddyi_tls_state {
	EDDYI_TLS_GREETING, /* the client's first message is arriving; no session */
	EDDYI_TLS_SHAKING,
	EDDYI_TLS_OPEN,
	EDDYI_TLS_BROKEN, /* nothing is sent, not even a close_notify */
};

/* Invariants:
 * 1. While `sending`, a task waits to send `out`. Another task that reads meanwhile may append to
 *    it, but does not send.
 * 2. `session` is NULL in GREETING, a state only of servers. While a thread of the offload pool
 *    runs a step, only that thread uses the structure. */
struct eddyi_tls {
	struct eddyi_tls_setup *setup; /* NULL: a client's end */
	struct WOLFSSL *session;
	struct eddyi_tls_buffers buffers;
	struct eddyi_flight flight;
	uint32_t shaken; /* received bytes of the handshake */
	uint16_t early;  /* bytes sent in short records since the start or a pause */
	uint64_t written_ns;
	uint8_t steps; /* of the handshake so far */
	uint8_t state;
	bool answered; /* the session has sent something */
	bool skips;    /* discards early data until the handshake continues */
	/* Size of the record that continues it; 0: another hello does. */
	uint8_t finished_len;
	bool refuses; /* a record of the peer was rejected: no other is read */
	bool sending;
	bool kernel_sends; /* the kernel encrypts, and the session must send nothing */
	uint8_t alert;     /* an alert that the session could not send for that reason; 0: none */
	struct eddyi_hello hello;
	struct eddyi_schedules schedules; /* key schedules, on the loop's thread */
};

/* Return: NULL on allocation failure. */
struct eddyi_tls *eddyi_tls_new(struct eddyi_tls_setup *setup);

/* Make the client's end of a prepared session. Takes ownership of `session`, but not on failure.
 * Return: NULL on allocation failure. */
struct eddyi_tls *eddyi_tls_new_client(struct WOLFSSL *session);

void eddyi_tls_free(struct eddyi_tls *tls);

/* Note that `len` bytes have been received into the room of `in`. */
void eddyi_tls_received(struct eddyi_tls *tls, size_t len);

/* Put up to 8 KiB received elsewhere into `in`, if the session needs more. Return: 0, -ENOMEM. */
int eddyi_tls_feed(struct eddyi_tls *tls, const char *bytes, size_t len);

/* Whether a step of the handshake can be done with the bytes in `in`. */
bool eddyi_tls_is_due(const struct eddyi_tls *tls);

/* Do the due steps of the handshake; the response or alert is in `out` then. Suspends.
 * Return: 0 if the handshake is complete; -EAGAIN if more bytes are needed; -ENOBUFS if `out` must
 * be sent first; -EPROTO, -EBADMSG, -ENOMEM, -ECANCELED: it has failed. */
int eddyi_tls_shake(struct eddyi_tls *tls);

/* Whether the client has chosen HTTP/2, after the handshake. */
bool eddyi_tls_chose_http2(const struct eddyi_tls *tls);

/* Decrypt. `out` may contain bytes afterwards.
 * Return: bytes; 0 after a close_notify; -EAGAIN if more bytes are needed; -EBADMSG, -ENOMEM. */
ssize_t eddyi_tls_read(struct eddyi_tls *tls, void *buf, size_t len);

/* Whether a part of a record has arrived, after eddyi_tls_read() returned -EAGAIN. */
bool eddyi_tls_has_part(const struct eddyi_tls *tls);

/* Encrypt as many bytes as `out` has room for, at most 16 KiB a record.
 * Return: bytes; 0 if `out` is full; -EIO, -ENOMEM. */
ssize_t eddyi_tls_write(struct eddyi_tls *tls, const void *buf, size_t len);

/* Whether the peer has sent a close_notify. */
bool eddyi_tls_has_ended(struct eddyi_tls *tls);

/* Put a close_notify into `out`, once. */
void eddyi_tls_end(struct eddyi_tls *tls);

/* Send nothing more, so that the client does not take its data for complete. */
void eddyi_tls_cut(struct eddyi_tls *tls);

#endif
