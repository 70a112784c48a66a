/* eddy/codec.h: content codings (RFC 9110 section 8.4.1) on plain buffers: zstd, br, gzip, deflate.
 *
 *     const struct eddy_codec *gzip;
 *     ssize_t len;
 *
 *     if (eddy_codec_find(eddy_str_from("gzip"), &gzip) < 0)
 *             return -ENOTSUP;
 *     len = eddy_codec_encode(gzip, NULL, text, text_len, room, eddy_codec_bound(gzip, text_len));
 *
 * For what fits a buffer; eddy/encoder.h and eddy/decoder.h do the same piece by piece. Nothing here
 * suspends, and no loop is needed; any thread.
 */
#ifndef EDDY_CODEC_H
#define EDDY_CODEC_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

struct eddy_encoder_options;
struct eddy_decoder_options;

/* A coding that is compiled in. */
struct eddy_codec;

/* What a step of an encoder or decoder takes and makes. The caller says where and how much; a step moves
 * all four on by what it took and made. */
struct eddy_codec_io {
	const void *in;
	size_t in_len;
	void *out;
	size_t out_len; /* the room */
};

enum eddy_codec_op {
	EDDY_CODEC_RUN,   /* more input will follow */
	EDDY_CODEC_FLUSH, /* what came so far is to become readable; more may follow */
	EDDY_CODEC_END,   /* this is all there is */
};

/* Find a coding by its name, without regard to case; x-gzip is gzip.
 * Return: 0; -ENOTSUP for one that is not compiled in, -ENOENT for a name that is none of the four. */
EDDY_API int eddy_codec_find(struct eddy_str name, const struct eddy_codec **ret_codec);

/* Go through the codings that are compiled in: zstd, br, gzip, deflate. NULL gives the first.
 * Return: the one behind `codec`; NULL: it was the last. */
EDDY_API const struct eddy_codec *eddy_codec_next(const struct eddy_codec *codec);

/* The name as it stands in content-encoding. */
EDDY_API const char *eddy_codec_name(const struct eddy_codec *codec);

/* The level that is used when nobody says one: zstd 3, br 4, gzip and deflate 6. */
EDDY_API int eddy_codec_level(const struct eddy_codec *codec);

/* Whether a step of an encoder of this level, 0 being the default, stays well under a millisecond of
 * processor time: zstd to 4, br to 4, gzip and deflate to 6. Others belong on the offload pool. */
EDDY_API bool eddy_codec_is_quick(const struct eddy_codec *codec, int level);

/* The bytes that `len` may become at worst, whatever the options, if nothing is flushed before the end. */
EDDY_API size_t eddy_codec_bound(const struct eddy_codec *codec, size_t len);

/* Encode a buffer into another one. Takes the time it takes.
 * Return: the bytes written; -ENOSPC when there is not room enough (see eddy_codec_bound()), -EINVAL for
 * an option that is out of range or a .size that is not `in_len`, -ENOMEM. */
EDDY_API ssize_t eddy_codec_encode(const struct eddy_codec *codec,
				   const struct eddy_encoder_options *options, const void *in,
				   size_t in_len, void *out, size_t out_size);

/* Decode a buffer into another one. Takes the time it takes.
 * Return: the bytes written; -ENOSPC when there is not room enough, -EINVAL for an option that is out of
 * range, else as eddy_decoder_step(). */
EDDY_API ssize_t eddy_codec_decode(const struct eddy_codec *codec,
				   const struct eddy_decoder_options *options, const void *in,
				   size_t in_len, void *out, size_t out_size);

EDDY_END_DECLS

#endif
