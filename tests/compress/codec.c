#include "bodies.h"

Test(codec, is_found_by_its_name)
{
	static const char *const names[] = { "zstd", "br", "gzip", "deflate" };
	const struct eddy_codec *codec = NULL, *gzip;

	for (size_t i = 0; i < 4; i++) {
		codec = eddyi_codec_next(codec);
		cr_assert_not_null(codec);
		cr_expect_str_eq(eddy_codec_name(codec), names[i]);
		cr_expect_eq(codec_of(names[i]), codec);
	}
	cr_expect_null(eddyi_codec_next(codec));
	gzip = codec_of("gzip");
	cr_expect_eq(codec_of("x-gzip"), gzip);
	cr_expect_eq(codec_of("X-GZip"), gzip);
	cr_expect_eq(codec_of("BR"), codec_of("br"));
	codec = NULL;
	cr_expect_eq(eddy_codec_find(eddy_str_from("identity"), &codec), -ENOENT);
	cr_expect_eq(eddy_codec_find(eddy_str_from(""), &codec), -ENOENT);
	cr_expect_eq(eddy_codec_find(eddy_str_from("compress"), &codec), -ENOENT);
	cr_expect_null(codec);
}

Test(codec, levels)
{
	cr_expect_eq(codec_of("zstd")->level, 3);
	cr_expect_eq(codec_of("br")->level, 4);
	cr_expect_eq(codec_of("gzip")->level, 6);
	cr_expect_eq(codec_of("deflate")->level, 6);
	EACH_CODEC(codec) {
		cr_expect(eddyi_codec_is_quick(codec, 0));
		cr_expect(eddyi_codec_is_quick(codec, codec->level));
		cr_expect_not(eddyi_codec_is_quick(codec, 9));
	}
}

/* In one call, into exactly the room that is said to be enough, and not into less than it needs. */
Test(codec, buffers_come_back)
{
	static const size_t sizes[] = { 0, 1, 100, 1000, 65536, 300000 };

	EACH_CODEC(codec)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			for (enum kind kind = 0; kind < KINDS; kind++) {
				struct bytes body = body_of(kind, sizes[i]);
				size_t bound = eddy_codec_bound(codec, body.len);
				char *room = malloc(bound), *back = malloc(body.len + 1);
				ssize_t len = eddy_codec_encode(codec, NULL, body.ptr, body.len,
								room, bound);
				ssize_t r;

				cr_assert_gt(len, 0, "%s %zu: %zd", codec->name, body.len, len);
				r = eddy_codec_decode(codec, NULL, room, (size_t)len, back,
						      body.len);
				cr_assert_eq(r, (ssize_t)body.len, "%s %zu: %zd", codec->name,
					     body.len, r);
				cr_assert_eq(memcmp(back, body.ptr, body.len), 0);
				r = eddy_codec_decode(codec, NULL, room, (size_t)len, back,
						      body.len + 1);
				cr_assert_eq(r, (ssize_t)body.len);
				if (body.len)
					cr_assert_eq(eddy_codec_decode(codec, NULL, room,
								       (size_t)len, back,
								       body.len - 1),
						     -ENOSPC);
				cr_assert_eq(eddy_codec_decode(codec, NULL, room, (size_t)len - 1,
							       back, body.len + 1),
					     -EBADMSG);
				r = eddy_codec_encode(codec, NULL, body.ptr, body.len, room,
						      (size_t)len);
				cr_assert_eq(r, len);
				cr_assert_eq(eddy_codec_encode(codec, NULL, body.ptr, body.len,
							       room, (size_t)len - 1),
					     -ENOSPC);
				free(room);
				free(back);
				bytes_deinit(&body);
			}
}

/* What can't be made smaller grows by no more than the bound says, at every level and window. */
Test(codec, the_bound_holds)
{
	struct dice dice = { 5 };
	struct bytes body = body_of(NOISE, 200000);

	EACH_CODEC(codec)
		for (int i = 0; i < 60; i++) {
			size_t len = dice_roll(&dice, i % 2 ? 200000 : 2000);
			struct eddy_encoder_options options = {
				.level = 1 + (int)dice_roll(&dice, 9),
				.window_bits =
					codec->window_min +
					dice_roll(&dice, codec->window_max - codec->window_min + 1),
			};
			size_t bound = eddy_codec_bound(codec, len);
			char *room = malloc(bound);
			ssize_t r = eddy_codec_encode(codec, &options, body.ptr, len, room, bound);

			cr_expect_gt(r, 0, "%s, level %d, window %u, %zu: %zd", codec->name,
				     options.level, options.window_bits, len, r);
			free(room);
		}
	bytes_deinit(&body);
}

Test(codec, buffers_say_what_is_wrong)
{
	struct eddy_encoder_options wrong = { .level = 99 };
	struct eddy_decoder_options tiny = { .size_max = 10 };
	char room[1000], body[100] = "", back[100];

	EACH_CODEC(codec) {
		ssize_t len = eddy_codec_encode(codec, NULL, body, 100, room, sizeof(room));

		cr_expect_eq(eddy_codec_encode(codec, &wrong, body, 100, room, 1000), -EINVAL);
		cr_expect_eq(eddy_codec_encode(codec, NULL, body, 100, room, 0), -ENOSPC);
		cr_expect_eq(eddy_codec_decode(codec, &tiny, room, (size_t)len, back, 100),
			     -EMSGSIZE);
		cr_expect_eq(eddy_codec_decode(codec, NULL, room, (size_t)len, back, 0), -ENOSPC);
	}
}
