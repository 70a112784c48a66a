/* bodies.h: bodies to encode, and streams that are cut in any way. */
#ifndef EDDY_TESTS_BODIES_H
#define EDDY_TESTS_BODIES_H

#include "state.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Random numbers that are the same each time. */
struct dice {
	uint64_t state;
};

static inline uint32_t dice_roll(struct dice *dice, uint32_t below)
{
	dice->state = dice->state * 6364136223846793005u + 1442695040888963407u;
	return below ? (uint32_t)(dice->state >> 33) % below : 0;
}

/* Bytes that grow; `ptr` is never NULL. */
struct bytes {
	unsigned char *ptr;
	size_t len, size;
};

struct bytes bytes_new(void);
void bytes_add(struct bytes *bytes, const void *ptr, size_t len);
void bytes_deinit(struct bytes *bytes);

enum kind { TEXT, ZEROS, NOISE, MIXED, KINDS };

/* The same each time. */
struct bytes body_of(enum kind kind, size_t size);

const struct eddy_codec *codec_of(const char *name);

/* How a stream is cut. Each number is the most of a piece; 0: all at once. With a seed pieces are of random
 * sizes up to that. */
struct cut {
	size_t in, out;
	size_t flush; /* after as many bytes; 0: never */
	uint64_t seed;
};

/* Return: 1 for all of it, or the error. What came out by then is in `*out`. */
int encode_cut(struct eddy_encoder *encoder, const struct bytes *in, const struct cut *cut,
	       struct bytes *out);
int decode_cut(struct eddy_decoder *decoder, const struct bytes *in, const struct cut *cut,
	       struct bytes *out);

/* Of new ones. */
struct bytes encoded(const struct eddy_codec *codec, const struct eddy_encoder_options *options,
		     const struct bytes *in, const struct cut *cut);
int decoded(const struct eddy_codec *codec, const struct eddy_decoder_options *options,
	    const struct bytes *in, const struct cut *cut, struct bytes *ret_out);

#define EACH_CODEC(codec)                                                                          \
	for (const struct eddy_codec *codec = eddyi_codec_next(NULL); codec;                       \
	     codec = eddyi_codec_next(codec))

#endif
