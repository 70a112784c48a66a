/* eddy/codec.h: content codings (RFC 9110 section 8.4.1) for buffers: zstd, br, gzip, deflate.
 *
 *     const struct eddy_codec *gzip;
 *     ssize_t len;
 *
 *     if (eddy_codec_find(eddy_str_from("gzip"), &gzip) < 0)
 *             return -ENOTSUP;
 *     len = eddy_codec_encode(gzip, NULL, text, text_len, room, eddy_codec_bound(gzip, text_len));
 *
 * eddy/encoder.h and eddy/decoder.h are the streaming forms. Nothing here suspends or needs a loop.
 * Any thread may call it.
 */
#ifndef EDDY_CODEC_H
#define EDDY_CODEC_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

struct eddy_encoder_options;
struct eddy_decoder_options;

/* A content coding that is compiled in. */
struct eddy_codec;

/* The buffers of one step of an encoder or decoder. The caller sets them; the step advances all
 * four by what it consumed and produced. */
struct eddy_codec_io {
	const void *in;
	size_t in_len;
	void *out;
	size_t out_len; /* free bytes at `out` */
};

enum eddy_codec_op {
	EDDY_CODEC_RUN,   /* more input follows */
	EDDY_CODEC_FLUSH, /* make all input so far decodable; more may follow */
	EDDY_CODEC_END,   /* `in` is the last of the input */
};

/* Find a coding by its name, ignoring case; x-gzip is gzip. Return: 0; -ENOTSUP if it is not
 * compiled in; -ENOENT if the name is none of the four. */
EDDY_API int eddy_codec_find(struct eddy_str name, const struct eddy_codec **ret_codec);

/* Get the name of a coding, as in content-encoding. */
EDDY_API const char *eddy_codec_name(const struct eddy_codec *codec);

/* Get the largest encoded size of `len` bytes, with any options, but without flushes. */
EDDY_API size_t eddy_codec_bound(const struct eddy_codec *codec, size_t len);

/* Encode a buffer into another. Blocks the thread meanwhile.
 * Return: the bytes written; -ENOSPC if `out` is too small (see eddy_codec_bound()); -EINVAL if an
 * option is out of range, or .size is not `in_len`; -ENOMEM. */
EDDY_API ssize_t eddy_codec_encode(const struct eddy_codec *codec,
				   const struct eddy_encoder_options *options, const void *in,
				   size_t in_len, void *out, size_t out_size);

/* Decode a buffer into another. Blocks the thread meanwhile.
 * Return: the bytes written; -ENOSPC if `out` is too small; -EINVAL if an option is out of range;
 * else as eddy_decoder_step(). */
EDDY_API ssize_t eddy_codec_decode(const struct eddy_codec *codec,
				   const struct eddy_decoder_options *options, const void *in,
				   size_t in_len, void *out, size_t out_size);

EDDY_END_DECLS

#endif
