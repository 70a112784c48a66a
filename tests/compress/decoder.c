#include "bodies.h"

static const struct cut whole;

static struct bytes text_of(size_t size)
{
	return body_of(TEXT, size);
}

/* What a stream gives that is cut off at `len`. */
static int decode_head(const struct eddy_codec *codec, const struct bytes *small, size_t len)
{
	struct bytes head = { small->ptr, len, 0 }, back;
	int r = decoded(codec, NULL, &head, &whole, &back);

	bytes_deinit(&back);
	return r;
}

Test(decoder, what_is_cut_off_is_refused)
{
	struct bytes body = body_of(MIXED, 3000);

	EACH_CODEC(codec) {
		struct bytes small = encoded(codec, NULL, &body, &whole);

		for (size_t len = 0; len < small.len; len++) {
			int r = decode_head(codec, &small, len);

			cr_expect_eq(r, -EBADMSG, "%s, %zu of %zu: %d", eddy_codec_name(codec), len,
				     small.len, r);
		}
		cr_expect_eq(decode_head(codec, &small, small.len), 1);
		bytes_deinit(&small);
	}
	bytes_deinit(&body);
}

Test(decoder, what_follows_is_refused)
{
	static const struct cut cuts[] = { { .in = 0 }, { .in = 1 } };
	static const char *const tails[] = { "",   "x",   "\x1f", "\x1f\x8b", "\x28\xb5\x2f",
					     "PK", "    " };
	struct bytes body = text_of(500);

	EACH_CODEC(codec)
		for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++)
			for (size_t j = 0; j < 2; j++) {
				struct bytes small = encoded(codec, NULL, &body, &whole), back;
				int r;

				/* The first is a NUL. */
				bytes_add(&small, tails[i], i ? strlen(tails[i]) : 1);
				r = decoded(codec, NULL, &small, &cuts[j], &back);
				cr_expect_eq(r, -EBADMSG, "%s, %zu: %d", eddy_codec_name(codec), i,
					     r);
				bytes_deinit(&back);
				bytes_deinit(&small);
			}
	bytes_deinit(&body);
}

/* Members and frames behind one another are one body; br and deflate have no such thing. */
Test(decoder, several_members_are_one_body)
{
	static const struct cut cuts[] = { { .in = 0 }, { .in = 1, .out = 1 }, { .in = 300 } };
	struct bytes one = text_of(5000), two = body_of(NOISE, 777);

	EACH_CODEC(codec)
		for (size_t i = 0; i < 3; i++) {
			bool may = strcmp(codec->name, "gzip") == 0 ||
				   strcmp(codec->name, "zstd") == 0;
			struct bytes small = encoded(codec, NULL, &one, &whole), back;
			struct bytes next = encoded(codec, NULL, &two, &whole);
			int r;

			bytes_add(&small, next.ptr, next.len);
			r = decoded(codec, NULL, &small, &cuts[i], &back);
			cr_expect_eq(r, may ? 1 : -EBADMSG, "%s: %d", codec->name, r);
			if (may) {
				cr_assert_eq(back.len, one.len + two.len);
				cr_expect_eq(memcmp(back.ptr, one.ptr, one.len), 0);
				cr_expect_eq(memcmp(back.ptr + one.len, two.ptr, two.len), 0);
			}
			bytes_deinit(&back);
			bytes_deinit(&next);
			bytes_deinit(&small);
		}
	bytes_deinit(&one);
	bytes_deinit(&two);
}

#if EDDYI_ZSTD
Test(decoder, zstd_frames_to_skip_are_skipped)
{
	static const unsigned char skipped[] = { 0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c' };
	static const struct cut cuts[] = { { .in = 0 }, { .in = 1 } };
	struct bytes body = text_of(100);
	const struct eddy_codec *zstd = codec_of("zstd");

	for (size_t i = 0; i < 2; i++) {
		struct bytes small = bytes_new(), frame = encoded(zstd, NULL, &body, &whole), back;

		bytes_add(&small, skipped, sizeof(skipped));
		bytes_add(&small, frame.ptr, frame.len);
		bytes_add(&small, skipped, sizeof(skipped));
		cr_expect_eq(decoded(zstd, NULL, &small, &cuts[i], &back), 1);
		cr_expect_eq(back.len, 100);
		bytes_deinit(&back);
		small.len--;
		cr_expect_eq(decoded(zstd, NULL, &small, &cuts[i], &back), -EBADMSG);
		bytes_deinit(&back);
		bytes_deinit(&frame);
		bytes_deinit(&small);
	}
	bytes_deinit(&body);
}

/* The head says two bytes, and there are none. */
Test(decoder, zstd_frames_are_as_long_as_they_say)
{
	static const unsigned char frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x02, 0x01,
					       0,    0,    0x99, 0xe9, 0xd8, 0x51 };
	struct bytes small = { (unsigned char *)frame, sizeof(frame), 0 }, back;

	for (size_t in = 0; in < sizeof(frame); in++) {
		struct cut cut = { .in = in };

		cr_expect_eq(decoded(codec_of("zstd"), NULL, &small, &cut, &back), -EBADMSG, "%zu",
			     in);
		bytes_deinit(&back);
	}
}

/* The library knows them, and would take any window. */
Test(decoder, zstd_of_old_is_refused)
{
	for (unsigned char version = 0x22; version <= 0x27; version++) {
		const unsigned char old[] = { version, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0 };
		struct bytes small = { (unsigned char *)old, sizeof(old), 0 }, back;

		cr_expect_eq(decoded(codec_of("zstd"), NULL, &small, &whole, &back), -EBADMSG);
		bytes_deinit(&back);
	}
}
#endif

#if EDDYI_GZIP
static int decode_bytes(const char *name, const char *in, size_t len)
{
	struct bytes small = { (unsigned char *)in, len, 0 }, back;
	int r = decoded(codec_of(name), NULL, &small, &whole, &back);

	bytes_deinit(&back);
	return r;
}

/* "a", made by Python's zlib: the zlib format, gzip with a name and a comment, and bare deflate. */
Test(decoder, deflate_is_the_zlib_format)
{
	cr_expect_eq(decode_bytes("deflate", "\x78\x9c\x4b\x04\x00\x00\x62\x00\x62", 9), 1);
	cr_expect_eq(decode_bytes("deflate", "\x4b\x04\x00", 3), -EBADMSG);
	cr_expect_eq(decode_bytes("gzip", "\x78\x9c\x4b\x04\x00\x00\x62\x00\x62", 9), -EBADMSG);
	/* With a dictionary. */
	cr_expect_eq(decode_bytes("deflate", "\x78\xbb\x00\x00\x00\x01\x4b\x04\x00\x00\x62\x00\x62",
				  13),
		     -EBADMSG);
	/* Its checksum is wrong. */
	cr_expect_eq(decode_bytes("deflate", "\x78\x9c\x4b\x04\x00\x00\x62\x00\x63", 9), -EBADMSG);
}

Test(decoder, gzip_may_have_a_name)
{
	static const char named[] = "\x1f\x8b\x08\x18\0\0\0\0\0\x03name\0note\0\x4b\x04\x00"
				    "\x43\xbe\xb7\xe8\x01\0\0\0";

	cr_expect_eq(decode_bytes("gzip", named, sizeof(named) - 1), 1);
	cr_expect_eq(decode_bytes("gzip", named, sizeof(named) - 2), -EBADMSG);
}
#endif

/* Whatever is changed, it ends, and says 1 or -EBADMSG; what has a checksum is not taken for what it was. */
Test(decoder, what_is_corrupt_ends)
{
	struct bytes body = body_of(MIXED, 20000);

	EACH_CODEC(codec) {
		struct bytes small = encoded(codec, NULL, &body, &whole);
		struct eddy_decoder_options options = { .size_max = 1 << 20 };
		struct dice dice = { 3 };
		unsigned found = 0;

		for (int i = 0; i < 400; i++) {
			struct bytes broken = bytes_new(), back;
			uint32_t at = dice_roll(&dice, (uint32_t)small.len);
			unsigned char bit = (unsigned char)(1 << dice_roll(&dice, 8));
			int r;

			bytes_add(&broken, small.ptr, small.len);
			broken.ptr[at] ^= bit;
			r = decoded(codec, &options, &broken, &whole, &back);
			cr_expect(r == 1 || r == -EBADMSG || r == -EMSGSIZE, "%d", r);
			found += r != 1;
			bytes_deinit(&broken);
			bytes_deinit(&back);
		}
		if (codec->name[0] == 'g' || codec->name[0] == 'd')
			cr_expect_geq(found, 390, "%s: %u", codec->name, found);
		bytes_deinit(&small);
	}
	bytes_deinit(&body);
}

/* A megabyte of zeros: nothing but the caller's room grows, and a limit ends it. */
Test(decoder, bombs_end_at_the_limits)
{
	struct bytes body = body_of(ZEROS, 16 << 20);

	EACH_CODEC(codec) {
		struct bytes small = encoded(codec, NULL, &body, &whole);
		struct eddy_decoder_options cases[] = {
			{ .size_max = 1000 }, { .size_max = (16 << 20) - 1 },
			{ .ratio_max = 100 }, { .size_max = 16 << 20, .ratio_max = 1000000 },
			{ .size_max = 0 },
		};
		unsigned char room[8192];

		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct eddy_codec_io io = { small.ptr, small.len, NULL, 0 };
			struct eddy_decoder *decoder;
			uint64_t made = 0;
			int r;

			cr_assert_eq(eddy_decoder_new(codec, &cases[i], &decoder), 0);
			do {
				io.out = room;
				io.out_len = sizeof(room);
				r = eddy_decoder_step(decoder, &io, EDDY_CODEC_END);
				made += sizeof(room) - io.out_len;
			} while (r == 0);
			cr_expect_eq(r, i < 3 ? -EMSGSIZE : 1, "%s %zu: %d", codec->name, i, r);
			/* It stays what it is. */
			cr_expect_eq(eddy_decoder_step(decoder, &io, EDDY_CODEC_END), r);
			if (i < 2)
				cr_expect_leq(made, cases[i].size_max + sizeof(room));
			if (i == 2)
				cr_expect_leq(made, 100 * small.len + 65536 + 2 * sizeof(room));
			if (i > 2)
				cr_expect_eq(made, body.len);
			cr_expect_leq(decoder->stream.memory.most + sizeof(*decoder),
				      eddyi_decoder_memory(codec, &cases[i]), "%s", codec->name);
			eddy_decoder_free(decoder);
		}
		bytes_deinit(&small);
	}
	bytes_deinit(&body);
}

/* The ratio is of what came so far, and small bodies are spared. */
Test(decoder, small_bodies_may_grow)
{
	struct bytes body = body_of(ZEROS, 60000), back;
	struct eddy_decoder_options options = { .ratio_max = 1 };

	EACH_CODEC(codec) {
		struct bytes small = encoded(codec, NULL, &body, &whole);

		cr_expect_eq(decoded(codec, &options, &small, &whole, &back), 1);
		bytes_deinit(&back);
		bytes_deinit(&small);
	}
	bytes_deinit(&body);
}

/* A window that is larger than the decoder takes is refused, and one that is as large is not. */
Test(decoder, windows_have_a_limit)
{
	struct bytes body = body_of(NOISE, 300000), back;

	EACH_CODEC(codec)
		for (unsigned bits = codec->window_min + 2; bits <= codec->window_max; bits++) {
			struct eddy_encoder_options large = { .level = 4, .window_bits = bits };
			struct eddy_decoder_options fits = { .window_bits = bits };
			struct eddy_decoder_options less = { .window_bits = bits - 1 };
			struct bytes small = encoded(codec, &large, &body, &whole);
			int r = decoded(codec, &fits, &small, &whole, &back);

			cr_expect_eq(r, 1, "%s %u: %d", codec->name, bits, r);
			bytes_deinit(&back);
			r = decoded(codec, &less, &small, &whole, &back);
			/* gzip does not say it: there nothing looks back as far. A level of zstd has a
			 * window that is large enough for it. */
			if (strcmp(codec->name, "gzip") != 0 && bits <= 20)
				cr_expect(r == -EMSGSIZE || r == -EBADMSG, "%s %u: %d", codec->name,
					  bits, r);
			bytes_deinit(&back);
			bytes_deinit(&small);
		}
	bytes_deinit(&body);
}

Test(decoder, options_out_of_range_are_refused)
{
	struct eddy_decoder *decoder = NULL;

	EACH_CODEC(codec) {
		struct eddy_decoder_options low = { .window_bits = codec->window_min - 1 };
		struct eddy_decoder_options high = { .window_bits = codec->decoder_window_max + 1 };

		cr_expect_eq(eddy_decoder_new(codec, &low, &decoder), -EINVAL);
		cr_expect_eq(eddy_decoder_new(codec, &high, &decoder), -EINVAL);
		cr_expect_eq(eddyi_decoder_memory(codec, &high), 0);
	}
	cr_expect_null(decoder);
	eddy_decoder_free(NULL);
}
