/* state.h: codecs, encoders and decoders inside this folder. */
#ifndef EDDYI_COMPRESS_STATE_H
#define EDDYI_COMPRESS_STATE_H

#include <eddy/codec.h>
#include <eddy/decoder.h>
#include <eddy/encoder.h>

#include "memory.h"
#include "pool.h"

/* Encoder options with defaults filled in. */
struct eddyi_encoder_settings {
	int level;
	unsigned window_bits;
	uint64_t size; /* 0: unknown */
};

/* Common to encoders and decoders. `state` is the library's; NULL: none. */
struct eddyi_stream {
	struct eddyi_pooled pooled;
	const struct eddy_codec *codec;
	struct eddyi_memory memory;
	void *state;
	int failed; /* -errno of the first failure */
};

/* If blocks are flushed, `in_block` is the input since the last flush, at most `slice`. */
struct eddy_encoder {
	struct eddyi_stream stream;
	struct eddyi_encoder_settings settings;
	size_t slice;
	size_t in_block;
	uint64_t taken;
	bool ended;
};

struct eddy_decoder {
	struct eddyi_stream stream;
	struct eddy_decoder_options limits; /* with defaults; UINT64_MAX: none */
	uint64_t taken, made;
	bool may_end; /* the stream is complete if the input ends here */
};

struct eddy_codec {
	const char *name;
	int level, level_max, level_quick;
	unsigned window_min, window_bits, window_max;
	unsigned decoder_window_bits, decoder_window_max;

	/* The most input of a step, at quick levels and at others. is_flushed: at quick levels the
	 * library encodes a slice as a whole, so each is flushed. */
	size_t slice, slice_slow;
	bool is_flushed;
	size_t (*bound)(size_t len);

	size_t (*encoder_memory)(const struct eddyi_encoder_settings *settings);
	/* Begin a stream; `state` may be an earlier stream's. Return: 0, -ENOMEM. */
	int (*encoder_begin)(struct eddy_encoder *encoder);
	/* Return: 1 if the op is done; 0 if there is no room; -errno. */
	int (*encode)(struct eddy_encoder *encoder, struct eddy_codec_io *io,
		      enum eddy_codec_op op);
	/* Prepare for the pool; free what cannot be reused. */
	void (*encoder_rest)(struct eddy_encoder *encoder);
	void (*encoder_end)(struct eddy_encoder *encoder);

	size_t (*decoder_memory)(const struct eddy_decoder_options *limits);
	int (*decoder_begin)(struct eddy_decoder *decoder);
	/* Return: 1 if all input is consumed and no output left; 0 if there is no room; -errno. */
	int (*decode)(struct eddy_decoder *decoder, struct eddy_codec_io *io);
	void (*decoder_rest)(struct eddy_decoder *decoder);
	void (*decoder_end)(struct eddy_decoder *decoder);
};

/* Iterate over the codings that are compiled in, in the order zstd, br, gzip, deflate; NULL gives
 * the first. Return: the coding after `codec`; NULL after the last. */
EDDY_API const struct eddy_codec *eddyi_codec_next(const struct eddy_codec *codec);

/* Tell whether encoder steps of a level take well under a millisecond of processor time: zstd up to
 * 4, br up to 4, gzip and deflate up to 6; 0 is the default level. */
EDDY_API bool eddyi_codec_is_quick(const struct eddy_codec *codec, int level);

/* Get the most memory in bytes that an encoder or a decoder with these options takes, whatever its
 * input. One from the pool may hold more, from an earlier stream. Return: bytes; 0 if an option is
 * out of range. */
size_t eddyi_encoder_memory(const struct eddy_codec *codec,
			    const struct eddy_encoder_options *options);
size_t eddyi_decoder_memory(const struct eddy_codec *codec,
			    const struct eddy_decoder_options *options);

extern const struct eddy_codec eddyi_codec_brotli, eddyi_codec_gzip, eddyi_codec_deflate,
	eddyi_codec_zstd;

int eddyi_encoder_settings(const struct eddy_codec *codec,
			   const struct eddy_encoder_options *options,
			   struct eddyi_encoder_settings *ret_settings);

/* Get the exponent of the least power of two that is not below `size`, from `min` to `max`. */
unsigned eddyi_codec_bits(uint64_t size, unsigned min, unsigned max);

static inline void eddyi_codec_took(struct eddy_codec_io *io, size_t in, size_t out)
{
	io->in = (const char *)io->in + in;
	io->in_len -= in;
	io->out = (char *)io->out + out;
	io->out_len -= out;
}

#endif
