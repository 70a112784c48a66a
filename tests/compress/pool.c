#include "bodies.h"

#include <eddy/runtime.h>

static const struct cut whole;

static int in_loop(void *arg)
{
	void (*fn)(void) = *(void (**)(void))arg;

	fn();
	return 0;
}

/* Assertions stay on the main stack: what is wrong is counted. */
static unsigned wrong;

#define WANT(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                    \
			wrong++;                                                                   \
		}                                                                                  \
	} while (0)

static void run(void (*fn)(void))
{
	wrong = 0;
	cr_assert_eq(eddy_run(NULL, in_loop, &fn), 0);
	cr_expect_eq(wrong, 0);
}

/* Another one of the kind is the one that was given back; of another kind it is not. */
static void take_again(void)
{
	EACH_CODEC(codec) {
		struct eddy_encoder *encoder, *other, *again;
		struct eddy_decoder *decoder, *decoder_again;

		WANT(eddy_encoder_new(codec, NULL, &encoder) == 0);
		WANT(eddy_encoder_new(codec, NULL, &other) == 0);
		WANT(encoder != other);
		eddy_encoder_free(encoder);
		WANT(eddy_encoder_new(codec, NULL, &again) == 0);
		WANT(again == encoder);
		eddy_encoder_free(other);
		eddy_encoder_free(again);
		WANT(eddy_decoder_new(codec, NULL, &decoder) == 0);
		WANT((void *)decoder != (void *)encoder && (void *)decoder != (void *)other);
		eddy_decoder_free(decoder);
		WANT(eddy_decoder_new(codec, NULL, &decoder_again) == 0);
		WANT(decoder == decoder_again);
		eddy_decoder_free(decoder_again);
	}
}

Test(pool, who_was_given_back_is_taken_again)
{
	run(take_again);
}

Test(pool, without_a_loop_there_is_none)
{
	EACH_CODEC(codec) {
		struct eddy_encoder *encoder;

		cr_assert_eq(eddy_encoder_new(codec, NULL, &encoder), 0);
		eddy_encoder_free(encoder);
		cr_expect_null(eddyi_pool_take(&codec->encode));
	}
}

/* What a body is made into does not depend on who came before; nor is any of that seen. */
#define LEVELS 7
static struct bytes fresh[4][2][LEVELS];

static void encode_each(void (*done)(struct bytes *fresh, struct bytes *out), bool after_another)
{
	struct bytes secret = body_of(NOISE, 400000), body = body_of(MIXED, 100000);
	static const struct cut cuts[] = { { .in = 0 }, { .in = 777, .flush = 5000 } };
	size_t at = 0;

	EACH_CODEC(codec) {
		for (size_t i = 0; i < 2; i++)
			for (int level = 0; level <= codec->level_quick; level++) {
				struct eddy_encoder_options options = { .level = level };
				struct bytes out;

				if (after_another) {
					out = encoded(codec, NULL, &secret, &whole);
					bytes_deinit(&out);
				}
				out = encoded(codec, &options, &body, &cuts[i]);
				done(&fresh[at][i][level], &out);
			}
		at++;
	}
	bytes_deinit(&secret);
	bytes_deinit(&body);
}

static void keep(struct bytes *kept, struct bytes *out)
{
	*kept = *out;
}

static void compare(struct bytes *kept, struct bytes *out)
{
	WANT(kept->len == out->len);
	WANT(kept->len == out->len && memcmp(kept->ptr, out->ptr, out->len) == 0);
	bytes_deinit(out);
}

static void free_kept(struct bytes *kept, struct bytes *out)
{
	bytes_deinit(kept);
	bytes_deinit(out);
}

static void encode_after_another(void)
{
	encode_each(compare, true);
}

Test(pool, nothing_is_left_of_the_body_before)
{
	/* No loop, no pool. */
	encode_each(keep, false);
	run(encode_after_another);
	encode_each(free_kept, false);
}

/* One that was left in the midst of a stream, or failed, is as good as new, or gone. */
static void leave_midway(void)
{
	struct bytes body = body_of(MIXED, 100000);
	static const struct cut bytewise = { .in = 1 };
	char room[100];

	EACH_CODEC(codec) {
		struct bytes small = encoded(codec, NULL, &body, &whole), back;

		for (size_t len = 0; len < 50; len += 7) {
			struct bytes head = { body.ptr, 1000 * len, 0 },
				     none = { body.ptr, len, 0 };
			struct eddy_codec_io io = { head.ptr, head.len, room, 1 };
			struct eddy_encoder *encoder;

			WANT(eddy_encoder_new(codec, NULL, &encoder) == 0);
			eddy_encoder_step(encoder, &io,
					  len % 2 ? EDDY_CODEC_FLUSH : EDDY_CODEC_END);
			eddy_encoder_free(encoder);
			/* Not a stream, but br's first byte may be anything. */
			decoded(codec, NULL, &none, &bytewise, &back);
			bytes_deinit(&back);
			none = (struct bytes){ small.ptr, len, 0 };
			WANT(decoded(codec, NULL, &none, &bytewise, &back) == -EBADMSG);
			bytes_deinit(&back);
			WANT(decoded(codec, NULL, &small, &whole, &back) == 1);
			WANT(back.len == body.len && memcmp(back.ptr, body.ptr, body.len) == 0);
			bytes_deinit(&back);
		}
		back = encoded(codec, NULL, &body, &whole);
		WANT(back.len == small.len && memcmp(back.ptr, small.ptr, small.len) == 0);
		bytes_deinit(&back);
		bytes_deinit(&small);
	}
	bytes_deinit(&body);
}

Test(pool, streams_may_be_given_up)
{
	run(leave_midway);
}

/* Many at a time leave what the pool may keep, and no more. */
static void give_many_back(void)
{
	static const struct cut bytewise = { .in = 1 };

	EACH_CODEC(codec) {
		struct eddyi_pooled *pooled, *first = NULL;
		struct eddy_encoder *encoders[80];
		size_t size = 0;

		for (size_t i = 0; i < 80; i++)
			WANT(eddy_encoder_new(codec, NULL, &encoders[i]) == 0);
		for (size_t i = 0; i < 80; i++) {
			struct bytes body = { (unsigned char *)"eddy", 4, 0 }, out = bytes_new();

			WANT(encode_cut(encoders[i], &body, &bytewise, &out) == 1);
			bytes_deinit(&out);
			eddy_encoder_free(encoders[i]);
		}
		while ((pooled = eddyi_pool_take(&codec->encode))) {
			size += pooled->size;
			pooled->next = first;
			first = pooled;
		}
		WANT(size <= EDDYI_POOL_MAX);
		/* The last that came are still there. */
		WANT(size >= EDDYI_POOL_MAX / 2);
		while ((pooled = first)) {
			first = pooled->next;
			eddyi_pool_put(pooled);
		}
	}
}

Test(pool, keeps_no_more_than_it_may)
{
	run(give_many_back);
}

static struct eddy_encoder *outlives;

static void make_one(void)
{
	WANT(eddy_encoder_new(codec_of("gzip"), NULL, &outlives) == 0);
}

/* It may be freed where no loop is, or another one. */
Test(pool, encoders_may_outlive_their_loop)
{
	run(make_one);
	eddy_encoder_free(outlives);
}
