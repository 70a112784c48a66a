/* brotli (RFC 7932), without its non-standard large windows. */
#include "state.h"

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <errno.h>
#include <setjmp.h>

/* The library encodes 64 KiB at a time, and many of those at the end of a meta-block, in 2.5 ms. At
 * quick levels a meta-block ends after this size. */
#define BLOCK (24 * EDDY_KIB)
#define SLICE_SLOW (64 * EDDY_KIB)
#define LEVEL_QUICK 4

/* From this size on level 4 would use a table of 4 MiB. */
#define SIZE_HINT_MAX (EDDY_MIB - 1)

static size_t bound(size_t len)
{
	return len + (len >> 9) + 64;
}

static unsigned window_of(const struct eddyi_encoder_settings *settings)
{
	unsigned bits = settings->window_bits;

	/* A window is 16 bytes smaller than its power of two. */
	return settings->size ?
		       eddyi_codec_bits(settings->size + 16, BROTLI_MIN_WINDOW_BITS, bits) :
		       bits;
}

/* The library does not tell its memory use. These figures are from its source and from
 * measurements, with a margin: a hash table, by level, and the input that it keeps, by window; from
 * level 5 on several times that, as meta-blocks are not ended early. */
static size_t encoder_memory(const struct eddyi_encoder_settings *settings)
{
	/* KiB, with windows of at most 16 bits, and with larger ones. */
	static const uint16_t small[] = { 0,    384,  640,  640,  1280, 2304,
					  2304, 2304, 2304, 3072, 4608, 6144 };
	static const uint16_t large[] = { 0,    384,   640,   640,   1280,  3584,
					  4608, 10752, 18944, 36864, 13312, 23552 };
	unsigned window = window_of(settings);
	size_t seen = (size_t)1 << (window > 16 ? window : 16);
	int level = settings->level;

	if (window <= 16)
		return small[level] * EDDY_KIB + (level < LEVEL_QUICK + 1 ? 2 * seen : 0);
	if (level == 1)
		return large[level] * EDDY_KIB;
	return large[level] * EDDY_KIB + (level <= LEVEL_QUICK ? 2 : 11) * seen;
}

/* Debian's libbrotlienc exits the process on allocation failure. Instead, the allocator jumps out
 * of the library, and all of its memory is dropped. */
static _Thread_local jmp_buf no_memory;

static void *alloc_or_jump(void *opaque, size_t size)
{
	void *at = eddyi_memory_get(opaque, size);

	if (!at)
		longjmp(no_memory, 1);
	return at;
}

static int give_up(struct eddy_encoder *encoder)
{
	encoder->stream.state = NULL;
	eddyi_memory_drop(&encoder->stream.memory);
	return -ENOMEM;
}

static int encoder_begin(struct eddy_encoder *encoder)
{
	const struct eddyi_encoder_settings *settings = &encoder->settings;
	uint32_t hint = settings->size < SIZE_HINT_MAX ? (uint32_t)settings->size : SIZE_HINT_MAX;
	BrotliEncoderState *state;

	if (setjmp(no_memory))
		return give_up(encoder);
	state = BrotliEncoderCreateInstance(alloc_or_jump, eddyi_memory_free,
					    &encoder->stream.memory);
	encoder->stream.state = state;
	BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, (uint32_t)settings->level);
	BrotliEncoderSetParameter(state, BROTLI_PARAM_LGWIN, window_of(settings));
	if (hint)
		BrotliEncoderSetParameter(state, BROTLI_PARAM_SIZE_HINT, hint);
	return 0;
}

static int encode(struct eddy_encoder *encoder, struct eddy_codec_io *io, enum eddy_codec_op op)
{
	static const BrotliEncoderOperation operations[] = { BROTLI_OPERATION_PROCESS,
							     BROTLI_OPERATION_FLUSH,
							     BROTLI_OPERATION_FINISH };
	BrotliEncoderState *state = encoder->stream.state;
	size_t in_len = io->in_len, out_len = io->out_len;
	const uint8_t *in = io->in;
	uint8_t *out = io->out;

	if (setjmp(no_memory))
		return give_up(encoder);
	if (!BrotliEncoderCompressStream(state, operations[op], &in_len, &in, &out_len, &out, NULL))
		return -EINVAL;
	eddyi_codec_took(io, io->in_len - in_len, io->out_len - out_len);
	if (io->in_len || BrotliEncoderHasMoreOutput(state))
		return 0;
	return op != EDDY_CODEC_END || BrotliEncoderIsFinished(state);
}

/* The library's encoder cannot be reused; its memory can. */
static void encoder_end(struct eddy_encoder *encoder)
{
	if (encoder->stream.state)
		BrotliEncoderDestroyInstance(encoder->stream.state);
	encoder->stream.state = NULL;
}

struct decoder_state {
	BrotliDecoderState *library;
	bool has_begun; /* the window size has been read */
};

static size_t decoder_memory(const struct eddy_decoder_options *limits)
{
	return ((size_t)1 << limits->window_bits) + EDDY_MIB;
}

static void decoder_end(struct eddy_decoder *decoder)
{
	struct decoder_state *state = decoder->stream.state;

	if (!state)
		return;
	BrotliDecoderDestroyInstance(state->library);
	eddyi_memory_put(state);
	decoder->stream.state = NULL;
}

static int decoder_begin(struct eddy_decoder *decoder)
{
	struct eddyi_memory *memory = &decoder->stream.memory;
	struct decoder_state *state = eddyi_memory_get(memory, sizeof(*state));

	if (!state)
		return -ENOMEM;
	state->has_begun = false;
	state->library = BrotliDecoderCreateInstance(eddyi_memory_alloc, eddyi_memory_free, memory);
	if (!state->library) {
		eddyi_memory_put(state);
		return -ENOMEM;
	}
	decoder->stream.state = state;
	return 0;
}

/* Get the window size from the first byte of a stream (RFC 7932 section 9.1); 0: invalid. */
static unsigned window_bits(uint8_t first)
{
	if (!(first & 1))
		return 16;
	if (first >> 1 & 7)
		return 17 + (first >> 1 & 7);
	switch (first >> 4 & 7) {
	case 0:
		return 17;
	case 1:
		return 0;
	default:
		return 8 + (first >> 4 & 7);
	}
}

static int decode(struct eddy_decoder *decoder, struct eddy_codec_io *io)
{
	struct decoder_state *state = decoder->stream.state;
	size_t in_len = io->in_len, out_len = io->out_len;
	const uint8_t *in = io->in;
	uint8_t *out = io->out;
	BrotliDecoderResult result;

	if (decoder->may_end)
		return io->in_len ? -EBADMSG : 1;
	if (!state->has_begun && in_len) {
		state->has_begun = true;
		if (window_bits(*in) > decoder->limits.window_bits)
			return -EMSGSIZE;
	}
	result = BrotliDecoderDecompressStream(state->library, &in_len, &in, &out_len, &out, NULL);
	eddyi_codec_took(io, io->in_len - in_len, io->out_len - out_len);
	switch (result) {
	case BROTLI_DECODER_RESULT_SUCCESS:
		decoder->may_end = true;
		return io->in_len ? -EBADMSG : 1;
	case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
		return 1;
	case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
		return 0;
	default:
		/* Lower codes are allocation failures. */
		return BrotliDecoderGetErrorCode(state->library) <=
				       BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES ?
			       -ENOMEM :
			       -EBADMSG;
	}
}

const struct eddy_codec eddyi_codec_brotli = {
	.name = "br",
	.level = 4,
	.level_max = BROTLI_MAX_QUALITY,
	.level_quick = LEVEL_QUICK,
	.window_min = BROTLI_MIN_WINDOW_BITS,
	.window_bits = 18,
	.window_max = BROTLI_MAX_WINDOW_BITS,
	.decoder_window_bits = BROTLI_MAX_WINDOW_BITS,
	.decoder_window_max = BROTLI_MAX_WINDOW_BITS,
	.slice = BLOCK,
	.slice_slow = SLICE_SLOW,
	.is_flushed = true,
	.bound = bound,
	.encoder_memory = encoder_memory,
	.encoder_begin = encoder_begin,
	.encode = encode,
	.encoder_rest = encoder_end,
	.encoder_end = encoder_end,
	.decoder_memory = decoder_memory,
	.decoder_begin = decoder_begin,
	.decode = decode,
	.decoder_rest = decoder_end,
	.decoder_end = decoder_end,
};
