/* tls.h: one end of a TLS session, between buffers: it touches no socket.
 *
 * What the socket received is put into `in`, what is to be sent comes out in `out` (tls_buffers.h). The library's calls
 * go deep, so they run on the loop's own stack. The steps of a handshake run there, too, if all keys are quick; otherwise they run on a thread of
 * the offload pool, since they may take milliseconds.
 */
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
	EDDYI_TLS_BROKEN, /* nothing is said any more, not even goodbye */
};

/* Invariants:
 * 1. While `sending`, a task waits for the socket to take what is in `out`: another one that reads meanwhile may
 *    add to it, and leaves it to that task to send.
 * 2. `session` is NULL in GREETING, which is a server's alone, and a thread of the pool alone uses this while it runs a step.
 */
struct eddyi_tls {
	struct eddyi_tls_setup *setup; /* NULL: a client's end */
	struct WOLFSSL *session;
	struct eddyi_tls_buffers buffers;
	struct eddyi_flight flight;
	uint32_t shaken; /* bytes of the handshake that have come */
	uint16_t early;  /* bytes sent in short records, since the beginning or a pause */
	uint64_t written_ns;
	uint8_t steps; /* of the handshake that have been done */
	uint8_t state;
	bool answered;        /* the session has sent something */
	bool skips;           /* early data, until the client goes on with the handshake */
	uint8_t finished_len; /* of the record with which it does; 0: with another hello */
	bool refuses;         /* a record of the peer was refused: no other is read */
	bool sending;
	bool kernel_sends; /* kTLS: the socket encrypts, and the session must send nothing */
	uint8_t alert;     /* that the session could not send for that reason; 0: none */
	struct eddyi_hello hello;
	struct eddyi_schedules schedules; /* of the keys, on the loop's thread */
};

/* Return: NULL when memory is out. */
struct eddyi_tls *eddyi_tls_new(struct eddyi_tls_setup *setup);

/* The client's end, of a session that has been prepared; takes it over, unless it fails.
 * Return: NULL when memory is out. */
struct eddyi_tls *eddyi_tls_new_client(struct WOLFSSL *session);

/* NULL is fine. */
void eddyi_tls_free(struct eddyi_tls *tls);

/* So much has been received into the room of `in`. */
void eddyi_tls_received(struct eddyi_tls *tls, size_t len);

/* Put bytes of a receive elsewhere into `in`; at most 8 KiB, and the session wants more.
 * Return: 0, -ENOMEM. */
int eddyi_tls_feed(struct eddyi_tls *tls, const char *bytes, size_t len);

/* Whether a step of the handshake can be done with what is here. */
bool eddyi_tls_is_due(const struct eddyi_tls *tls);

/* Do the steps of the handshake that are due; an answer or an alert is in `out` then. Suspends.
 * Return: 0 when it is complete; -EAGAIN when more must be received first; -ENOBUFS when `out` must be
 * sent first; -EPROTO, -EBADMSG, -ENOMEM, -ECANCELED: it has failed. */
int eddyi_tls_shake(struct eddyi_tls *tls);

/* Decrypt. Something may be in `out` then. Return: bytes; 0 when the client has said that it is the last;
 * -EAGAIN when more must be received first; -EBADMSG, -ENOMEM. */
ssize_t eddyi_tls_read(struct eddyi_tls *tls, void *buf, size_t len);

/* Whether a record has come in part, after eddyi_tls_read() wanted more. */
bool eddyi_tls_has_part(const struct eddyi_tls *tls);

/* Encrypt as many of the bytes as `out` has room for, 16 KiB to a record.
 * Return: bytes, 0 when it is full; -EIO, -ENOMEM. */
ssize_t eddyi_tls_write(struct eddyi_tls *tls, const void *buf, size_t len);

/* Whether the peer has said that it ends. */
bool eddyi_tls_has_ended(struct eddyi_tls *tls);

/* Put the alert into `out` that says goodbye, once. */
void eddyi_tls_end(struct eddyi_tls *tls);

/* Say nothing any more: the client must not take what it got for the whole. */
void eddyi_tls_cut(struct eddyi_tls *tls);

#endif
