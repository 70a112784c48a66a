/* Tests of compress/src/memory.c, and of what encoders and decoders take, and do where there is none. */
#include "bodies.h"
#include "../runtime/failing.h"

Test(memory, is_counted_and_used_again)
{
	struct eddyi_memory memory = { .enough = 10000 };
	void *one = eddyi_memory_get(&memory, 1000), *two = eddyi_memory_get(&memory, 100), *three;

	cr_assert(one && two);
	cr_expect_geq(memory.taken, 1100);
	memset(one, 1, 1000);
	memset(two, 2, 100);
	eddyi_memory_put(one);
	eddyi_memory_put(NULL);
	/* Not by who wants little, nor by who wants more. */
	three = eddyi_memory_get(&memory, 100);
	cr_expect_neq(three, one);
	eddyi_memory_put(three);
	three = eddyi_memory_get(&memory, 1001);
	cr_expect_neq(three, one);
	eddyi_memory_put(three);
	cr_expect_eq(eddyi_memory_get(&memory, 900), one);
	eddyi_memory_put(one);
	eddyi_memory_put(two);
	eddyi_memory_trim(&memory);
	cr_expect_eq(memory.taken, 0);
	cr_expect_null(memory.blocks);
}

Test(memory, what_is_idle_goes_when_it_would_be_too_much)
{
	struct eddyi_memory memory = { .enough = 10000 };

	eddyi_memory_put(eddyi_memory_get(&memory, 6000));
	eddyi_memory_put(eddyi_memory_get(&memory, 1000));
	eddyi_memory_put(eddyi_memory_get(&memory, 8000));
	cr_expect_lt(memory.most, 9000);
	cr_expect_null(eddyi_memory_get(&memory, SIZE_MAX));
	cr_expect_null(eddyi_memory_get(&memory, SIZE_MAX - 8));
	/* Though it is used. */
	cr_expect_not_null(eddyi_memory_get(&memory, 500));
	eddyi_memory_trim(&memory);
	cr_expect_geq(memory.taken, 500);
	eddyi_memory_drop(&memory);
	cr_expect_eq(memory.taken, 0);
}

static size_t most_for(const struct eddy_codec *codec, const struct eddy_encoder_options *options,
		       const struct bytes *body)
{
	static const struct cut cut = { .in = 50000 };
	struct eddy_encoder *encoder;
	struct bytes out = bytes_new();
	size_t most;

	cr_assert_eq(eddy_encoder_new(codec, options, &encoder), 0);
	cr_assert_eq(encode_cut(encoder, body, &cut, &out), 1);
	most = encoder->stream.memory.most + sizeof(*encoder);
	eddy_encoder_free(encoder);
	bytes_deinit(&out);
	return most;
}

/* What is stated holds, and is not said for safety's sake: half of it is taken. */
Test(memory, an_encoder_takes_what_is_stated)
{
	struct bytes bodies[] = { body_of(MIXED, 1 << 20), body_of(NOISE, 1 << 20) };

	EACH_CODEC(codec)
		for (int level = 0; level <= 9; level += level < 5 ? 1 : 4)
			for (unsigned bits = 10; bits <= codec->window_max && bits <= 18;
			     bits += bits == 14 ? 1 :
				     bits == 15 ? 3 :
						  2) {
				struct eddy_encoder_options options = { .level = level,
									.window_bits = bits };
				size_t stated = eddyi_encoder_memory(codec, &options), most = 0;

				for (size_t i = 0; i < 2; i++) {
					size_t took = most_for(codec, &options, &bodies[i]);

					most = took > most ? took : most;
				}
				cr_expect_leq(most, stated, "%s, level %d, window %u: %zu of %zu",
					      codec->name, level, bits, most, stated);
				if (level == 0)
					cr_expect_geq(most, stated / 3, "%s, window %u: %zu of %zu",
						      codec->name, bits, most, stated);
			}
	for (size_t i = 0; i < 2; i++)
		bytes_deinit(&bodies[i]);
}

/* As README.md has them. */
Test(memory, the_defaults_are_small)
{
	static const struct {
		const char *name;
		size_t most;
	} wanted[] = { { "zstd", 1900 }, { "br", 1800 }, { "gzip", 280 }, { "deflate", 280 } };

	for (size_t i = 0; i < 4; i++)
		cr_expect_leq(eddyi_encoder_memory(codec_of(wanted[i].name), NULL),
			      wanted[i].most * EDDY_KIB, "%s", wanted[i].name);
}

/* A body whose size is known takes what it needs. */
Test(memory, small_bodies_take_less)
{
	struct eddy_encoder_options small = { .size = 1000 };
	struct bytes body = body_of(TEXT, 1000);

	EACH_CODEC(codec) {
		size_t took = most_for(codec, &small, &body);

		cr_expect_leq(took, eddyi_encoder_memory(codec, &small));
		cr_expect_leq(took, eddyi_encoder_memory(codec, NULL) / 2, "%s: %zu", codec->name,
			      took);
	}
	bytes_deinit(&body);
}

static int encode_all(const struct eddy_codec *codec, const struct bytes *body, struct bytes *out)
{
	static const struct cut whole;
	struct eddy_encoder *encoder;
	int r = eddy_encoder_new(codec, NULL, &encoder);

	if (r < 0)
		return r;
	r = encode_cut(encoder, body, &whole, out);
	eddy_encoder_free(encoder);
	return r;
}

static int decode_all(const struct eddy_codec *codec, const struct bytes *small, struct bytes *out)
{
	static const struct cut whole;
	struct eddy_decoder *decoder;
	int r = eddy_decoder_new(codec, NULL, &decoder);

	if (r < 0)
		return r;
	r = decode_cut(decoder, small, &whole, out);
	eddy_decoder_free(decoder);
	return r;
}

/* Each allocation fails in its turn; leaks are AddressSanitizer's to find. */
Test(memory, where_there_is_none_it_is_said)
{
	struct bytes body = body_of(MIXED, 300000);

	EACH_CODEC(codec) {
		struct bytes small = bytes_new(), out = bytes_new();
		int r = 0, failures = 0;

		cr_assert_eq(encode_all(codec, &body, &small), 1);
		for (int at = 1; at < 500 && r != 1; at++) {
			out.len = 0;
			failing_at = at;
			r = encode_all(codec, &body, &out);
			failing_at = 0;
			cr_assert(r == 1 || r == -ENOMEM, "%s: %d", codec->name, r);
			failures += r < 0;
		}
		cr_expect_eq(r, 1);
		cr_expect_eq(out.len, small.len);
		cr_expect_geq(failures, 2, "%s: %d", codec->name, failures);
		r = failures = 0;
		for (int at = 1; at < 500 && r != 1; at++) {
			out.len = 0;
			failing_at = at;
			r = decode_all(codec, &small, &out);
			failing_at = 0;
			cr_assert(r == 1 || r == -ENOMEM, "%s: %d", codec->name, r);
			failures += r < 0;
		}
		cr_expect_eq(r, 1);
		cr_expect_eq(out.len, body.len);
		cr_expect_geq(failures, 2, "%s: %d", codec->name, failures);
		bytes_deinit(&small);
		bytes_deinit(&out);
	}
	bytes_deinit(&body);
}
