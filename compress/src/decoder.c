#include "state.h"

#include <errno.h>
#include <stdlib.h>

/* Slices are small: a few input bytes may mean a lot of work. */
#define IN_SLICE (4 * EDDY_KIB)
#define OUT_SLICE (64 * EDDY_KIB)

/* Output before the ratio is checked. */
#define RATIO_FREE (64 * EDDY_KIB)

static int limits_of(const struct eddy_codec *codec, const struct eddy_decoder_options *options,
		     struct eddy_decoder_options *ret_limits)
{
	static const struct eddy_decoder_options defaults;
	struct eddy_decoder_options limits = options ? *options : defaults;

	if (!limits.size_max)
		limits.size_max = UINT64_MAX;
	if (!limits.window_bits)
		limits.window_bits = codec->decoder_window_bits;
	if (limits.window_bits < codec->window_min ||
	    limits.window_bits > codec->decoder_window_max)
		return -EINVAL;
	*ret_limits = limits;
	return 0;
}

size_t eddyi_decoder_memory(const struct eddy_codec *codec,
			    const struct eddy_decoder_options *options)
{
	struct eddy_decoder_options limits;

	if (limits_of(codec, options, &limits) < 0)
		return 0;
	return sizeof(struct eddy_decoder) + codec->decoder_memory(&limits);
}

static void end_pooled(struct eddyi_pooled *pooled)
{
	struct eddy_decoder *decoder = (struct eddy_decoder *)pooled;

	decoder->stream.codec->decoder_end(decoder);
	eddyi_memory_trim(&decoder->stream.memory);
	free(decoder);
}

int eddy_decoder_new(const struct eddy_codec *codec, const struct eddy_decoder_options *options,
		     struct eddy_decoder **ret_decoder)
{
	struct eddy_decoder_options limits;
	struct eddy_decoder *decoder;
	int r = limits_of(codec, options, &limits);

	if (r < 0)
		return r;
	decoder = eddyi_pool_get(&codec->decode, sizeof(*decoder), end_pooled);
	if (!decoder)
		return -ENOMEM;
	decoder->stream.codec = codec;
	decoder->limits = limits;
	decoder->taken = 0;
	decoder->made = 0;
	decoder->may_end = false;
	decoder->stream.failed = 0;
	decoder->stream.memory.enough = codec->decoder_memory(&limits);
	r = codec->decoder_begin(decoder);
	if (r < 0) {
		end_pooled(&decoder->stream.pooled);
		return r;
	}
	*ret_decoder = decoder;
	return 0;
}

void eddy_decoder_free(struct eddy_decoder *decoder)
{
	if (!decoder)
		return;
	if (decoder->stream.failed) {
		end_pooled(&decoder->stream.pooled);
		return;
	}
	decoder->stream.codec->decoder_rest(decoder);
	decoder->stream.pooled.size = sizeof(*decoder) + decoder->stream.memory.taken;
	eddyi_pool_put(&decoder->stream.pooled);
}

static bool is_within_limits(const struct eddy_decoder *decoder)
{
	const struct eddy_decoder_options *limits = &decoder->limits;

	if (decoder->made > limits->size_max)
		return false;
	return !limits->ratio_max || decoder->made <= RATIO_FREE ||
	       decoder->made / limits->ratio_max <= decoder->taken;
}

static int step(struct eddy_decoder *decoder, struct eddy_codec_io *io, enum eddy_codec_op op)
{
	struct eddy_codec_io slice = *io;
	size_t in_len, out_len;
	int r;

	if (slice.in_len > IN_SLICE)
		slice.in_len = IN_SLICE;
	if (slice.out_len > OUT_SLICE)
		slice.out_len = OUT_SLICE;
	in_len = slice.in_len;
	out_len = slice.out_len;
	r = decoder->stream.codec->decode(decoder, &slice);
	if (r < 0)
		return r;
	eddyi_codec_took(io, in_len - slice.in_len, out_len - slice.out_len);
	decoder->taken += in_len - slice.in_len;
	decoder->made += out_len - slice.out_len;
	if (!is_within_limits(decoder))
		return -EMSGSIZE;
	if (r == 0 || io->in_len)
		return 0;
	return op == EDDY_CODEC_END && !decoder->may_end ? -EBADMSG : 1;
}

int eddy_decoder_step(struct eddy_decoder *decoder, struct eddy_codec_io *io, enum eddy_codec_op op)
{
	int r;

	if (decoder->stream.failed)
		return decoder->stream.failed;
	r = step(decoder, io, op);
	if (r < 0)
		decoder->stream.failed = r;
	return r;
}
