/* state.h: codecs, encoders and decoders, as this folder's files see them. */
#ifndef EDDYI_COMPRESS_STATE_H
#define EDDYI_COMPRESS_STATE_H

#include <eddy/codec.h>
#include <eddy/decoder.h>
#include <eddy/encoder.h>

#include "memory.h"
#include "pool.h"

/* How an encoder is to be, its defaults filled in. */
struct eddyi_encoder_settings {
	int level;
	unsigned window_bits;
	uint64_t size; /* 0: not known */
};

/* What both have. `state` is the library's, NULL when there is none. */
struct eddyi_stream {
	struct eddyi_pooled pooled;
	const struct eddy_codec *codec;
	struct eddyi_memory memory;
	void *state;
	int failed; /* -errno, from the first failure on */
};

/* Where blocks are flushed, `in_block` bytes came since the last flush: at most a slice, which is a block then. */
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
	struct eddy_decoder_options limits; /* defaults filled in; UINT64_MAX: none */
	uint64_t taken, made;
	bool may_end; /* the stream is whole if nothing more comes */
};

struct eddy_codec {
	const char *name;
	int level, level_max, level_quick;
	unsigned window_min, window_bits, window_max;
	unsigned decoder_window_bits, decoder_window_max;

	/* The input that a step takes at most at a level; whether the library works on the whole of it at
	 * once, when it has it, and so is told to flush there. */
	size_t (*slice)(int level);
	bool (*is_flushed)(int level);
	size_t (*bound)(size_t len);

	size_t (*encoder_memory)(const struct eddyi_encoder_settings *settings);
	/* Begin a stream: `state` may be that of an earlier one. Return: 0, -ENOMEM. */
	int (*encoder_begin)(struct eddy_encoder *encoder);
	/* Return: 1 when the op is done, 0 when it wants room, -errno. */
	int (*encode)(struct eddy_encoder *encoder, struct eddy_codec_io *io,
		      enum eddy_codec_op op);
	/* Make ready for the pool; what can't be used again goes. */
	void (*encoder_rest)(struct eddy_encoder *encoder);
	void (*encoder_end)(struct eddy_encoder *encoder);

	size_t (*decoder_memory)(const struct eddy_decoder_options *limits);
	int (*decoder_begin)(struct eddy_decoder *decoder);
	/* Return: 1 when it has taken all and has nothing more to give, 0 when it wants room, -errno. */
	int (*decode)(struct eddy_decoder *decoder, struct eddy_codec_io *io);
	void (*decoder_rest)(struct eddy_decoder *decoder);
	void (*decoder_end)(struct eddy_decoder *decoder);
};

extern const struct eddy_codec eddyi_codec_brotli, eddyi_codec_gzip, eddyi_codec_deflate,
	eddyi_codec_zstd;

/* Return: 0, -EINVAL. */
int eddyi_encoder_settings(const struct eddy_codec *codec,
			   const struct eddy_encoder_options *options,
			   struct eddyi_encoder_settings *ret_settings);

/* The least power of two that is not below `size`, but at least 2^min and at most 2^max. */
unsigned eddyi_codec_bits(uint64_t size, unsigned min, unsigned max);

static inline void eddyi_codec_took(struct eddy_codec_io *io, size_t in, size_t out)
{
	io->in = (const char *)io->in + in;
	io->in_len -= in;
	io->out = (char *)io->out + out;
	io->out_len -= out;
}

#endif
