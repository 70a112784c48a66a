#include "ws_deflate.h"

#include <eddy/internal/outside.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define ROOM_MIN ((size_t)512)
#define MEMORY_LEVEL 8
/* zlib counts bytes by 32 bits. */
#define PIECE_MAX ((size_t)EDDY_GIB)
/* Ends of deflate streams within a message of `len` bytes. Each copies the window. */
#define ENDS_MAX(len) (2 + (len) / 16)

/* The end of each message's stream, which is not sent. */
static const char tail[] = { 0, 0, '\xff', '\xff' };

struct eddyi_ws_stream {
	z_stream z;
	struct eddyi_ws_deflate of; /* that it was made for */
	/* Of the current message: bytes that zlib has taken, and ends of streams. */
	uint64_t len, ends;
};

/* ---- streams of zlib ---- */

static void stream_free(void *arg)
{
	struct eddyi_ws_stream *stream = arg;

	if (!stream)
		return;
	if (stream->of.inflates)
		inflateEnd(&stream->z);
	else
		deflateEnd(&stream->z);
	free(stream);
}

/* Return: NULL on allocation failure. */
static struct eddyi_ws_stream *stream_new(const struct eddyi_ws_deflate *deflate)
{
	struct eddyi_ws_stream *stream = calloc(1, sizeof(*stream));
	int bits = -deflate->side.bits, r;

	if (!stream)
		return NULL;
	stream->of = *deflate;
	if (deflate->inflates)
		r = inflateInit2(&stream->z, bits);
	else
		r = deflateInit2(&stream->z, deflate->level, Z_DEFLATED, bits, MEMORY_LEVEL,
				 Z_DEFAULT_STRATEGY);
	if (r == Z_OK)
		return stream;
	free(stream);
	return NULL;
}

/* Each thread has a spare stream of either direction. */
static pthread_key_t spares[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_spares;

static void make_spares(void)
{
	has_spares = pthread_key_create(&spares[0], stream_free) == 0 &&
		     pthread_key_create(&spares[1], stream_free) == 0;
}

/* Return: NULL on allocation failure. */
static struct eddyi_ws_stream *borrow(const struct eddyi_ws_deflate *deflate)
{
	struct eddyi_ws_stream *spare = NULL;

	pthread_once(&once, make_spares);
	if (has_spares)
		spare = pthread_getspecific(spares[deflate->inflates]);
	if (!spare || spare->of.side.bits != deflate->side.bits ||
	    spare->of.level != deflate->level)
		return stream_new(deflate);
	pthread_setspecific(spares[deflate->inflates], NULL);
	return spare;
}

static void give_back(struct eddyi_ws_stream *stream)
{
	bool inflates = stream->of.inflates;
	int r = inflates ? inflateReset(&stream->z) : deflateReset(&stream->z);

	if (r != Z_OK || !has_spares || pthread_getspecific(spares[inflates]) ||
	    pthread_setspecific(spares[inflates], stream) != 0)
		stream_free(stream);
}

/* ---- messages ---- */

void eddyi_ws_deflate_deinit(struct eddyi_ws_deflate *deflate)
{
	stream_free(deflate->stream);
	deflate->stream = NULL;
}

int eddyi_ws_buffer_grow(struct eddyi_ws_buffer *buffer, size_t more)
{
	size_t size = buffer->len + more;
	char *bytes;

	if (size <= buffer->size)
		return 0;
	if (size < 2 * buffer->size)
		size = 2 * buffer->size;
	bytes = realloc(buffer->bytes, size);
	if (!bytes)
		return -ENOMEM;
	buffer->bytes = bytes;
	buffer->size = size;
	return 0;
}

void eddyi_ws_buffer_deinit(struct eddyi_ws_buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct eddyi_ws_buffer){ 0 };
}

/* A peer may end the deflate stream within a message (RFC 7692 section 7.2.3.4). The next one may
 * still refer to the window. */
static int begin_anew(struct eddyi_ws_stream *stream)
{
	Bytef *window = malloc((size_t)1 << EDDYI_WS_WINDOW_MAX);
	uInt len = 0;
	int zr = window ? inflateGetDictionary(&stream->z, window, &len) : Z_MEM_ERROR;

	if (zr == Z_OK)
		zr = inflateReset(&stream->z);
	if (zr == Z_OK)
		zr = inflateSetDictionary(&stream->z, window, len);
	free(window);
	return zr == Z_OK ? 0 : -ENOMEM;
}

/* Run zlib until it has taken the input and given all output. */
static int run(struct eddyi_ws_stream *stream, struct eddy_str bytes, int flush,
	       struct eddyi_ws_buffer *out, uint64_t max)
{
	z_stream *z = &stream->z;
	size_t room, used;
	int r, zr;

	do {
		z->next_in = (Bytef *)bytes.ptr;
		z->avail_in = (uInt)(bytes.len < PIECE_MAX ? bytes.len : PIECE_MAX);
		r = eddyi_ws_buffer_grow(out, z->avail_in > ROOM_MIN ? z->avail_in : ROOM_MIN);
		if (r < 0)
			return r;
		room = out->size - out->len;
		room = room < PIECE_MAX ? room : PIECE_MAX;
		z->next_out = (Bytef *)out->bytes + out->len;
		z->avail_out = (uInt)room;
		zr = stream->of.inflates ? inflate(z, Z_SYNC_FLUSH) : deflate(z, flush);
		used = (size_t)((const char *)z->next_in - bytes.ptr);
		stream->len += used;
		bytes = eddy_str_skip(bytes, used);
		out->len += room - z->avail_out;
		if (zr == Z_STREAM_END)
			r = ++stream->ends > ENDS_MAX(stream->len) ? -EBADMSG : begin_anew(stream);
		else if (zr != Z_OK && zr != Z_BUF_ERROR)
			r = zr == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
		if (r == 0 && out->len > max)
			r = -EMSGSIZE;
	} while (r == 0 && (bytes.len || !z->avail_out));
	return r;
}

/* Compressed bytes end with the tail, except for an empty message, for which zlib gives nothing. */
static int finish(struct eddyi_ws_deflate *deflate, struct eddyi_ws_buffer *out, size_t before,
		  uint64_t max)
{
	int r;

	if (deflate->inflates)
		return run(deflate->stream, eddy_str(tail, sizeof(tail)), 0, out, max);
	r = run(deflate->stream, EDDY_STR(""), Z_SYNC_FLUSH, out, max);
	if (r == 0 && out->len - before > sizeof(tail)) {
		out->len -= sizeof(tail);
	} else if (r == 0) {
		out->bytes[before] = 0;
		out->len = before + 1;
	}
	return r;
}

int eddyi_ws_deflate_feed(struct eddyi_ws_deflate *deflate, struct eddy_str bytes, bool is_last,
			  struct eddyi_ws_buffer *out, uint64_t max)
{
	size_t before = out->len;
	int r = 0;

	if (!deflate->stream)
		deflate->stream = borrow(deflate);
	if (!deflate->stream)
		return -ENOMEM;
	if (bytes.len)
		r = run(deflate->stream, bytes, Z_NO_FLUSH, out, max);
	if (r == 0 && is_last)
		r = finish(deflate, out, before, max);
	if (is_last)
		deflate->stream->len = deflate->stream->ends = 0;
	if (is_last && !deflate->side.keeps) {
		give_back(deflate->stream);
		deflate->stream = NULL;
	}
	return r;
}
