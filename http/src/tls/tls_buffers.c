#include "tls_buffers.h"

#include <eddy/base.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Room for an incomplete record (18 KiB at most) and a receive. A peer that fills it gets more. */
#define IN_SIZE ((size_t)(32 * EDDY_KIB))
#define IN_SIZE_BULK ((size_t)(128 * EDDY_KIB))
/* Records of 64 KiB in total with their framing, and messages of the protocol. */
#define OUT_SIZE ((size_t)(76 * EDDY_KIB))
#define RECORD_HEAD 5
#define RECORD_TYPE_FIRST 20
#define RECORD_TYPE_LAST 24
/* A record with framing, or several for a client that requested short ones. */
#define FRAMED_MAX ((size_t)(18 * EDDY_KIB))
/* Maximum of one receive. */
#define RECEIVE_MAX ((size_t)(8 * EDDY_KIB))

void eddyi_tls_buffers_deinit(struct eddyi_tls_buffers *buffers)
{
	free(buffers->in);
	free(buffers->out);
}

/* ---- receiving ---- */

static size_t in_left(const struct eddyi_tls_buffers *buffers)
{
	return buffers->in ? buffers->in_len - buffers->in_at : 0;
}

struct eddy_str eddyi_tls_buffers_in(const struct eddyi_tls_buffers *buffers)
{
	return buffers->in ? eddy_str(buffers->in + buffers->in_at, in_left(buffers)) :
			     EDDY_STR("");
}

void eddyi_tls_buffers_trim(struct eddyi_tls_buffers *buffers)
{
	if (in_left(buffers))
		return;
	free(buffers->in);
	buffers->in = NULL;
}

/* Switch to a buffer of this size. Return: false on allocation failure. */
static bool grow(struct eddyi_tls_buffers *buffers, size_t size)
{
	char *in = malloc(size);

	if (!in)
		return false;
	memcpy(in, buffers->in ? buffers->in : "", buffers->in_len);
	free(buffers->in);
	buffers->in = in;
	buffers->in_size = (uint32_t)size;
	return true;
}

ssize_t eddyi_tls_buffers_room(struct eddyi_tls_buffers *buffers, char **ret_room)
{
	size_t left = in_left(buffers), size = buffers->is_bulk ? IN_SIZE_BULK : IN_SIZE;

	if (!buffers->in)
		buffers->in_end = buffers->in_at;
	else if (buffers->in_at)
		memmove(buffers->in, buffers->in + buffers->in_at, left);
	buffers->in_end -= buffers->in_at;
	buffers->in_at = 0;
	buffers->in_len = (uint32_t)left;
	if ((!buffers->in || buffers->in_size < size) && !grow(buffers, size) && !buffers->in)
		return -ENOMEM;
	*ret_room = buffers->in + left;
	return (ssize_t)(buffers->in_size - left);
}

void eddyi_tls_buffers_received(struct eddyi_tls_buffers *buffers, size_t len)
{
	buffers->in_len += (uint32_t)len;
	buffers->is_bulk = buffers->in_len >= IN_SIZE;
	eddyi_tls_buffers_trim(buffers);
}

/* Get the length of the record at the front; 0 if it is incomplete. Bytes that can't begin a record
 * count as complete, for the session to reject. */
static size_t whole_record(struct eddy_str bytes)
{
	const unsigned char *head = (const unsigned char *)bytes.ptr;
	size_t len;

	if (bytes.len && (head[0] < RECORD_TYPE_FIRST || head[0] > RECORD_TYPE_LAST))
		return bytes.len;
	if (bytes.len < RECORD_HEAD)
		return 0;
	len = RECORD_HEAD + ((size_t)head[3] << 8 | head[4]);
	return len <= bytes.len ? len : 0;
}

/* No record needs more bytes than this. */
static bool is_too_long(struct eddy_str bytes)
{
	return bytes.len > IN_SIZE - RECEIVE_MAX;
}

struct eddyi_tls_record eddyi_tls_buffers_next_record(const struct eddyi_tls_buffers *buffers)
{
	struct eddy_str bytes = eddyi_tls_buffers_in(buffers);
	size_t len;

	if (!bytes.len || buffers->in_at != buffers->in_end)
		return (struct eddyi_tls_record){ NULL, 0 };
	len = whole_record(bytes);
	/* The session rejects a record that is too long. */
	if (!len && is_too_long(bytes))
		len = bytes.len;
	return (struct eddyi_tls_record){ (unsigned char *)buffers->in + buffers->in_at, len };
}

struct eddyi_tls_record eddyi_tls_buffers_begin_record(struct eddyi_tls_buffers *buffers)
{
	struct eddyi_tls_record record = eddyi_tls_buffers_next_record(buffers);

	buffers->in_end += (uint32_t)record.len;
	return record;
}

void eddyi_tls_buffers_drop_record(struct eddyi_tls_buffers *buffers)
{
	eddyi_tls_buffers_begin_record(buffers);
	buffers->in_at = buffers->in_end;
	eddyi_tls_buffers_trim(buffers);
}

bool eddyi_tls_buffers_has_record(const struct eddyi_tls_buffers *buffers)
{
	return whole_record(eddyi_tls_buffers_in(buffers)) > 0;
}

bool eddyi_tls_buffers_is_full(const struct eddyi_tls_buffers *buffers)
{
	return is_too_long(eddyi_tls_buffers_in(buffers));
}

size_t eddyi_tls_buffers_take(struct eddyi_tls_buffers *buffers, char *buf, size_t len)
{
	size_t here = buffers->in ? buffers->in_end - buffers->in_at : 0;

	if (!here)
		return 0;
	if (here > len)
		here = len;
	memcpy(buf, buffers->in + buffers->in_at, here);
	buffers->in_at += (uint32_t)here;
	return here;
}

/* ---- sending ---- */

ssize_t eddyi_tls_buffers_put(struct eddyi_tls_buffers *buffers, const char *bytes, size_t len)
{
	if (!buffers->out) {
		buffers->out = malloc(OUT_SIZE);
		if (!buffers->out)
			return -ENOMEM;
		buffers->out_at = buffers->out_len = 0;
	}
	if (len > OUT_SIZE - buffers->out_len)
		len = OUT_SIZE - buffers->out_len;
	memcpy(buffers->out + buffers->out_len, bytes, len);
	buffers->out_len += (uint32_t)len;
	return (ssize_t)len;
}

struct eddy_str eddyi_tls_buffers_unsent(const struct eddyi_tls_buffers *buffers)
{
	return buffers->out ? eddy_str(buffers->out + buffers->out_at,
				       buffers->out_len - buffers->out_at) :
			      EDDY_STR("");
}

void eddyi_tls_buffers_sent(struct eddyi_tls_buffers *buffers, size_t len)
{
	buffers->out_at += (uint32_t)len;
	if (buffers->out_at < buffers->out_len)
		return;
	free(buffers->out);
	buffers->out = NULL;
}

bool eddyi_tls_buffers_has_room(const struct eddyi_tls_buffers *buffers)
{
	return !buffers->out || OUT_SIZE - buffers->out_len >= FRAMED_MAX;
}
