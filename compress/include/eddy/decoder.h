/* eddy/decoder.h: a body is decoded piece by piece, in bounded memory and bounded steps.
 *
 *     struct eddy_decoder_options options = { .size_max = 10 * EDDY_MIB, .ratio_max = 100 };
 *
 * The input is hostile: whatever it is, memory stays within eddy_decoder_memory(), and no more than the
 * caller's room is written. Pools and threads are as in eddy/encoder.h. Nothing here suspends.
 */
#ifndef EDDY_DECODER_H
#define EDDY_DECODER_H

#include <eddy/codec.h>

EDDY_BEGIN_DECLS

struct eddy_decoder;

/* Every field: 0 means its default. */
struct eddy_decoder_options {
	uint64_t size_max; /* bytes that may come out in all; default: any number */
	/* Bytes that may come out for each that goes in, once 64 KiB are out; default: any number. Zeros reach
	 * about 1,000 with gzip and deflate, 100,000 and more with br and zstd; text seldom passes 20. */
	unsigned ratio_max;
	/* The largest window that a stream may ask for, as a power of two; default: zstd 23 (8 MiB, RFC 9659),
	 * br 24, gzip and deflate 15: what each may have. zstd 10 to 27, br 10 to 24, gzip and deflate 9 to 15. */
	unsigned window_bits;
};

/* Begin a stream. Freed by eddy_decoder_free(), whatever became of it.
 * Return: 0; -EINVAL for an option that is out of range, -ENOMEM. */
EDDY_API int eddy_decoder_new(const struct eddy_codec *codec,
			      const struct eddy_decoder_options *options,
			      struct eddy_decoder **ret_decoder);

/* Give the decoder back. NULL is fine. */
EDDY_API void eddy_decoder_free(struct eddy_decoder *decoder);

/* Take some of the input, and write what comes of it: no more than a slice of either, so that others may
 * run between two steps. With END `in` holds the last of the input, or nothing is left; FLUSH is as RUN.
 * When it returns 0, the caller makes room if there is none, and calls again with the same op and what is
 * left of the input. gzip may have several members (RFC 1952 section 2.2), zstd several frames, some to be
 * skipped (RFC 8878 section 3.1); deflate is the zlib format (RFC 9110 section 8.4.1.2).
 * Return: 1 when all is done: RUN has taken the input and nothing more comes of it, END has seen the stream
 * end where the input does; 0: call again. -EBADMSG for input that is corrupt, cut off or followed by other
 * bytes, or made with a dictionary; -EMSGSIZE past a limit of the options; -ENOMEM. After an error the
 * stream can only be given up. */
EDDY_API int eddy_decoder_step(struct eddy_decoder *decoder, struct eddy_codec_io *io,
			       enum eddy_codec_op op);

/* The memory in bytes that a decoder of these options takes at most, whatever it is given. One from the
 * pool may have more, as with encoders. Return: bytes; 0 for an option that is out of range. */
EDDY_API size_t eddy_decoder_memory(const struct eddy_codec *codec,
				    const struct eddy_decoder_options *options);

EDDY_END_DECLS

#endif
