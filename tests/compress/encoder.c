#include "bodies.h"

static void expect_same(const struct bytes *a, const struct bytes *b, const char *what)
{
	cr_assert_eq(a->len, b->len, "%s: %zu bytes, not %zu", what, a->len, b->len);
	cr_assert_eq(memcmp(a->ptr, b->ptr, a->len), 0, "%s", what);
}

/* There and back again. */
static size_t round_trip(const struct eddy_codec *codec, const struct eddy_encoder_options *options,
			 const struct bytes *body, const struct cut *cut)
{
	struct bytes small = encoded(codec, options, body, cut), back;
	char what[100];
	size_t len = small.len;

	snprintf(what, sizeof(what), "%s of %zu, in %zu, out %zu, flush %zu, seed %lu",
		 eddy_codec_name(codec), body->len, cut->in, cut->out, cut->flush,
		 (unsigned long)cut->seed);
	cr_assert_eq(decoded(codec, NULL, &small, cut, &back), 1, "%s", what);
	expect_same(&back, body, what);
	bytes_deinit(&back);
	bytes_deinit(&small);
	return len;
}

Test(encoder, bodies_of_all_sizes_come_back)
{
	static const size_t sizes[] = { 0,     1,     2,     100,   4095,   4096,   32767, 32768,
					32769, 65535, 65536, 65537, 131072, 262144, 262145 };
	static const struct cut cut;

	EACH_CODEC(codec)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			for (enum kind kind = 0; kind < KINDS; kind++) {
				struct bytes body = body_of(kind, sizes[i]);

				round_trip(codec, NULL, &body, &cut);
				bytes_deinit(&body);
			}
}

Test(encoder, is_cut_anywhere)
{
	static const struct cut cuts[] = {
		{ .in = 1 },
		{ .out = 1 },
		{ .in = 1, .out = 1 },
		{ .in = 7, .out = 3, .flush = 20 },
		{ .in = 1, .out = 1, .flush = 1 },
		{ .in = 1000, .out = 4, .flush = 1 },
		{ .in = 32768, .flush = 32768 },
		{ .in = 65536, .flush = 1 },
	};
	struct bytes body = body_of(MIXED, 70000);

	EACH_CODEC(codec)
		for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
			/* A flush of each byte is slow. */
			body.len = cuts[i].flush == 1 && cuts[i].in < 1000 ? 300 : 70000;
			round_trip(codec, NULL, &body, &cuts[i]);
		}
	bytes_deinit(&body);
}

Test(encoder, is_cut_at_random)
{
	struct bytes body = body_of(MIXED, 200000);

	EACH_CODEC(codec)
		for (uint64_t seed = 1; seed <= 40; seed++) {
			struct dice dice = { seed };
			struct cut cut = { .in = 1 + dice_roll(&dice, 50000),
					   .out = 1 + dice_roll(&dice, 4000),
					   .seed = seed };

			if (dice_roll(&dice, 2))
				cut.flush = 1 + dice_roll(&dice, 60000);
			body.len = 1000 + dice_roll(&dice, 199000);
			round_trip(codec, NULL, &body, &cut);
		}
	bytes_deinit(&body);
}

Test(encoder, all_levels_and_windows)
{
	static const struct cut cut = { .in = 10000 };
	struct bytes body = body_of(MIXED, 70000);

	EACH_CODEC(codec)
		for (int level = 1; level <= codec->level_max; level++)
			for (unsigned bits = codec->window_min; bits <= codec->window_max;
			     bits += 6) {
				struct eddy_encoder_options options = { .level = level,
									.window_bits = bits };

				round_trip(codec, &options, &body, &cut);
				options.size = body.len;
				round_trip(codec, &options, &body, &cut);
			}
	bytes_deinit(&body);
}

Test(encoder, options_out_of_range_are_refused)
{
	struct eddy_encoder *encoder = NULL;

	EACH_CODEC(codec) {
		struct eddy_encoder_options wrong[] = {
			{ .level = -1 },
			{ .level = codec->level_max + 1 },
			{ .window_bits = codec->window_min - 1 },
			{ .window_bits = codec->window_max + 1 },
		};

		for (size_t i = 0; i < 4; i++) {
			cr_expect_eq(eddy_encoder_new(codec, &wrong[i], &encoder), -EINVAL);
			cr_expect_eq(eddyi_encoder_memory(codec, &wrong[i]), 0);
		}
	}
	cr_expect_null(encoder);
	eddy_encoder_free(NULL);
}

/* What was flushed can be read, to the last byte, before more comes. */
Test(encoder, what_is_flushed_can_be_read)
{
	struct bytes body = body_of(TEXT, 100000);
	size_t at = 0;

	EACH_CODEC(codec) {
		struct dice dice = { 7 };
		struct eddy_encoder *encoder;
		struct eddy_decoder *decoder;

		cr_assert_eq(eddy_encoder_new(codec, NULL, &encoder), 0);
		cr_assert_eq(eddy_decoder_new(codec, NULL, &decoder), 0);
		for (at = 0; at < body.len;) {
			size_t len = 1 + dice_roll(&dice, 40000);
			unsigned char room[60000], back[60000];
			struct eddy_codec_io io = { body.ptr + at, 0, room, sizeof(room) };
			struct eddy_codec_io in = { room, 0, back, sizeof(back) };
			int r;

			if (len > body.len - at)
				len = body.len - at;
			io.in_len = len;
			do
				r = eddy_encoder_step(encoder, &io, EDDY_CODEC_FLUSH);
			while (r == 0);
			cr_assert_eq(r, 1);
			in.in_len = sizeof(room) - io.out_len;
			do
				r = eddy_decoder_step(decoder, &in, EDDY_CODEC_RUN);
			while (r == 0);
			cr_assert_eq(r, 1);
			cr_assert_eq(sizeof(back) - in.out_len, len, "%s", eddy_codec_name(codec));
			cr_assert_eq(memcmp(back, body.ptr + at, len), 0);
			at += len;
		}
		eddy_encoder_free(encoder);
		eddy_decoder_free(decoder);
	}
	bytes_deinit(&body);
}

/* More or less than was said. */
Test(encoder, a_size_is_a_promise)
{
	static const struct cut cut = { .in = 100 };
	struct bytes body = body_of(TEXT, 1001);

	EACH_CODEC(codec)
		for (size_t len = 999; len <= 1001; len++) {
			struct eddy_encoder_options options = { .size = 1000 };
			struct bytes out = bytes_new();
			struct eddy_encoder *encoder;
			int r;

			cr_assert_eq(eddy_encoder_new(codec, &options, &encoder), 0);
			body.len = len;
			r = encode_cut(encoder, &body, &cut, &out);
			cr_expect_eq(r, len == 1000 ? 1 : -EINVAL, "%zu: %d", len, r);
			eddy_encoder_free(encoder);
			bytes_deinit(&out);
		}
	bytes_deinit(&body);
}

/* A step that took all it could would be seen here. */
Test(encoder, a_step_takes_a_slice)
{
	struct bytes body = body_of(TEXT, 1 << 20);
	unsigned char room[1 << 17];

	EACH_CODEC(codec) {
		struct eddy_codec_io io = { body.ptr, body.len, NULL, 0 };
		struct eddy_encoder *encoder;
		int r;

		cr_assert_eq(eddy_encoder_new(codec, NULL, &encoder), 0);
		do {
			size_t before = io.in_len;

			io.out = room;
			io.out_len = sizeof(room);
			r = eddy_encoder_step(encoder, &io, EDDY_CODEC_END);
			cr_assert_leq(before - io.in_len, 65536, "%s", eddy_codec_name(codec));
		} while (r == 0);
		cr_assert_eq(r, 1);
		io.out_len = sizeof(room);
		cr_expect_eq(eddy_encoder_step(encoder, &io, EDDY_CODEC_END), 1);
		cr_expect_eq(io.out_len, sizeof(room));
		cr_expect_eq(eddy_encoder_step(encoder, &io, EDDY_CODEC_RUN), -EINVAL);
		eddy_encoder_free(encoder);
	}
	bytes_deinit(&body);
}
