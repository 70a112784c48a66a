/* eddy/decoder.h: streaming decoders, with bounded memory and bounded steps.
 *
 *     struct eddy_decoder_options options = { .size_max = 10 * EDDY_MIB, .ratio_max = 100 };
 *
 * The input may be hostile: .window_bits bounds memory, and the caller's buffer bounds output.
 * Pools and threads are as in eddy/encoder.h. Nothing here suspends.
 */
#ifndef EDDY_DECODER_H
#define EDDY_DECODER_H

#include <eddy/codec.h>

EDDY_BEGIN_DECLS

struct eddy_decoder;

/* Limits of a decoder. A zero field takes its default. */
struct eddy_decoder_options {
	uint64_t size_max; /* output in bytes; default: no limit */
	/* Output bytes for each input byte, after 64 KiB of output; default: no limit. Zeros reach
	 * about 1,000 with gzip and deflate, 100,000 and more with br and zstd; text seldom passes
	 * 20. */
	unsigned ratio_max;
	/* The largest window that a stream may require, as a power of two. Range and default: zstd
	 * 10 to 27, 23 (8 MiB, RFC 9659); br 10 to 24, 24; gzip and deflate 9 to 15, 15. */
	unsigned window_bits;
};

/* Begin to decode a stream. Free the decoder with eddy_decoder_free(), also after errors.
 * Return: 0; -EINVAL if an option is out of range; -ENOMEM. */
EDDY_API int eddy_decoder_new(const struct eddy_codec *codec,
			      const struct eddy_decoder_options *options,
			      struct eddy_decoder **ret_decoder);

/* Free a decoder, or return it to its loop's pool. NULL is accepted. */
EDDY_API void eddy_decoder_free(struct eddy_decoder *decoder);

/* Decode part of the input: at most a slice of input and output, so that other tasks can run
 * between two steps. With END `in` is the last of the input, or empty; FLUSH is like RUN. When it
 * returns 0, make room if there is none, and call again with the same op and the rest of the input.
 * gzip may have several members (RFC 1952 section 2.2), zstd several and skippable frames (RFC 8878
 * section 3.1); deflate is the zlib format (RFC 9110 section 8.4.1.2).
 * Return: 1 if done: RUN has consumed the input and no output is left, END has reached the end of
 * the stream and of the input; 0: call again; -EBADMSG if the input is corrupt, truncated, followed
 * by other bytes, or needs a dictionary; -EMSGSIZE beyond a limit of the options; -ENOMEM. After an
 * error, free the decoder. */
EDDY_API int eddy_decoder_step(struct eddy_decoder *decoder, struct eddy_codec_io *io,
			       enum eddy_codec_op op);

EDDY_END_DECLS

#endif
