/* eddy/encoder.h: a body is encoded piece by piece, in bounded memory and bounded steps.
 *
 *     struct eddy_codec_io io = { piece, piece_len, room, sizeof(room) };
 *     int r;
 *
 *     while ((r = eddy_encoder_step(encoder, &io, EDDY_CODEC_RUN)) == 0) {
 *             if (!io.out_len)
 *                     …send what is in `room`, and empty it…
 *             else
 *                     eddy_yield();
 *     }
 *
 * On a loop's thread encoders come from a pool of that loop, and go back there; elsewhere they are
 * plain memory. One belongs to whoever made it, and is used by one thread at a time. Nothing here
 * suspends.
 */
#ifndef EDDY_ENCODER_H
#define EDDY_ENCODER_H

#include <eddy/codec.h>

EDDY_BEGIN_DECLS

struct eddy_encoder;

/* Every field: 0 means its default. */
struct eddy_encoder_options {
	int level; /* zstd 1 to 19, default 3; br 1 to 11, default 4; gzip and deflate 1 to 9, default 6 */
	/* The most that is looked back, as a power of two; default: zstd and br 18, gzip and deflate 15.
	 * zstd 10 to 23 (8 MiB: RFC 9659), br 10 to 24, gzip and deflate 9 to 15. */
	unsigned window_bits;
	/* Bytes that will come, exactly, when that is known: a small body takes less memory and time. Default:
	 * not known. */
	uint64_t size;
};

/* Begin a stream. Freed by eddy_encoder_free(), whatever became of it.
 * Return: 0; -EINVAL for an option that is out of range, -ENOMEM. */
EDDY_API int eddy_encoder_new(const struct eddy_codec *codec,
			      const struct eddy_encoder_options *options,
			      struct eddy_encoder **ret_encoder);

/* Give the encoder back. NULL is fine. */
EDDY_API void eddy_encoder_free(struct eddy_encoder *encoder);

/* Take some of the input, and write what comes of it. A step takes no more than a slice, of a kind that
 * is done in well under a millisecond where eddy_codec_is_quick(): between two of them others may run.
 * When it returns 0, the caller makes room if there is none, and calls again with the same op and what is
 * left of the input.
 * Return: 1 when all is done: RUN has taken the input, FLUSH has made all of it readable, END has ended the
 * stream; 0: call again. -EINVAL when there is more or less input than `.size`, -ENOMEM: the stream can
 * only be given up. -EINVAL also for what is asked of a stream that has ended, but to end it again. */
EDDY_API int eddy_encoder_step(struct eddy_encoder *encoder, struct eddy_codec_io *io,
			       enum eddy_codec_op op);

/* The memory in bytes that an encoder of these options takes at most. One from the pool may have more,
 * from a stream that needed it; a loop keeps no more than 16 MiB in idle encoders and decoders.
 * Return: bytes; 0 for an option that is out of range. */
EDDY_API size_t eddy_encoder_memory(const struct eddy_codec *codec,
				    const struct eddy_encoder_options *options);

EDDY_END_DECLS

#endif
