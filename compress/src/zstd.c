/* zstd (RFC 8878), with windows of at most 8 MiB (RFC 9659). The functions outside its stable
 * interface (custom allocation, sizes of contexts) are unchanged since 1.4. */
#define ZSTD_STATIC_LINKING_ONLY
#include "state.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

/* At quick levels blocks end early: a whole one takes up to 2.5 ms. */
#define BLOCK (64 * EDDY_KIB)
#define BLOCK_WHOLE (128 * EDDY_KIB)

/* Block headers, and small allocations. */
#define MEMORY_EXTRA (16 * EDDY_KIB)

static size_t bound(size_t len)
{
	return len + (len >> 8) + 64;
}

static unsigned window_of(const struct eddyi_encoder_settings *settings)
{
	unsigned bits = settings->window_bits;

	return settings->size ? eddyi_codec_bits(settings->size, ZSTD_WINDOWLOG_MIN, bits) : bits;
}

static size_t encoder_memory(const struct eddyi_encoder_settings *settings)
{
	ZSTD_compressionParameters params = ZSTD_getCParams(settings->level, settings->size, 0);
	unsigned window = window_of(settings);

	if (params.windowLog > window)
		params.windowLog = window;
	return ZSTD_estimateCStreamSize_usingCParams(params) + MEMORY_EXTRA;
}

static int encoder_begin(struct eddy_encoder *encoder)
{
	const struct eddyi_encoder_settings *settings = &encoder->settings;
	ZSTD_customMem memory = { eddyi_memory_alloc, eddyi_memory_free, &encoder->stream.memory };
	ZSTD_CCtx *ctx = encoder->stream.state;
	int window;

	if (!ctx)
		encoder->stream.state = ctx = ZSTD_createCCtx_advanced(memory);
	if (!ctx)
		return -ENOMEM;
	ZSTD_CCtx_reset(ctx, ZSTD_reset_session_and_parameters);
	ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, settings->level);
	/* Never enlarge the level's own window. */
	window = (int)ZSTD_getCParams(settings->level, settings->size, 0).windowLog;
	if (window > (int)window_of(settings))
		ZSTD_CCtx_setParameter(ctx, ZSTD_c_windowLog, (int)window_of(settings));
	if (settings->size)
		ZSTD_CCtx_setPledgedSrcSize(ctx, settings->size);
	return 0;
}

static int encode(struct eddy_encoder *encoder, struct eddy_codec_io *io, enum eddy_codec_op op)
{
	static const ZSTD_EndDirective directives[] = { ZSTD_e_continue, ZSTD_e_flush, ZSTD_e_end };
	ZSTD_inBuffer in = { io->in, io->in_len, 0 };
	ZSTD_outBuffer out = { io->out, io->out_len, 0 };
	size_t left;

	left = ZSTD_compressStream2(encoder->stream.state, &out, &in, directives[op]);
	if (ZSTD_isError(left))
		return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? -ENOMEM : -EINVAL;
	eddyi_codec_took(io, in.pos, out.pos);
	if (op == EDDY_CODEC_RUN)
		return io->in_len == 0 && io->out_len != 0;
	return left == 0;
}

static void encoder_rest(struct eddy_encoder *encoder)
{
	ZSTD_CCtx_reset(encoder->stream.state, ZSTD_reset_session_only);
}

static void encoder_end(struct eddy_encoder *encoder)
{
	ZSTD_freeCCtx(encoder->stream.state);
	encoder->stream.state = NULL;
}

/* The library's context, and each frame's header and output size. The header is checked because the
 * library may accept legacy formats, whose windows have no limit, and because it lets a frame end
 * before its declared size if its last block is empty and arrives in pieces. */
struct decoder_state {
	ZSTD_DCtx *ctx;
	uint8_t head[ZSTD_FRAMEHEADERSIZE_MAX];
	unsigned head_len;
	uint64_t made;
};

static size_t decoder_memory(const struct eddy_decoder_options *limits)
{
	return ZSTD_estimateDStreamSize((size_t)1 << limits->window_bits) + MEMORY_EXTRA;
}

static void decoder_end(struct eddy_decoder *decoder)
{
	struct decoder_state *state = decoder->stream.state;

	if (!state)
		return;
	ZSTD_freeDCtx(state->ctx);
	eddyi_memory_put(state);
	decoder->stream.state = NULL;
}

static struct decoder_state *decoder_state_new(struct eddyi_memory *memory)
{
	ZSTD_customMem own = { eddyi_memory_alloc, eddyi_memory_free, memory };
	struct decoder_state *state = eddyi_memory_get(memory, sizeof(*state));

	if (!state)
		return NULL;
	state->ctx = ZSTD_createDCtx_advanced(own);
	if (!state->ctx) {
		eddyi_memory_put(state);
		return NULL;
	}
	return state;
}

static int decoder_begin(struct eddy_decoder *decoder)
{
	struct decoder_state *state = decoder->stream.state;

	if (!state)
		decoder->stream.state = state = decoder_state_new(&decoder->stream.memory);
	if (!state)
		return -ENOMEM;
	ZSTD_DCtx_reset(state->ctx, ZSTD_reset_session_and_parameters);
	ZSTD_DCtx_setParameter(state->ctx, ZSTD_d_windowLogMax, (int)decoder->limits.window_bits);
	state->head_len = 0;
	state->made = 0;
	return 0;
}

#define MAGIC_LEN 4

static bool is_magic_so_far(const uint8_t *bytes, unsigned len)
{
	static const uint8_t frame[MAGIC_LEN] = { 0x28, 0xb5, 0x2f, 0xfd };
	static const uint8_t skippable[MAGIC_LEN] = { 0x50, 0x2a, 0x4d, 0x18 };
	uint8_t first = bytes[0] & 0xf0;

	return memcmp(bytes, frame, len) == 0 ||
	       (first == skippable[0] && memcmp(bytes + 1, skippable + 1, len - 1) == 0);
}

/* Collect a frame's header. Return: 0; -EBADMSG if its magic number is wrong. */
static int see_head(struct decoder_state *state, const uint8_t *at, size_t len)
{
	while (len-- && state->head_len < sizeof(state->head)) {
		state->head[state->head_len++] = *at++;
		if (state->head_len <= MAGIC_LEN && !is_magic_so_far(state->head, state->head_len))
			return -EBADMSG;
	}
	return 0;
}

/* Check that a frame has its declared size. Return: 0, -EBADMSG. */
static int see_end(struct decoder_state *state)
{
	unsigned long long size = ZSTD_getFrameContentSize(state->head, state->head_len);
	bool is_whole = size == ZSTD_CONTENTSIZE_UNKNOWN || size == state->made;

	state->head_len = 0;
	state->made = 0;
	return is_whole ? 0 : -EBADMSG;
}

static int error_of(size_t code)
{
	switch (ZSTD_getErrorCode(code)) {
	case ZSTD_error_memory_allocation:
		return -ENOMEM;
	case ZSTD_error_frameParameter_windowTooLarge:
		return -EMSGSIZE;
	default:
		return -EBADMSG;
	}
}

static int decode(struct eddy_decoder *decoder, struct eddy_codec_io *io)
{
	struct decoder_state *state = decoder->stream.state;
	ZSTD_inBuffer in = { io->in, io->in_len, 0 };
	ZSTD_outBuffer out = { io->out, io->out_len, 0 };
	size_t left;

	if (decoder->may_end && !in.size)
		return 1;
	do {
		size_t out_before = out.pos;

		if (see_head(state, (const uint8_t *)io->in + in.pos, in.size - in.pos) < 0)
			return -EBADMSG;
		left = ZSTD_decompressStream(state->ctx, &out, &in);
		if (ZSTD_isError(left))
			return error_of(left);
		state->made += out.pos - out_before;
		decoder->may_end = left == 0;
		if (left == 0 && see_end(state) < 0)
			return -EBADMSG;
	} while (left == 0 && in.pos < in.size);
	eddyi_codec_took(io, in.pos, out.pos);
	return io->in_len == 0 && (left == 0 || io->out_len != 0);
}

static void decoder_rest(struct eddy_decoder *decoder)
{
	struct decoder_state *state = decoder->stream.state;

	ZSTD_DCtx_reset(state->ctx, ZSTD_reset_session_only);
}

const struct eddy_codec eddyi_codec_zstd = {
	.name = "zstd",
	.level = 3,
	.level_max = 19,
	.level_quick = 4,
	.window_min = ZSTD_WINDOWLOG_MIN,
	.window_bits = 18,
	.window_max = 23,
	.decoder_window_bits = 23,
	.decoder_window_max = 27,
	.slice = BLOCK,
	.slice_slow = BLOCK_WHOLE,
	.is_flushed = true,
	.bound = bound,
	.encoder_memory = encoder_memory,
	.encoder_begin = encoder_begin,
	.encode = encode,
	.encoder_rest = encoder_rest,
	.encoder_end = encoder_end,
	.decoder_memory = decoder_memory,
	.decoder_begin = decoder_begin,
	.decode = decode,
	.decoder_rest = decoder_rest,
	.decoder_end = decoder_end,
};
