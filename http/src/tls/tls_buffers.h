/* tls_buffers.h: a TLS session's buffers of received records and of bytes to send. */
#ifndef EDDYI_TLS_BUFFERS_H
#define EDDYI_TLS_BUFFERS_H

#include <eddy/str.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Invariants:
 * 1. `in` and `out` are NULL if empty.
 * 2. Bytes in `out` are sent before any others.
 * 3. The session takes complete records, one at a time. */
struct eddyi_tls_buffers {
	char *in;
	char *out;
	uint32_t in_size;
	uint32_t in_at;
	uint32_t in_len;
	uint32_t in_end; /* end of the record being taken; `in_at`: none */
	uint32_t out_at;
	uint32_t out_len;
	bool is_bulk; /* `in` held 32 KiB or more after the last receive */
};

void eddyi_tls_buffers_deinit(struct eddyi_tls_buffers *buffers);

/* ---- receiving ---- */

/* Get the received bytes that the session has not taken. */
struct eddy_str eddyi_tls_buffers_in(const struct eddyi_tls_buffers *buffers);

/* Get room for a receive, which _received completes.
 * Return: bytes, never 0 if the session needs more; -ENOMEM. */
ssize_t eddyi_tls_buffers_room(struct eddyi_tls_buffers *buffers, char **ret_room);
void eddyi_tls_buffers_received(struct eddyi_tls_buffers *buffers, size_t len);

/* Whether a complete record has arrived, and whether `in` is full even for an incomplete one. */
bool eddyi_tls_buffers_has_record(const struct eddyi_tls_buffers *buffers);
bool eddyi_tls_buffers_is_full(const struct eddyi_tls_buffers *buffers);

/* A complete record. */
struct eddyi_tls_record {
	unsigned char *bytes;
	size_t len;
};

/* Get the next record. Return: an empty record if none is complete, or one is being taken. */
struct eddyi_tls_record eddyi_tls_buffers_next_record(const struct eddyi_tls_buffers *buffers);

/* Begin the next record, whose bytes may be changed, or drop it. Return: as _next_record(). */
struct eddyi_tls_record eddyi_tls_buffers_begin_record(struct eddyi_tls_buffers *buffers);
void eddyi_tls_buffers_drop_record(struct eddyi_tls_buffers *buffers);

/* Take bytes of the record begun. Return: their number; 0 if there is none. */
size_t eddyi_tls_buffers_take(struct eddyi_tls_buffers *buffers, char *buf, size_t len);

/* Free `in` if all of it has been taken. */
void eddyi_tls_buffers_trim(struct eddyi_tls_buffers *buffers);

/* ---- sending ---- */

/* Append as many bytes as there is room for. Return: their number; -ENOMEM. */
ssize_t eddyi_tls_buffers_put(struct eddyi_tls_buffers *buffers, const char *bytes, size_t len);

/* Whether another record fits. */
bool eddyi_tls_buffers_has_room(const struct eddyi_tls_buffers *buffers);

/* Get the bytes to send, and remove `len` of them after sending. */
struct eddy_str eddyi_tls_buffers_unsent(const struct eddyi_tls_buffers *buffers);
void eddyi_tls_buffers_sent(struct eddyi_tls_buffers *buffers, size_t len);

#endif
