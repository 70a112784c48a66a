/* gzip (RFC 1952) and deflate, the zlib format (RFC 1950, RFC 9110 section 8.4.1.2). */
#include "state.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

/* Adversarial input takes 0.2 ms per KiB at level 6, and up to 3 ms at level 9. */
#define SLICE (4 * EDDY_KIB)
#define SLICE_SLOW (1 * EDDY_KIB)

#define WINDOW_BITS_MIN 9
#define MEM_LEVEL 8
#define IS_GZIP 16 /* flag in the window bits */

/* With less room a flush could not tell that it is done, so it goes to `spill` first. */
#define SPILL 16

struct encoder_state {
	z_stream z;
	int level, window_bits, mem_level; /* of `z`; 0: not set up */
	unsigned spilled, spill_at;        /* bytes left in `spill`, and their place */
	uint8_t spill[SPILL];
};

static void *alloc(void *opaque, unsigned count, unsigned size)
{
	return eddyi_memory_get(opaque, (size_t)count * size);
}

static size_t bound(size_t len)
{
	/* With small windows blocks may grow. */
	return len + (len >> 3) + (len >> 6) + 64;
}

static int window_of(const struct eddyi_encoder_settings *settings)
{
	unsigned bits = settings->window_bits;

	return (int)(settings->size ? eddyi_codec_bits(settings->size, WINDOW_BITS_MIN, bits) :
				      bits);
}

/* Determines the remaining memory; the largest window has zlib's default. */
static int mem_level_of(int window_bits)
{
	int level = window_bits - 7;

	return level < MEM_LEVEL ? level : MEM_LEVEL;
}

static size_t encoder_memory(const struct eddyi_encoder_settings *settings)
{
	int window = window_of(settings);

	return ((size_t)1 << (window + 2)) + ((size_t)1 << (mem_level_of(window) + 9)) +
	       16 * EDDY_KIB;
}

static void encoder_end(struct eddy_encoder *encoder)
{
	struct encoder_state *state = encoder->stream.state;

	if (!state)
		return;
	if (state->level)
		deflateEnd(&state->z);
	eddyi_memory_put(state);
	encoder->stream.state = NULL;
}

/* Initialize zlib, unless its parameters are the same. */
static int set_up(struct eddy_encoder *encoder, struct encoder_state *state)
{
	bool is_gzip = encoder->stream.codec == &eddyi_codec_gzip;
	int level = encoder->settings.level, window = window_of(&encoder->settings);
	int mem_level = mem_level_of(window);

	if (state->level == level && state->window_bits == window &&
	    state->mem_level == mem_level && deflateReset(&state->z) == Z_OK)
		return 0;
	if (state->level)
		deflateEnd(&state->z);
	*state = (struct encoder_state){
		.z = { .zalloc = alloc,
		       .zfree = eddyi_memory_free,
		       .opaque = &encoder->stream.memory },
	};
	if (deflateInit2(&state->z, level, Z_DEFLATED, window + (is_gzip ? IS_GZIP : 0), mem_level,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	state->level = level;
	state->window_bits = window;
	state->mem_level = mem_level;
	return 0;
}

static int encoder_begin(struct eddy_encoder *encoder)
{
	struct encoder_state *state = encoder->stream.state;

	if (!state) {
		state = eddyi_memory_get(&encoder->stream.memory, sizeof(*state));
		if (!state)
			return -ENOMEM;
		memset(state, 0, sizeof(*state));
		encoder->stream.state = state;
	}
	state->spilled = state->spill_at = 0;
	return set_up(encoder, state);
}

/* Write what is in `spill`. Return: whether it is empty. */
static bool pour(struct encoder_state *state, struct eddy_codec_io *io)
{
	size_t len = state->spilled < io->out_len ? state->spilled : io->out_len;

	if (len)
		memcpy(io->out, state->spill + state->spill_at, len);
	eddyi_codec_took(io, 0, len);
	state->spill_at += (unsigned)len;
	state->spilled -= (unsigned)len;
	return state->spilled == 0;
}

static int encode(struct eddy_encoder *encoder, struct eddy_codec_io *io, enum eddy_codec_op op)
{
	static const int flushes[] = { Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH };
	struct encoder_state *state = encoder->stream.state;
	z_stream *z = &state->z;
	bool spills, has_room;
	unsigned room;
	int r;

	if (!pour(state, io))
		return 0;
	spills = op == EDDY_CODEC_FLUSH && io->out_len < SPILL;
	z->next_in = (void *)io->in;
	z->avail_in = (unsigned)io->in_len;
	z->next_out = spills ? state->spill : io->out;
	z->avail_out = spills                   ? SPILL :
		       io->out_len < UINT32_MAX ? (unsigned)io->out_len :
						  UINT32_MAX;
	room = z->avail_out;
	r = deflate(z, flushes[op]);
	if (r == Z_STREAM_ERROR)
		return -EINVAL;
	has_room = z->avail_out != 0;
	eddyi_codec_took(io, io->in_len - z->avail_in, spills ? 0 : room - z->avail_out);
	if (spills) {
		state->spilled = SPILL - z->avail_out;
		state->spill_at = 0;
		if (!pour(state, io))
			return 0;
	}
	return op == EDDY_CODEC_END ? r == Z_STREAM_END : io->in_len == 0 && has_room;
}

static void encoder_rest(__attribute__((unused)) struct eddy_encoder *encoder)
{
}

static size_t decoder_memory(const struct eddy_decoder_options *limits)
{
	return ((size_t)1 << limits->window_bits) + 16 * EDDY_KIB;
}

static void decoder_end(struct eddy_decoder *decoder)
{
	z_stream *z = decoder->stream.state;

	if (!z)
		return;
	inflateEnd(z);
	eddyi_memory_put(z);
	decoder->stream.state = NULL;
}

static int decoder_begin(struct eddy_decoder *decoder)
{
	bool is_gzip = decoder->stream.codec == &eddyi_codec_gzip;
	int bits = (int)decoder->limits.window_bits + (is_gzip ? IS_GZIP : 0);
	z_stream *z = decoder->stream.state;

	if (z)
		return inflateReset2(z, bits) == Z_OK ? 0 : -ENOMEM;
	z = eddyi_memory_get(&decoder->stream.memory, sizeof(*z));
	if (!z)
		return -ENOMEM;
	*z = (z_stream){ .zalloc = alloc,
			 .zfree = eddyi_memory_free,
			 .opaque = &decoder->stream.memory };
	if (inflateInit2(z, bits) != Z_OK) {
		eddyi_memory_put(z);
		return -ENOMEM;
	}
	decoder->stream.state = z;
	return 0;
}

/* Begin another member, which only gzip may have. Return: 0, -EBADMSG. */
static int begin_next(struct eddy_decoder *decoder)
{
	if (decoder->stream.codec != &eddyi_codec_gzip)
		return -EBADMSG;
	return inflateReset(decoder->stream.state) == Z_OK ? 0 : -EBADMSG;
}

static int decode(struct eddy_decoder *decoder, struct eddy_codec_io *io)
{
	z_stream *z = decoder->stream.state;
	unsigned room = (unsigned)io->out_len;
	int r = Z_OK;

	z->next_in = (void *)io->in;
	z->avail_in = (unsigned)io->in_len;
	z->next_out = io->out;
	z->avail_out = room;
	while (z->avail_in || !decoder->may_end) {
		if (decoder->may_end && begin_next(decoder) < 0)
			return -EBADMSG;
		decoder->may_end = false;
		r = inflate(z, Z_NO_FLUSH);
		if (r == Z_MEM_ERROR)
			return -ENOMEM;
		if (r == Z_DATA_ERROR || r == Z_NEED_DICT || r == Z_STREAM_ERROR)
			return -EBADMSG;
		decoder->may_end = r == Z_STREAM_END;
		if (r != Z_STREAM_END)
			break;
	}
	eddyi_codec_took(io, io->in_len - z->avail_in, room - z->avail_out);
	return io->in_len == 0 && (decoder->may_end || io->out_len != 0);
}

static void decoder_rest(__attribute__((unused)) struct eddy_decoder *decoder)
{
}

#define ZLIB_CODEC(its_name)                                                                       \
	{                                                                                          \
		.name = its_name, .level = 6, .level_max = 9, .level_quick = 6,                    \
		.window_min = WINDOW_BITS_MIN, .window_bits = 15, .window_max = 15,                \
		.decoder_window_bits = 15, .decoder_window_max = 15, .slice = SLICE,               \
		.slice_slow = SLICE_SLOW, .bound = bound, .encoder_memory = encoder_memory,        \
		.encoder_begin = encoder_begin, .encode = encode, .encoder_rest = encoder_rest,    \
		.encoder_end = encoder_end, .decoder_memory = decoder_memory,                      \
		.decoder_begin = decoder_begin, .decode = decode, .decoder_rest = decoder_rest,    \
		.decoder_end = decoder_end,                                                        \
	}

const struct eddy_codec eddyi_codec_gzip = ZLIB_CODEC("gzip");
const struct eddy_codec eddyi_codec_deflate = ZLIB_CODEC("deflate");
