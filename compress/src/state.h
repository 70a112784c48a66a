/* state.h: codecs, encoders and decoders inside this folder. */
#ifndef EDDYI_COMPRESS_STATE_H
#define EDDYI_COMPRESS_STATE_H

#include <eddy/codec.h>
#include <eddy/decoder.h>
#include <eddy/encoder.h>
#include <stddef.h>

/* ---- memory of a stream ---- */

struct eddyi_memory_block;

/* Counts the memory of a codec library, and keeps it for the next stream.
 *
 * Invariants:
 * 1. `taken` is the sum of all `blocks`, used or idle, with their headers.
 * 2. An allocation gets the smallest idle block that fits and is not twice as large as needed.
 * 3. Idle blocks are freed, all at once, only when a new one would make `taken` exceed `enough`.
 */
struct eddyi_memory {
	struct eddyi_memory_block *blocks;
	size_t taken;
	size_t most; /* maximum of `taken` */
	size_t enough;
};

/* Return: NULL on allocation failure. */
void *eddyi_memory_get(struct eddyi_memory *memory, size_t size);

/* NULL is accepted. */
void eddyi_memory_put(void *at);

/* Free all idle blocks. */
void eddyi_memory_trim(struct eddyi_memory *memory);

/* Free all blocks, used ones included. */
void eddyi_memory_drop(struct eddyi_memory *memory);

/* The allocator functions of the libraries; `opaque` is the memory. */
void *eddyi_memory_alloc(void *opaque, size_t size);
void eddyi_memory_free(void *opaque, void *at);

/* ---- a pool of idle encoders and decoders for each loop ---- */

/* The most bytes in a pool. */
#define EDDYI_POOL_MAX (16 * EDDY_MIB)

/* The first member of pooled objects. */
struct eddyi_pooled {
	struct eddyi_pooled *next;
	const void *kind; /* compared by eddyi_pool_take() */
	size_t size;
	void (*end)(struct eddyi_pooled *pooled);
};

/* Take the newest object of this kind from the loop's pool. Return: NULL if there is none. */
struct eddyi_pooled *eddyi_pool_take(const void *kind);

/* Take an object from the pool, or make a zeroed one of this size. Return: NULL on allocation
 * failure. */
void *eddyi_pool_get(const void *kind, size_t size, void (*end)(struct eddyi_pooled *pooled));

/* Put an object into the loop's pool, its fields set; the oldest are ended to make room. Off the
 * loop it is ended. */
void eddyi_pool_put(struct eddyi_pooled *pooled);

/* ---- streams and codings ---- */

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
