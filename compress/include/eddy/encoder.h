/* eddy/encoder.h: streaming encoders, with bounded memory and bounded steps.
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
 * On a loop's thread encoders come from a pool of that loop and return to it; elsewhere they are
 * allocated. A loop's pool holds at most 16 MiB. An encoder belongs to its creator; one thread at a
 * time may use it. Nothing here suspends.
 */
#ifndef EDDY_ENCODER_H
#define EDDY_ENCODER_H

#include <eddy/codec.h>

EDDY_BEGIN_DECLS

struct eddy_encoder;

/* How a stream is encoded. A zero field takes its default. */
struct eddy_encoder_options {
	/* Range and default: zstd 1 to 19, 3; br 1 to 11, 4; gzip and deflate 1 to 9, 6. */
	int level;
	/* The window, as a power of two. Range and default: zstd 10 to 23 (8 MiB: RFC 9659), 18; br
	 * 10 to 24, 18; gzip and deflate 9 to 15, 15. */
	unsigned window_bits;
	/* The exact number of input bytes, if known: a small input then takes less memory and
	 * time. */
	uint64_t size;
};

/* Begin to encode a stream. Free the encoder with eddy_encoder_free(), also after errors.
 * Return: 0; -EINVAL if an option is out of range; -ENOMEM. */
EDDY_API int eddy_encoder_new(const struct eddy_codec *codec,
			      const struct eddy_encoder_options *options,
			      struct eddy_encoder **ret_encoder);

/* Free an encoder, or return it to its loop's pool. NULL is accepted. */
EDDY_API void eddy_encoder_free(struct eddy_encoder *encoder);

/* Encode part of the input: at most a slice, so that other tasks can run between two steps. A step
 * takes well under a millisecond with zstd up to level 4, br up to 4, gzip and deflate up to 6; run
 * other levels on the offload pool (worker threads for blocking calls). When it returns 0, make
 * room if there is none, and call again with the same op and the rest of the input.
 * Return: 1 if done: RUN has consumed the input, FLUSH has made all of it decodable, END has ended
 * the stream; 0: call again; -EINVAL if the input differs from .size, or anything but END follows
 * the end; -ENOMEM. After an error, free the encoder. */
EDDY_API int eddy_encoder_step(struct eddy_encoder *encoder, struct eddy_codec_io *io,
			       enum eddy_codec_op op);

EDDY_END_DECLS

#endif
