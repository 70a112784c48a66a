#include "state.h"

#include <errno.h>
#include <stdlib.h>

static bool in_range(uint64_t value, uint64_t min, uint64_t max)
{
	return value >= min && value <= max;
}

unsigned eddyi_codec_bits(uint64_t size, unsigned min, unsigned max)
{
	unsigned bits = min;

	while (bits < max && UINT64_C(1) << bits < size)
		bits++;
	return bits;
}

int eddyi_encoder_settings(const struct eddy_codec *codec,
			   const struct eddy_encoder_options *options,
			   struct eddyi_encoder_settings *ret_settings)
{
	static const struct eddy_encoder_options defaults;
	struct eddyi_encoder_settings settings = { .level = codec->level,
						   .window_bits = codec->window_bits };

	if (!options)
		options = &defaults;
	if (options->level)
		settings.level = options->level;
	if (options->window_bits)
		settings.window_bits = options->window_bits;
	if (settings.level < 1 || settings.level > codec->level_max ||
	    !in_range(settings.window_bits, codec->window_min, codec->window_max))
		return -EINVAL;
	settings.size = options->size;
	*ret_settings = settings;
	return 0;
}

size_t eddyi_encoder_memory(const struct eddy_codec *codec,
			    const struct eddy_encoder_options *options)
{
	struct eddyi_encoder_settings settings;

	if (eddyi_encoder_settings(codec, options, &settings) < 0)
		return 0;
	return sizeof(struct eddy_encoder) + codec->encoder_memory(&settings);
}

bool eddyi_codec_is_quick(const struct eddy_codec *codec, int level)
{
	return (level ? level : codec->level) <= codec->level_quick;
}

static bool is_quick(const struct eddy_encoder *encoder)
{
	return eddyi_codec_is_quick(encoder->stream.codec, encoder->settings.level);
}

static bool is_flushed(const struct eddy_encoder *encoder)
{
	return encoder->stream.codec->is_flushed && is_quick(encoder);
}

static void end_pooled(struct eddyi_pooled *pooled)
{
	struct eddy_encoder *encoder = (struct eddy_encoder *)pooled;

	encoder->stream.codec->encoder_end(encoder);
	eddyi_memory_trim(&encoder->stream.memory);
	free(encoder);
}

int eddy_encoder_new(const struct eddy_codec *codec, const struct eddy_encoder_options *options,
		     struct eddy_encoder **ret_encoder)
{
	struct eddyi_encoder_settings settings;
	struct eddy_encoder *encoder;
	int r = eddyi_encoder_settings(codec, options, &settings);

	if (r < 0)
		return r;
	encoder = eddyi_pool_get(&codec->encode, sizeof(*encoder), end_pooled);
	if (!encoder)
		return -ENOMEM;
	encoder->stream.codec = codec;
	encoder->settings = settings;
	encoder->slice = is_quick(encoder) ? codec->slice : codec->slice_slow;
	encoder->in_block = 0;
	encoder->taken = 0;
	encoder->ended = false;
	encoder->stream.failed = 0;
	encoder->stream.memory.enough = codec->encoder_memory(&settings);
	r = codec->encoder_begin(encoder);
	if (r < 0) {
		end_pooled(&encoder->stream.pooled);
		return r;
	}
	*ret_encoder = encoder;
	return 0;
}

void eddy_encoder_free(struct eddy_encoder *encoder)
{
	if (!encoder)
		return;
	if (encoder->stream.failed) {
		end_pooled(&encoder->stream.pooled);
		return;
	}
	encoder->stream.codec->encoder_rest(encoder);
	encoder->stream.pooled.size = sizeof(*encoder) + encoder->stream.memory.taken;
	eddyi_pool_put(&encoder->stream.pooled);
}

static bool fits_size(const struct eddy_encoder *encoder, size_t len, enum eddy_codec_op op)
{
	uint64_t size = encoder->settings.size, left = size - encoder->taken;

	return !size || len == left || (len < left && op != EDDY_CODEC_END);
}

/* Choose the library's op and input for this step. A full block stays full until it is flushed. */
static enum eddy_codec_op choose_op(const struct eddy_encoder *encoder,
				    const struct eddy_codec_io *io, enum eddy_codec_op op,
				    size_t *ret_len)
{
	size_t room = encoder->slice - encoder->in_block;

	if (io->in_len <= room) {
		*ret_len = io->in_len;
		if (op != EDDY_CODEC_RUN || io->in_len < room)
			return op;
	}
	*ret_len = room;
	return is_flushed(encoder) ? EDDY_CODEC_FLUSH : EDDY_CODEC_RUN;
}

static int step(struct eddy_encoder *encoder, struct eddy_codec_io *io, enum eddy_codec_op op)
{
	struct eddy_codec_io slice = *io;
	enum eddy_codec_op now = choose_op(encoder, io, op, &slice.in_len);
	size_t len = slice.in_len, taken;
	int r = encoder->stream.codec->encode(encoder, &slice, now);

	if (r < 0)
		return r;
	taken = len - slice.in_len;
	eddyi_codec_took(io, taken, io->out_len - slice.out_len);
	encoder->taken += taken;
	if (is_flushed(encoder))
		encoder->in_block += taken;
	if (r == 1 && now != EDDY_CODEC_RUN)
		encoder->in_block = 0;
	if (r == 1 && now == EDDY_CODEC_END)
		encoder->ended = true;
	return r == 1 && io->in_len == 0 && (op == EDDY_CODEC_RUN || op == now);
}

int eddy_encoder_step(struct eddy_encoder *encoder, struct eddy_codec_io *io, enum eddy_codec_op op)
{
	int r;

	if (encoder->stream.failed)
		return encoder->stream.failed;
	if (encoder->ended)
		return io->in_len == 0 && op == EDDY_CODEC_END ? 1 : -EINVAL;
	r = fits_size(encoder, io->in_len, op) ? step(encoder, io, op) : -EINVAL;
	if (r < 0)
		encoder->stream.failed = r;
	return r;
}
