/* tls_buffers.h: the bytes of a TLS session on their way: records that have come, and what is to be sent. */
#ifndef EDDYI_TLS_BUFFERS_H
#define EDDYI_TLS_BUFFERS_H

#include <eddy/str.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Invariants:
 * 1. `in` and `out` are NULL when nothing is in them.
 * 2. What is in `out` is sent before anything else is.
 * 3. The session takes whole records only, one at a time.
 */
struct eddyi_tls_buffers {
	char *in;
	char *out;
	uint32_t in_size;
	uint32_t in_at;
	uint32_t in_len;
	uint32_t in_end; /* where the record that the session is taking ends; `in_at`: between two */
	uint32_t out_at;
	uint32_t out_len;
	bool is_bulk; /* `in` held 32 KiB or more behind the last receive */
};

void eddyi_tls_buffers_deinit(struct eddyi_tls_buffers *buffers);

/* ---- in ---- */

/* What has come and the session has not taken. */
struct eddy_str eddyi_tls_buffers_in(const struct eddyi_tls_buffers *buffers);

/* Room behind it, for a receive; _received says how much it was. Return: bytes, -ENOMEM; never 0 when the session
 * wants more. */
ssize_t eddyi_tls_buffers_room(struct eddyi_tls_buffers *buffers, char **ret_room);
void eddyi_tls_buffers_received(struct eddyi_tls_buffers *buffers, size_t len);

/* Whether a whole record has come, and whether so much has that no record could need more. */
bool eddyi_tls_buffers_has_record(const struct eddyi_tls_buffers *buffers);
bool eddyi_tls_buffers_is_full(const struct eddyi_tls_buffers *buffers);

/* A record that has come whole. */
struct eddyi_tls_record {
	unsigned char *bytes;
	size_t len;
};

/* Look at the next record. Return: the record, 0 bytes long when none has come whole or one is being taken. */
struct eddyi_tls_record eddyi_tls_buffers_next_record(const struct eddyi_tls_buffers *buffers);

/* Begin the next record for the session to take, or drop it. The caller may change its bytes. Return: as above. */
struct eddyi_tls_record eddyi_tls_buffers_begin_record(struct eddyi_tls_buffers *buffers);
void eddyi_tls_buffers_drop_record(struct eddyi_tls_buffers *buffers);

/* Take bytes of the record that was begun. Return: how many; 0 when none is. */
size_t eddyi_tls_buffers_take(struct eddyi_tls_buffers *buffers, char *buf, size_t len);

/* Free `in` when all of it has been taken. */
void eddyi_tls_buffers_trim(struct eddyi_tls_buffers *buffers);

/* ---- out ---- */

/* Put as many bytes as there is room for. Return: how many; -ENOMEM. */
ssize_t eddyi_tls_buffers_put(struct eddyi_tls_buffers *buffers, const char *bytes, size_t len);

/* Whether a record still fits. */
bool eddyi_tls_buffers_has_room(const struct eddyi_tls_buffers *buffers);

/* The bytes that are to be sent, and that `len` of them have been. */
struct eddy_str eddyi_tls_buffers_unsent(const struct eddyi_tls_buffers *buffers);
void eddyi_tls_buffers_sent(struct eddyi_tls_buffers *buffers, size_t len);

#endif
